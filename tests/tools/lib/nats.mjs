// A nats-server: $NATS_SERVER, one on the path, or the one that `npm run build:nats` builds.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onPath } from './browser.mjs';
import { Stop } from './log.mjs';
import { root, target } from './paths.mjs';
import { kill, run, start } from './run.mjs';
import { freePort } from './server.mjs';

/** The version that is built; Go checks the sources against its checksum database. */
export const VERSION = 'v2.15.2';

/** The folder in which it is built. */
export const tools = join(target, 'tools');

/** The oldest version in which single messages can expire. */
const LEAST = [2, 11];

/** The configuration for operators, so that its permissions are tested, too. */
const config = join(root, 'server', 'deploy', 'nats.conf');

/** A password that begins with a digit could be read as a number. */
const drawn = () => `p${randomBytes(16).toString('hex')}`;
const PASSWORDS = { front: drawn(), worker: drawn(), operator: drawn() };

/** Milliseconds in which a nats-server must answer. */
const READY = 30_000;

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** {program}, or {missing} with the reason why there is none to use, and what to do. */
export async function findNats() {
  const program = process.env.NATS_SERVER ?? onPath(['nats-server']) ?? join(tools, 'nats-server');
  const { code, output } = await run(program, ['--version']);
  if (code !== 0) return { missing: 'nats-server not found; npm run build:nats builds it (needs Go)' };
  const [, major, minor] = /v?(\d+)\.(\d+)\.\d+/.exec(output) ?? [];
  const recent = Number(major) > LEAST[0] || (Number(major) === LEAST[0] && Number(minor) >= LEAST[1]);
  if (!recent) return { missing: `${program} is ${output.trim()}, refloat needs ${LEAST.join('.')} or later; npm run build:nats builds ${VERSION}` };
  return { program };
}

/** A nats-server with JetStream on a loopback port, with its messages in a folder of its own. */
export class Nats {
  #program;
  #folder;
  #log;
  #port;
  #child;

  constructor(program, folder) {
    this.#program = program;
    this.#log = openSync(join(folder, 'nats.log'), 'a');
    this.#folder = mkdtempSync(join(folder, 'nats-'));
  }

  /** The server's address for one of the users of the deployed configuration. */
  url(user) {
    return `nats://${user}:${PASSWORDS[user]}@127.0.0.1:${this.#port}`;
  }

  async start() {
    this.#port ??= await freePort();
    const args = ['--config', config, '--addr', '127.0.0.1', '--port', `${this.#port}`];
    const env = { NATS_STORE: this.#folder, FRONT_PASSWORD: PASSWORDS.front, WORKER_PASSWORD: PASSWORDS.worker, OPERATOR_PASSWORD: PASSWORDS.operator };
    const child = start(this.#program, args, { env, stdio: ['ignore', this.#log, this.#log] });
    this.#child = child;
    for (const deadline = Date.now() + READY; !(await answers(this.#port)); await sleep(50)) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Stop(`nats-server did not start; its log is ${join(this.#folder, '..', 'nats.log')}`);
    }
  }

  signal(signal) {
    kill(this.#child, signal);
  }

  async end() {
    const closed = new Promise((resolve) => this.#child.on('close', resolve));
    kill(this.#child, 'SIGKILL');
    await closed;
  }

  /** Removes all its messages. */
  wipe() {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Whether a NATS server listens on a port. */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => end(false));
    socket.on('data', (data) => end(data.includes('INFO')));
    socket.on('error', () => end(false));
  });
}
