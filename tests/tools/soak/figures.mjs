// Jobs per second of a front and its workers on this machine, and how soon they go on after a kill. Nothing is judged: these are figures
// for a table, which states the load of the machine as well.
import { loadavg } from 'node:os';
import { Stop, say } from '../lib/log.mjs';
import { SETTINGS } from './host.mjs';
import { sleep } from './random.mjs';

/** Sets to measure: how many jobs are timed, and whether recovery from kills is measured too, which needs small jobs. */
export const SETS = { toy10: { count: 200, recovers: true }, n15: { count: 40, recovers: false } };

/** Jobs in the table of the front that is killed. */
const MANY = 10_000;

/** Requests at once. */
const CLIENTS = 8;

/** Milliseconds in which a job must have ended. */
const PATIENCE = 300_000;

/** Settings of front and workers: one job at a time per worker, room for many waiting jobs, and for keys of `keyBytes` bytes. */
export const settingsFor = (keyBytes) => ({
  REFLOAT__LIMITS__MAX_QUEUED: '20000',
  REFLOAT__LIMITS__MAX_UPLOADS: `${2 * CLIENTS}`,
  REFLOAT__CLUSTER__SLOTS: '1',
  REFLOAT__COMPUTE__KEY_IDLE_SECONDS: '600',
  REFLOAT__COMPUTE__KEY_CACHE_BYTES: `${Math.max(Number(SETTINGS.REFLOAT__COMPUTE__KEY_CACHE_BYTES), keyBytes)}`,
  // Its metrics say how many workers it hears.
  REFLOAT__SERVER__METRICS_LISTEN: 'public',
});

/** Measures; `host` is a front, `workers` has none running, and `set` is a key set with its tasks. */
export async function figures(host, workers, set) {
  const { count, recovers } = SETS[set.params];
  const jobs = new Jobs(host, set);
  await jobs.upload();
  workers.start(0);
  await jobs.hear(1);
  await coldAndWarm(jobs);
  for (const number of [1, 2]) {
    if (number > 1) workers.start(1);
    await jobs.hear(number);
    await rate(jobs, workers, number, count);
  }
  if (recovers) await recovery(jobs, host, workers);
}

/** Times a worker's first job, which has to load the keys, and the next one. */
async function coldAndWarm(jobs) {
  for (const name of ['a cold job, whose keys are loaded first', 'a warm job, whose keys are in memory']) {
    const load = loaded();
    const began = Date.now();
    const [id] = await jobs.submit(1);
    await jobs.finish([id]);
    say(`  ${name}: ${since(began).toFixed(2)} s from its submission to its end (${jobs.params}; ${load})`);
    await jobs.compare(id);
  }
}

/** Measures the jobs per second of `number` workers; all jobs are waiting when the workers begin. */
async function rate(jobs, workers, number, count) {
  // After these jobs, all workers have the keys in memory.
  await jobs.finish(await jobs.submit(Math.ceil(count / 20) * number));
  const load = loaded();
  for (let worker = 0; worker < number; worker++) workers.signal(worker, 'SIGSTOP');
  const ids = await jobs.submit(count);
  const began = Date.now();
  for (let worker = 0; worker < number; worker++) workers.signal(worker, 'SIGCONT');
  await jobs.finish(ids);
  say(`  ${number} worker${number > 1 ? 's' : ''} of one thread: ${(count / since(began)).toFixed(2)} jobs of ${jobs.params} a second (${count} jobs; ${load})`);
}

