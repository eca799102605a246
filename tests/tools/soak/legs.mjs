// Faults that a cluster has to survive, one after the other, each with a nats-server, a front and workers of its own.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Stop, begin, say } from '../lib/log.mjs';
import { run } from '../lib/run.mjs';
import { Cluster, withNats } from './cluster.mjs';
import { damage, files, fill } from './disk.mjs';
import { sleep } from './random.mjs';

const SECOND = 1000;

/** Longer than a worker tries to store a result before its job goes to another. */
const FULL = 45 * SECOND;

const SETTINGS = {
  REFLOAT__CLUSTER__LEASE_SECONDS: '10',
  REFLOAT__CLUSTER__SLOTS: '2',
  // With a single attempt, a job fails if it is ever blamed for a dead worker, or once too often for finding no disk.
  REFLOAT__COMPUTE__MAX_ATTEMPTS: '1',
  // Its metrics say how many workers it counts on.
  REFLOAT__SERVER__METRICS_LISTEN: 'public',
};

/**
 * All faults. `mounts` says that file systems are mounted, `settings` are other settings of front and workers, and `ofWorkers` gives
 * further options of Workers for a folder. `act` causes the fault, and resolves when the cluster must work as before.
 */
export const LEGS = [
  // Jobs whose reports are lost with the directory count as having killed their worker; 3 is the default.
  { name: 'NATS loses its directory', act: loseDirectory, settings: { REFLOAT__COMPUTE__MAX_ATTEMPTS: '3' } },
  { name: 'NATS stands still for 60 s', act: standStill },
  { name: 'a result is altered', act: alterResult },
  { name: 'an input is altered', act: alterInput },
  { name: 'a piece of each key set is altered', act: alterPieces },
  { name: 'the copies of keys at workers are altered', act: alterCopies, ofWorkers: (folder) => ({ each: (number) => ({ REFLOAT__CLUSTER__CACHE: copies(folder, number) }) }) },
  { name: 'the disk of a worker is full', act: fillWorker, mounts: true, ofWorkers: () => ({ apart: true }) },
  { name: 'the disk of the front is full', act: fillFront, mounts: true },
  { name: 'the disk of the front is full, and the front is killed', act: killFull, mounts: true },
];

/** Tries one fault; resolves to whether the cluster survived, or to `undefined` if that cannot be tried here. */
export async function perform({ name, act, settings, mounts = false, ofWorkers = () => ({}) }, { program, sets, count, seed }) {
  const step = begin(name);
  const missing = mounts && (await noMounts());
  if (missing) {
    step.skip(`skipped: ${missing}`);
    return undefined;
  }
  return withNats(program, async (nats, folder) => {
    const cluster = new Cluster(folder, nats, { count, sets, seed, settings: { ...SETTINGS, ...settings }, mount: mounts, ofWorkers: ofWorkers(folder) });
    const { ledger } = cluster;
    let differing = 0;
    try {
      await cluster.start();
      await cluster.hears(count);
      await cluster.works();
      await act(cluster, folder);
      await cluster.revive();
      await cluster.works();
      await cluster.hears(count);
      differing = await cluster.finish();
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      ledger.breakOff('stuck', error.message);
    } finally {
      await cluster.close();
    }
    const survived = ledger.holds() && differing === 0;
    if (survived) step.done();
    else step.fail();
    say(`    ${ledger.line()}, ${differing} differing`);
    if (!survived) say(`the front's last words: ${await cluster.host.tail()}\nthose of workers: ${await cluster.workers.tail()}`);
    return survived;
  });
}

