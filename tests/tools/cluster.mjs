// A front, workers and a nats-server on this machine, under honest load while they are killed:
// `node tests/tools/cluster.mjs --workers 2 --kills 200`.
//
//   --workers N   workers, each a process
//   --kills N     kill -9 of a worker, the front or nats-server, in an order that the seed decides
//   --seed S      a number, by default from the current time
//   --slots N     jobs that each worker runs at once, by default 2
//   --faults      no kills, but everything else that may happen to files, disks and NATS, each fault with a cluster of its own, and each
//                 passed or failed by itself. It takes several minutes. Mounting a full disk takes root
//   --only WORDS  with --faults: only those with these words in their names
//   --tests       also compiles and runs the server's tests that need a nats-server
//   --measure     no kills, but figures: a job with and without its keys in memory, jobs a second with one and two workers, and, for
//                 toy10, how soon jobs go on after a worker or the front was killed
//   --set NAME    with --measure: toy10 or n15; may be repeated, by default both
//
// Honest clients upload keys of toy sets, submit jobs, cancel some, delete keys, and compare each result, byte for byte, with what the
// command line made of the same input in one process. Without a nats-server everything is skipped, and reported as skipped.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { countTests } from './lib/count.mjs';
import { Stop, begin, bold, green, main, red, say } from './lib/log.mjs';
import { findNats } from './lib/nats.mjs';
import { cargoProgress, run } from './lib/run.mjs';
import { Cluster, withNats } from './soak/cluster.mjs';
import { SETS, figures, settingsFor } from './soak/figures.mjs';
import { Host } from './soak/host.mjs';
import { LEGS, perform } from './soak/legs.mjs';
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
  faults: { type: 'boolean', default: false },
  only: { type: 'string' },
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
  if (values.only !== undefined && !values.faults) throw new Stop('--only says which faults; give --faults with it');
  if (values.faults && values.measure) throw new Stop('give --faults or --measure');
  const legs = LEGS.filter(({ name }) => name.includes(values.only ?? ''));
  if (legs.length === 0) throw new Stop(`--only ${values.only}: there is none among: ${LEGS.map(({ name }) => name).join(', ')}`);
  const [workers, kills, seed] = [whole('workers', values.workers, 1), whole('kills', values.kills, 0), whole('seed', values.seed, 0)];
  const { program, missing } = await findNats();
  const total = { passed: 0, failed: 0, skipped: 0 };
  const leg = (passed) => (total[passed === undefined ? 'skipped' : passed ? 'passed' : 'failed'] += 1);
  if (missing) {
    say(bold(`skipped: ${missing}`));
    total.skipped = (values.tests ? 1 : 0) + (values.faults ? legs.length : 1);
  } else {
    if (values.tests) leg(await byNats(program));
    if (values.faults) (await endure({ program, legs, count: workers, seed })).forEach(leg);
    else leg(values.measure ? await measure(program, sets) : await kill({ program, workers, kills, seed, slots: whole('slots', values.slots, 1) }));
  }
  say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed ? 1 : 0;
});

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
    // A job whose worker died is handed out again as soon as possible, so that a job that is killed several times does not look stuck.
    const settings = { REFLOAT__CLUSTER__LEASE_SECONDS: '10', REFLOAT__CLUSTER__SLOTS: `${slots}` };
    const cluster = new Cluster(folder, nats, { count, sets: await makeSets(folder), seed, settings });
    const { host, ledger, workers } = cluster;
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
        // Now and then it loses all its messages, too.
        if (random.chance(0.3)) nats.wipe();
        // And now and then it is away for longer than a lease.
        await sleep(random.chance(0.2) ? 30_000 : random.between(0, 3000));
        await nats.start();
      },
    };
    try {
      await cluster.start();
      for (let done = 0; done < kills && !ledger.broken; done++) {
        const before = ledger.right;
        await sleep(random.between(200, 2500));
        // A job must be done between two kills, or nothing would ever be done on a slow machine.
        for (const end = Date.now() + PATIENCE; ledger.right === before && Date.now() < end && !ledger.broken; ) await sleep(50);
        await cluster.revive();
        const chosen = random.next();
        const name = chosen < 0.8 ? 'worker' : chosen < 0.9 ? 'front' : 'nats-server';
        await actions[name]();
        counts[name] += 1;
        if ((done + 1) % 20 === 0) say(`  ${done + 1} kills: ${ledger.line()}`);
      }
      const differing = await cluster.finish();
      say(`  ${ledger.line()}`);
      say(`  killed: ${Object.entries(counts).map(([name, times]) => `${name} ${times}`).join(', ')}`);
      const held = ledger.holds() && differing === 0;
      say((held ? green : red)(`${kills} kills, ${ledger.lost} lost, ${differing + ledger.wrong} differing results`));
      if (!held) say(`the front's last words: ${await host.tail()}`);
      return held;
    } finally {
      await cluster.close();
    }
  });
}

/** Tries each fault that a cluster has to survive by itself; resolves to the outcome of each. */
async function endure({ program, legs, count, seed }) {
  say(bold(`${count} workers, ${legs.length} faults, seed ${seed}`));
  await build(['server']);
  const folder = mkdtempSync(join(tmpdir(), 'refloat-sets-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const sets = await makeSets(folder);
  const outcomes = [];
  for (const leg of legs) outcomes.push(await perform(leg, { program, sets, count, seed }));
  return outcomes;
}