/** Measures how soon jobs go on after a worker is killed, and after the front is. */
async function recovery(jobs, host, workers) {
  const ids = await jobs.submit(40);
  await jobs.finish(ids.slice(0, 4));
  const killed = Date.now();
  await workers.end(0);
  await jobs.finish(ids);
  say(`  a worker killed at work: its job done by another after ${since(killed).toFixed(1)} s (${loaded()})`);
  await workers.end(1);
  const began = Date.now();
  const many = await jobs.submit(MANY);
  say(`  ${many.length} jobs accepted in ${since(began).toFixed(0)} s (${loaded()})`);
  workers.start(0);
  await jobs.finish(many.slice(0, 1));
  let next = 0;
  while ((await jobs.state(many[next])) === 'done') next += 1;
  const end = Date.now();
  await host.restart();
  const ready = since(end);
  // The job that was handed out may be done without the front, so the one after it is waited for.
  await jobs.finish([many[next + 1]]);
  say(`  a front killed with ${MANY - next} jobs in its table: ready after ${ready.toFixed(1)} s, jobs go on after ${since(end).toFixed(1)} s (${loaded()})`);
}

const since = (from) => (Date.now() - from) / 1000;
const loaded = () => `load ${loadavg()[0].toFixed(1)}`;

class Jobs {
  #host;
  #set;
  #authorization;

  constructor(host, set) {
    this.#host = host;
    this.#set = set;
    this.#authorization = { authorization: `Bearer ${set.token}` };
  }

  /** The name of their parameter set. */
  get params() {
    return this.#set.params;
  }

  async upload() {
    const { params, fingerprint, id, pieces } = this.#set;
    const body = JSON.stringify({ params, fingerprint, keyId: id, parts: pieces.length });
    await this.#ask('POST', '/v1/keys', { type: 'application/json', body });
    // The pieces are dropped once they are sent: the workers need the memory.
    for (let index = 0; pieces.length > 0; index++) await this.#ask('PUT', `/v1/keys/${id}/chunks/${index}`, { body: pieces.shift() });
    await this.#ask('POST', `/v1/keys/${id}/commit`);
  }

  /** Submits `count` jobs; resolves to their identifiers, in the order in which they were accepted. */
  async submit(count) {
    const [task] = this.#set.tasks;
    const ids = [];
    await together(count, async () => {
      const { json } = await this.#ask('POST', `/v1/jobs?key=${this.#set.id}&op=${task.op}`, { body: task.body });
      ids.push(json.id);
    });
    return ids;
  }

  /** Waits until the front hears this number of workers. */
  async hear(workers) {
    for (const deadline = Date.now() + PATIENCE; ; await sleep(50)) {
      const { bytes } = await this.#ask('GET', '/metrics');
      if (bytes.toString().includes(`\nrefloat_cluster_workers ${workers}\n`)) return;
      if (Date.now() > deadline) throw new Stop(`the front does not hear ${workers} workers; workers.log says what they do`);
    }
  }

  /** Compares a result with what the command line made of the same input. */
  async compare(id) {
    const { bytes } = await this.#ask('GET', `/v1/jobs/${id}/result`);
    const [{ expected }] = this.#set.tasks;
    if (!bytes.equals(expected)) throw new Stop(`job ${id} has another result than the command line made of the same`);
  }

  async state(id) {
    return (await this.#ask('GET', `/v1/jobs/${id}`)).json.state;
  }

  /** Waits until all are done. */
  async finish(ids) {
    await together(ids.length, async (index) => {
      for (const deadline = Date.now() + PATIENCE; ; await sleep(20)) {
        const state = await this.state(ids[index]);
        if (state === 'done') return;
        if (state === 'failed' || Date.now() > deadline) throw new Stop(`job ${ids[index]} is ${state}`);
      }
    });
  }

  async #ask(method, path, { type = 'application/octet-stream', body } = {}) {
    const headers = body ? { ...this.#authorization, 'content-type': type } : this.#authorization;
    let answer = await this.#host.ask(method, path, { headers, body });
    // A connection may close just when it is used again.
    for (let tries = 0; answer.status === 0 && tries < 3; tries++) answer = await this.#host.ask(method, path, { headers, body });
    const { status, code } = answer;
    if (status < 200 || status > 299) throw new Stop(`${method} ${path}: ${status} ${code ?? ''}`);
    return answer;
  }
}

/** Calls `action` `count` times, several at once. */
async function together(count, action) {
  let next = 0;
  const loop = async () => {
    while (next < count) await action(next++);
  };
  await Promise.all(Array.from({ length: CLIENTS }, loop));
}
