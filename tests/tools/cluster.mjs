// A front, workers and a nats-server of their own on this machine, under honest load while they are killed:
// `node tests/tools/cluster.mjs --workers 2 --kills 200`.
//
//   --workers N   workers, each a process
//   --kills N     kill -9 of a worker, the front or nats-server, in an order that the seed decides
//   --seed S      a number, by default of this moment
//   --slots N     jobs that each worker runs at once, 2 unless something else is said
//   --tests       the server's tests that need a nats-server as well, which are compiled
//   --measure     no kills but figures: a job with and without its keys in memory, jobs a second with one and two workers, and, for
//                 toy10, how soon jobs go on after a worker or the front was killed
//   --set NAME    with --measure: toy10 or n15; may be repeated, and without it both are measured
//
// Honest clients upload keys of toy sets, submit jobs, cancel some, delete keys, and compare each result, byte for byte, with what the
// command line made of the same input in one process. Without a nats-server everything is skipped, and said to be.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { countTests } from './lib/count.mjs';
import { Stop, begin, bold, green, main, red, say } from './lib/log.mjs';
import { Nats, findNats } from './lib/nats.mjs';
import { cargoProgress, run } from './lib/run.mjs';
import { SETS, figures, settingsFor } from './soak/figures.mjs';
import { HonestClients } from './soak/honest.mjs';
import { Host } from './soak/host.mjs';
import { Ledger } from './soak/ledger.mjs';
import { randomFrom, sleep } from './soak/random.mjs';
import { ckksSet, keyMemory, makeSets } from './soak/sets.mjs';
import { Workers } from './soak/workers.mjs';

/** Milliseconds until the next kill, if no job is done in that time: a job that was killed is handed out again well before. */
const PATIENCE = 45_000;

const options = {
  workers: { type: 'string', default: '2' },
  kills: { type: 'string', default: '200' },
  seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
  slots: { type: 'string', default: '2' },
  tests: { type: 'boolean', default: false },
  measure: { type: 'boolean', default: false },
  set: { type: 'string', multiple: true },
};

function whole(name, text, least) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) throw new Stop(`--${name} ${text}: give a whole number of at least ${least}`);
  return value;
}

await main(async () => {
  const { values } = parseArgs({ options });
  const sets = values.set ?? Object.keys(SETS);
  for (const name of sets) if (!Object.hasOwn(SETS, name)) throw new Stop(`--set ${name}: give one of ${Object.keys(SETS).join(', ')}`);
  if (values.set && !values.measure) throw new Stop('--set says what is measured; give --measure with it');
  const [workers, kills, seed] = [whole('workers', values.workers, 1), whole('kills', values.kills, 0), whole('seed', values.seed, 0)];
  const { program, missing } = await findNats();
  const total = { passed: 0, failed: 0, skipped: 0 };
  const leg = (passed) => (total[passed ? 'passed' : 'failed'] += 1);
  if (missing) {
    say(bold(`skipped: ${missing}`));
    total.skipped = values.tests ? 2 : 1;
  } else {
    if (values.tests) leg(await byNats(program));
    leg(values.measure ? await measure(program, sets) : await kill({ program, workers, kills, seed, slots: whole('slots', values.slots, 1) }));
  }
  say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed ? 1 : 0;
});

