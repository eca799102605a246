// Workers of a cluster: the real binary, each a process.
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { serverBinary } from '../lib/paths.mjs';
import { kill, start } from '../lib/run.mjs';
import { SETTINGS } from './host.mjs';

export class Workers {
  #args;
  #log;
  #children = [];
  #settings;

  constructor(folder, { data, nats, settings = {} }) {
    this.#settings = { ...SETTINGS, ...settings };
    this.#log = openSync(join(folder, 'workers.log'), 'a');
    this.#args = ['serve', '--role', 'worker', '--nats', nats, '--data', data, '--allow-insecure', '--log-level', 'warn'];
  }

  /** How workers ended that were not asked to. */
  ended = [];

  /** Starts the worker of a number, new or in the place of one that has ended. */
  start(number) {
    const child = start(serverBinary, this.#args, { env: this.#settings, stdio: ['ignore', this.#log, this.#log] });
    const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)));
    const worker = { child, ended, asked: false };
    ended.then((how) => worker.asked || this.ended.push(how));
    this.#children[number] = worker;
  }

  /** Ends a worker; resolves to how it ended. */
  async end(number, signal = 'SIGKILL') {
    const worker = this.#children[number];
    const { child, ended } = worker;
    worker.asked = true;
    kill(child, signal);
    const hard = setTimeout(() => kill(child, 'SIGKILL'), 60_000);
    const how = await ended;
    clearTimeout(hard);
    return how;
  }

  signal(number, signal) {
    kill(this.#children[number].child, signal);
  }

  async close() {
    await Promise.all(this.#children.map((_, number) => this.end(number)));
  }
}