/** Why file systems cannot be mounted here, if they cannot. */
async function noMounts() {
  const { code } = await run('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]);
  return code === 0 ? undefined : 'mounting a file system takes root, and unshare and nsenter of util-linux';
}

/** The file of this owner and name. */
function fileOf(cluster, owner, name) {
  const path = files(cluster.host.data).find((each) => each.includes(owner) && basename(each) === name);
  if (!path) throw new Stop(`no file ${name} of ${owner}`);
  return path;
}

const copies = (folder, number) => join(folder, `copies-${number}`);

async function loseDirectory(cluster) {
  const { nats } = cluster;
  for (let times = 0; times < 2; times++) {
    await nats.end();
    nats.wipe();
    await nats.start();
    await cluster.works();
  }
}

async function standStill({ nats }) {
  nats.signal('SIGSTOP');
  await sleep(60 * SECOND);
  nats.signal('SIGCONT');
}

async function alterResult(cluster) {
  const { clients, ledger, random } = cluster;
  const job = random.pick(clients.done);
  job.damaged.add('result');
  damage(fileOf(cluster, job.id, 'result'), random);
  await clients.readAgain(job);
  await cluster.until('somebody notices the altered result', () => ledger.damaged > 0);
}

async function alterInput(cluster) {
  const { ledger, random, workers } = cluster;
  await cluster.until('a job waits that nobody has begun', async () => {
    workers.signalAll('SIGSTOP');
    try {
      const job = await waiting(cluster);
      if (!job) return false;
      job.damaged.add('input');
      damage(fileOf(cluster, job.id, 'input'), random);
      return true;
    } finally {
      workers.signalAll('SIGCONT');
    }
  });
  await cluster.until('somebody notices the altered input', () => ledger.damaged > 0);
}

/** A job whose input cannot have been read yet; the workers are stopped meanwhile. */
async function waiting({ clients, host }) {
  for (const job of clients.open) {
    const { json } = await host.ask('GET', `/v1/jobs/${job.id}`, { headers: { authorization: `Bearer ${job.set.token}` } });
    if (json?.state === 'queued' && json.attempts === 0) return job;
  }
  return undefined;
}

async function alterPieces(cluster) {
  const { clients, ledger, random } = cluster;
  for (const set of clients.sets) {
    const piece = random.between(0, set.pieces.length - 1);
    set.damages.push({ piece, healed: undefined });
    damage(fileOf(cluster, set.id, `${piece}`), random);
  }
  // So that none has the keys in memory.
  await cluster.restartWorkers();
  await cluster.until('all key sets are whole again', () => ledger.healed >= clients.sets.length);
}

async function alterCopies(cluster, folder) {
  const { random, workers } = cluster;
  let altered = 0;
  await cluster.restartWorkers((number) => {
    for (const copy of files(copies(folder, number))) {
      damage(copy, random);
      altered += 1;
    }
  });
  if (altered === 0) throw new Stop('no worker has kept copies of keys');
  await cluster.until('a worker notices an altered copy', () => workers.have('a copy of a key is dropped'));
}

async function fillWorker(cluster) {
  const { host, workers } = cluster;
  // Workers write into this folder first; for this one worker, there is no room in it.
  const folder = join(host.data, 'incoming');
  await workers.inside(0, 'mount', '-t', 'tmpfs', '-o', 'size=4k,nr_inodes=1', 'tmpfs', folder);
  await cluster.hears(1);
  await cluster.until('a job goes to another worker', () => workers.have('the job goes to another worker'));
  await cluster.works();
  await workers.inside(0, 'umount', folder);
}

async function fillFront(cluster) {
  await full(cluster, () => sleep(FULL));
}

async function killFull(cluster) {
  const { host } = cluster;
  await full(cluster, async () => {
    await sleep(FULL / 3);
    await host.end();
  });
  await host.start();
}

/** Fills the disk that has the table and that workers store to, during `action`. */
async function full(cluster, action) {
  const { host } = cluster;
  if (!host.mounted) throw new Stop('the data have no file system of their own');
  await host.during('full disk', () =>
    fill(host.disk, async (again) => {
      // Room that is freed meanwhile is filled again.
      const timer = setInterval(again, SECOND);
      try {
        await cluster.until('the front notices the full disk', () => readFileSync(host.logFile, 'utf8').includes('No space left on device'));
        await action();
      } finally {
        clearInterval(timer);
      }
    }),
  );
}
