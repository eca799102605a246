// The server under test: the real binary, on a folder that can run full, with limits that can be reached.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { Stop } from '../lib/log.mjs';
import { serverBinary } from '../lib/paths.mjs';
import { kill, run, start } from '../lib/run.mjs';
import { freePort, notReady } from '../lib/server.mjs';
import { sleep } from './random.mjs';

/** Milliseconds in which a server must be up. */
const READY = 60_000;

/** Milliseconds in which a server that is asked to end must have ended: twice what it gives running jobs. */
const END = 60_000;

/** Milliseconds in which one request must be answered; the server's own limits are far below. */
const ANSWER = 30_000;

/** Megabytes of the file system that is mounted for the data, where that is allowed. */
const ROOM = 400;

/** Settings low enough for limits to be reached, while honest clients still get through. */
export const SETTINGS = {
  REFLOAT__LIMITS__MAX_QUEUED: '16',
  REFLOAT__LIMITS__MAX_UPLOADS: '4',
  REFLOAT__LIMITS__MAX_CONNECTIONS: '96',
  REFLOAT__LIMITS__MAX_CONNECTIONS_PER_PEER: '48',
  REFLOAT__LIMITS__MAX_EVENT_STREAMS: '16',
  REFLOAT__LIMITS__HEADER_SECONDS: '2',
  REFLOAT__LIMITS__IDLE_SECONDS: '2',
  REFLOAT__LIMITS__WRITE_IDLE_SECONDS: '2',
  REFLOAT__STORAGE__MIN_FREE_BYTES: '1000000',
  REFLOAT__COMPUTE__THREADS: '1',
  // Room for the keys of toy10 and hardly more: keys are read from disk, digests and all, again and again.
  REFLOAT__COMPUTE__KEY_CACHE_BYTES: '96500000',
  REFLOAT__COMPUTE__KEY_IDLE_SECONDS: '3',
  // A job that is killed again and again is not at fault, and must not be given up. So a run says nothing about the default of
  // three attempts.
  REFLOAT__COMPUTE__MAX_ATTEMPTS: '1000000',
};

export class Host {
  /** Times the server was started. */
  starts = 0;

  #args;
  #child;
  #died;
  #ended;
  #ending = false;
  #log;
  #mounted;
  #port;
  #settings;
  #wanted;

  /** `args` are further arguments of the server, `settings` replace some of SETTINGS. */
  constructor(folder, { mount, args = [], settings = {} }) {
    this.#args = args;
    this.#settings = { ...SETTINGS, ...settings };
    this.disk = join(folder, 'disk');
    this.data = join(this.disk, 'data');
    this.logFile = join(folder, 'server.log');
    this.#wanted = mount;
    /** Names of faults in force that make the server fail to read or write. */
    this.troubles = new Set();
    this.lastTrouble = 0;
  }

  /** Whether the data lie on a file system of their own, which can be filled. */
  get mounted() {
    return this.#mounted === true;
  }

  get pid() {
    return this.#child.pid;
  }

  get port() {
    return this.#port;
  }

  /** Whether a read or a write of the server may fail now, or may have a moment ago. */
  get troubled() {
    return this.troubles.size > 0 || Date.now() - this.lastTrouble < 3000;
  }

  /** Runs `action` while the server's reads or writes may fail. */
  async during(trouble, action) {
    this.troubles.add(trouble);
    try {
      await action();
    } finally {
      this.troubles.delete(trouble);
      this.lastTrouble = Date.now();
    }
  }

  async start() {
    if (this.#mounted === undefined) await this.#mount();
    this.#port ??= await freePort();
    this.#log ??= openSync(this.logFile, 'a');
    const listen = `127.0.0.1:${this.#port}`;
    const serve = ['serve', '--listen', listen, '--allow-insecure', '--log-level', 'warn', '--data', this.data, ...this.#args];
    // A write beyond the file-size limit must fail, not end the process.
    const child = start('sh', ['-c', 'trap "" XFSZ; exec "$0" "$@"', serverBinary, ...serve], {
      env: this.#settings,
      stdio: ['ignore', this.#log, this.#log],
    });
    this.starts += 1;
    this.#child = child;
    this.#died = undefined;
    this.#ending = false;
    let ended;
    this.#ended = new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)));
    this.#ended.then((how) => {
      ended = how;
      if (child === this.#child && !this.#ending) this.#died = how;
    });
    for (const deadline = Date.now() + READY; ; await sleep(20)) {
      if (ended !== undefined) throw new Stop(`the server ended at its start (${ended}); its log: ${await this.tail()}`);
      const why = await notReady(`http://${listen}`);
      if (why === undefined) return;
      if (Date.now() > deadline) {
        throw new Stop(`the server is not ready after ${READY / 1000} s; ${why}; its log: ${await this.tail()}`);
      }
    }
  }

  /** Restarts the server if it ended without being told to; `tell` is called with how it ended. */
  async reviveIfDead(tell) {
    if (this.#died === undefined) return;
    tell(`${this.#died}; its log: ${await this.tail()}`);
    await this.start();
  }

  /** Ends the server, by default like a power failure; resolves when it is gone. A server that does not end when told to is stuck. */
  async end(signal = 'SIGKILL') {
    this.#ending = true;
    kill(this.#child, signal);
    let late = false;
    const hard = setTimeout(() => {
      late = true;
      kill(this.#child, 'SIGKILL');
    }, END);
    const how = await this.#ended;
    clearTimeout(hard);
    if (late) throw new Stop(`the server did not end within ${END / 1000} s of ${signal}; its log: ${await this.tail()}`);
    return how;
  }

  async restart(signal) {
    await this.end(signal);
    await this.start();
  }

  /**
   * Makes one request. Resolves to {status, code, json, bytes}; status 0 means that no answer came, which
   * is not a fault in a server that is killed.
   */
  async ask(method, path, { headers = {}, body, limit = ANSWER } = {}) {
    try {
      const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, {
        method,
        headers,
        body,
        signal: AbortSignal.timeout(limit),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const json = /json/.test(response.headers.get('content-type') ?? '') && bytes.length ? JSON.parse(bytes) : undefined;
      return { status: response.status, code: json?.code, json, bytes };
    } catch {
      return { status: 0 };
    }
  }

  /** The last lines of the server's log. */
  async tail() {
    return (await run('tail', ['-n', '12', this.logFile])).output;
  }

  async close() {
    if (this.#child) await this.end();
    if (this.#log !== undefined) closeSync(this.#log);
  }

  async #mount() {
    mkdirSync(this.disk, { recursive: true });
    const root = process.getuid?.() === 0 && this.#wanted && existsSync('/proc/self');
    this.#mounted = root && (await run('mount', ['-t', 'tmpfs', '-o', `size=${ROOM}m`, 'tmpfs', this.disk])).code === 0;
  }

  /** Gives the file system of the data back. */
  unmount() {
    if (this.mounted) spawnSync('umount', ['--lazy', this.disk]);
    this.#mounted = false;
  }
}
