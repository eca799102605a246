// What a front and its workers on this machine do in a second, and how soon they go on after a kill. Nothing is judged: these are figures
// for a table, which has the load of the machine beside them.
import { loadavg } from 'node:os';
import { Stop, say } from '../lib/log.mjs';
import { sleep } from './random.mjs';

/** Jobs that are timed. */
const JOBS = 200;

/** Jobs in the table of the front that is killed. */
const MANY = 10_000;

/** Requests at once. */
const CLIENTS = 8;

/** Milliseconds in which a job must have ended. */
const PATIENCE = 300_000;

/** One job at a time for each worker, and room for many that wait. */
export const SETTINGS = { REFLOAT__LIMITS__MAX_QUEUED: '20000', REFLOAT__CLUSTER__SLOTS: '1', REFLOAT__COMPUTE__KEY_IDLE_SECONDS: '600' };

/** Measures; `host` is a front, `workers` has none that runs, `set` is a key set with its tasks. */
export async function figures(host, workers, set) {
  const jobs = new Jobs(host, set);
  await jobs.upload();
  for (const count of [1, 2]) {
    workers.start(count - 1);
    // All of them have the keys in memory then.
    await jobs.finish(await jobs.submit(10 * count));
    const load = loaded();
    for (let number = 0; number < count; number++) workers.signal(number, 'SIGSTOP');
    const ids = await jobs.submit(JOBS);
    const began = Date.now();
    for (let number = 0; number < count; number++) workers.signal(number, 'SIGCONT');
    await jobs.finish(ids);
    say(`  ${count} worker${count > 1 ? 's' : ''} of one thread: ${(JOBS / since(began)).toFixed(1)} jobs of ${set.params} a second (${JOBS} jobs; ${load})`);
  }
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
  // The one that was out may be done without the front.
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

  async upload() {
    const { params, fingerprint, id, pieces } = this.#set;
    const body = JSON.stringify({ params, fingerprint, keyId: id, parts: pieces.length });
    await this.#ask('POST', '/v1/keys', { type: 'application/json', body });
    for (const [index, piece] of pieces.entries()) await this.#ask('PUT', `/v1/keys/${id}/chunks/${index}`, { body: piece });
    await this.#ask('POST', `/v1/keys/${id}/commit`);
  }

  /** Submits so many jobs; resolves to their identifiers, in the order in which they were accepted. */
  async submit(count) {
    const [task] = this.#set.tasks;
    const ids = [];
    await together(count, async () => {
      const { id } = await this.#ask('POST', `/v1/jobs?key=${this.#set.id}&op=${task.op}`, { body: task.body });
      ids.push(id);
    });
    return ids;
  }

  async state(id) {
    return (await this.#ask('GET', `/v1/jobs/${id}`)).state;
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
    // A connection may end just when it is used again.
    for (let tries = 0; answer.status === 0 && tries < 3; tries++) answer = await this.#host.ask(method, path, { headers, body });
    const { status, code, json } = answer;
    if (status < 200 || status > 299) throw new Stop(`${method} ${path}: ${status} ${code ?? ''}`);
    return json;
  }
}

/** Does something so many times, some at once. */
async function together(count, action) {
  let next = 0;
  const loop = async () => {
    while (next < count) await action(next++);
  };
  await Promise.all(Array.from({ length: CLIENTS }, loop));
}