/** A folder, and a nats-server that has its messages there, while something is done. */
async function withNats(program, action) {
  const folder = mkdtempSync(join(tmpdir(), 'refloat-cluster-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const nats = new Nats(program, folder);
  await nats.start();
  try {
    return await action(nats, folder);
  } finally {
    await nats.end();
  }
}

/** The tests that need a nats-server; each starts one. */
async function byNats(program) {
  const progress = begin('a front, workers and operators with NATS between them');
  const args = ['test', '--package', 'refloat-server', '--test', 'server', '--', '--ignored', 'by_nats'];
  const { env, ...rest } = cargoProgress(progress);
  const { code, output } = await run('cargo', args, { ...rest, env: { ...env, REFLOAT_NATS_SERVER: program } });
  const passed = code === 0 && countTests(output).passed > 0;
  if (passed) progress.done();
  else {
    progress.fail();
    say(output);
  }
  return passed;
}

async function measure(program, sets) {
  await build(['server']);
  for (const name of sets) {
    say(bold(`figures of ${name}`));
    await withNats(program, async (nats, folder) => {
      const settings = settingsFor(await keyMemory(name));
      const host = new Host(folder, { mount: false, args: ['--role', 'front', '--nats', nats.url('front')], settings });
      const set = await ckksSet(join(folder, name), name);
      await host.start();
      const workers = new Workers(folder, { data: host.data, nats: nats.url('worker'), settings });
      try {
        await figures(host, workers, set);
      } finally {
        await workers.close();
        await host.close();
      }
    });
  }
  return true;
}

async function kill({ program, workers: count, kills, seed, slots }) {
  say(bold(`${count} workers, ${kills} kills, seed ${seed}`));
  await build(['server']);
  return withNats(program, async (nats, folder) => {
    const random = randomFrom(seed);
    // A job of which a worker died is handed out again as soon as may be, so that none looks stuck that is killed some times.
    const settings = { REFLOAT__CLUSTER__LEASE_SECONDS: '10', REFLOAT__CLUSTER__SLOTS: `${slots}` };
    const host = new Host(folder, { mount: false, args: ['--role', 'front', '--nats', nats.url('front')], settings });
    const sets = await makeSets(folder);
    await host.start();
    const workers = new Workers(folder, { data: host.data, nats: nats.url('worker'), settings });
    for (let number = 0; number < count; number++) workers.start(number);
    const ledger = new Ledger();
    const clients = new HonestClients(host, sets, ledger, randomFrom(seed + 1));
    const counts = { worker: 0, front: 0, 'nats-server': 0 };
    const actions = {
      worker: async () => {
        const number = random.between(0, count - 1);
        await workers.end(number);
        await sleep(random.between(0, 1500));
        workers.start(number);
      },
      front: () => host.restart(),
      'nats-server': async () => {
        await nats.end();
        // Once in a while all its messages are gone, too.
        if (random.chance(0.3)) nats.wipe();
        // Or it is away for longer than a lease.
        await sleep(random.chance(0.2) ? 30_000 : random.between(0, 3000));
        await nats.start();
      },
    };
    try {
      await clients.begin();
      for (let done = 0; done < kills && !ledger.broken; done++) {
        const before = ledger.right;
        await sleep(random.between(200, 2500));
        // Something is to be done between two kills, or on a slow machine nothing would ever be.
        for (const end = Date.now() + PATIENCE; ledger.right === before && Date.now() < end && !ledger.broken; ) await sleep(50);
        await host.reviveIfDead((how) => ledger.find('lost', `the front ended by itself (${how})`));
        const chosen = random.next();
        const name = chosen < 0.8 ? 'worker' : chosen < 0.9 ? 'front' : 'nats-server';
        await actions[name]();
        counts[name] += 1;
        if ((done + 1) % 20 === 0) say(`  ${done + 1} kills: ${ledger.line()}`);
      }
      await clients.finish();
      await workers.end(0, 'SIGTERM');
      workers.start(0);
      await host.restart('SIGTERM');
      await clients.verify();
      const differing = differences(host);
      for (const how of workers.ended) ledger.find('lost', `a worker ended by itself (${how})`);
      say(`  ${ledger.line()}`);
      say(`  killed: ${Object.entries(counts).map(([name, times]) => `${name} ${times}`).join(', ')}`);
      const held = ledger.holds() && differing === 0;
      say((held ? green : red)(`${kills} kills, ${ledger.lost} lost, ${differing + ledger.wrong} differing results`));
      if (!held) say(`the front's last words: ${await host.tail()}`);
      return held;
    } finally {
      await workers.close();
      await host.close();
    }
  });
}

/** Runs whose result was not that of another run of the same, by the log of the front, which survives it. */
function differences(host) {
  return readFileSync(host.logFile, 'utf8').split('two runs of a job gave different results').length - 1;
}
