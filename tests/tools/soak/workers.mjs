// Workers of a cluster: the real binary, each a process.
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stop } from '../lib/log.mjs';
import { serverBinary } from '../lib/paths.mjs';
import { kill, run, start } from '../lib/run.mjs';
import { SETTINGS } from './host.mjs';

export class Workers {
  #command;
  #log;
  #logFile;
  #children = [];
  #settings;

  /** `each` gives further settings for the worker with a number. With `apart`, each worker has mounts of its own. */
  constructor(folder, { data, nats, settings = {}, each = () => ({}), apart = false }) {
    this.#settings = (number) => ({ ...SETTINGS, ...settings, ...each(number) });
    this.#logFile = join(folder, 'workers.log');
    this.#log = openSync(this.#logFile, 'a');
    this.#command = [...(apart ? ['unshare', '--mount'] : []), serverBinary, 'serve', '--role', 'worker', '--nats', nats, '--data', data, '--allow-insecure', '--log-level', 'warn'];
  }

  /** How workers ended that were not asked to. */
  ended = [];

  /** Starts the worker with a number, either new or in place of one that has ended. */
  start(number) {
    const [program, ...args] = this.#command;
    const child = start(program, args, { env: this.#settings(number), stdio: ['ignore', this.#log, this.#log] });
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

  signalAll(signal) {
    this.#children.forEach((_, number) => this.signal(number, signal));
  }

  /** Runs a command that sees the mounts of a worker that lives apart. */
  async inside(number, ...command) {
    const { code, output } = await run('nsenter', ['--mount', '--target', `${this.#children[number].child.pid}`, ...command]);
    if (code !== 0) throw new Stop(`${command.join(' ')}: ${output}`);
  }

  /** Whether a worker has logged these words. */
  have(words) {
    return readFileSync(this.#logFile, 'utf8').includes(words);
  }

  /** The last lines of their log. */
  async tail() {
    return (await run('tail', ['-n', '12', this.#logFile])).output;
  }

  async close() {
    await Promise.all(this.#children.map((_, number) => this.end(number)));
  }
}
