// Faults, one after the other, in an order that the seed decides.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { Stop } from '../lib/log.mjs';
import { run } from '../lib/run.mjs';
import { damage, files, fill } from './disk.mjs';
import { sleep } from './random.mjs';

export class Faults {
  #host;
  #clients;
  #ledger;
  #random;
  #counts = new Map();
  #bag = [];
  #foreign = [];
  #peers = new Set();
  #all;

  constructor(host, clients, ledger, random) {
    this.#host = host;
    this.#clients = clients;
    this.#ledger = ledger;
    this.#random = random;
    const limits = existsSync('/proc/self/fd') && existsSync('/usr/bin/prlimit');
    this.#all = new Map([
      ['kill', () => host.restart()],
      ['kill twice', () => this.#killTwice()],
      ['stop', () => host.restart('SIGTERM')],
      ['damaged input', () => this.#damageInput()],
      ['damaged result', () => this.#damageResult()],
      ['damaged key piece', () => this.#damagePiece()],
      ['foreign files', () => this.#dropForeign()],
      ['half-open connections', () => this.#halfOpen()],
      ['slow bodies', () => this.#slowBodies()],
      ['slow streams', () => this.#slowStreams()],
      ['unread answers', () => this.#unread()],
      ['unread streams', () => this.#unreadStreams()],
      ...(limits ? [['file-size limit', () => this.#fileSize()], ['no file descriptors', () => this.#descriptors()]] : []),
      ...(host.mounted ? [['full disk', () => this.#fullDisk()], ['kill with a full disk', () => this.#killFull()]] : []),
    ]);
  }

  get names() {
    return [...this.#all.keys()];
  }

  /** Causes one fault, and pauses. All kinds come equally often. */
  async one() {
    if (this.#bag.length === 0) {
      this.#bag = this.names;
      this.#bag.sort(() => this.#random.next() - 0.5);
    }
    const name = this.#bag.pop();
    try {
      await this.#host.reviveIfDead((how) => this.#ledger.find('lost', `the server ended by itself (${how}) before "${name}"`));
      if ((await this.#all.get(name)()) !== false) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      this.#ledger.breakOff('stuck', `after "${name}": ${error.message}`);
    }
    await sleep(this.#random.between(50, 1200));
  }

  /** Closes all connections that are still held. */
  async stop() {
    for (const socket of this.#peers) socket.destroy();
    this.#peers.clear();
  }

  /** Checks that files of other owners are where they were, or at least somewhere in the folder. */
  verifyForeign() {
    const all = files(this.#host.data);
    for (const { path, text } of this.#foreign) {
      const places = [path, ...all.filter((each) => basename(each) === basename(path))];
      const kept = places.some((place) => existsSync(place) && readFileSync(place, 'utf8') === text);
      if (!kept) this.#ledger.find('lost', `the foreign file ${path}`);
    }
  }

  line() {
    return `faults: ${[...this.#counts].map(([name, count]) => `${count} ${name}`).join(', ') || 'none'}`;
  }

  async #killTwice() {
    await this.#host.end();
    const again = this.#host.start().catch(() => {});
    await sleep(this.#random.between(1, 60));
    await this.#host.end();
    await again;
    await this.#host.start();
  }

  /** Makes writes beyond a limit fail, as at the end of a quota. */
  #fileSize() {
    return this.#limited('--fsize', this.#random.pick([0, 4096, 1 << 16, 1 << 20]), 'unlimited');
  }

  #descriptors() {
    const open = readdirSync(`/proc/${this.#host.pid}/fd`).length;
    return this.#limited('--nofile', open + this.#random.between(0, 3), 1024);
  }

  async #limited(option, value, usual) {
    const { pid } = this.#host;
    const set = (limit) => run('prlimit', ['--pid', String(pid), `${option}=${limit}:`]);
    await this.#host.during(option, async () => {
      await set(value);
      await sleep(this.#random.between(200, 2500));
      await set(usual);
    });
  }

  #fullDisk() {
    return this.#host.during('full disk', () => fill(this.#host.disk, () => sleep(this.#random.between(200, 3000))));
  }

  #killFull() {
    return this.#host.during('full disk', async () => {
      await fill(this.#host.disk, async () => {
        await sleep(this.#random.between(100, 800));
        await this.#host.end();
      });
      await this.#host.start();
    });
  }

  async #damageInput() {
    const waiting = [...this.#clients.open];
    if (waiting.length === 0) return false;
    const job = waiting[waiting.length - 1];
    return this.#damage(job.id, /^input/, () => job.damaged.add('input'));
  }

  async #damageResult() {
    if (this.#clients.done.length === 0) return false;
    const job = this.#random.pick(this.#clients.done);
    return this.#damage(job.id, /^result/, () => job.damaged.add('result'));
  }

  async #damagePiece() {
    const set = this.#random.pick(this.#clients.sets);
    const piece = this.#random.between(0, set.pieces.length - 1);
    return this.#damage(set.id, new RegExp(`^0*${piece}(\\.|$)`), () => set.damages.push({ piece, healed: undefined }));
  }

  /** Changes, shortens or removes the file of this owner and name while the server is stopped. */
  async #damage(owner, name, note) {
    const { pid } = this.#host;
    process.kill(pid, 'SIGSTOP');
    try {
      const path = files(this.#host.data).find((each) => each.includes(owner) && name.test(basename(each)));
      if (!path) return false;
      note();
      damage(path, this.#random);
      return true;
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  /** Puts somebody else's files into the data folder. */
  async #dropForeign() {
    const number = this.#foreign.length;
    const hex = Array.from({ length: 32 }, () => this.#random.between(0, 15).toString(16)).join('');
    const folder = this.#random.pick(['.', 'keys', 'jobs', 'keys/letters', `jobs/${hex}`, `keys/${hex}`]);
    const path = join(this.#host.data, folder, `foreign-${number}.txt`);
    const text = `Dear ${number},\n`;
    try {
      mkdirSync(join(this.#host.data, folder), { recursive: true });
      writeFileSync(path, text);
    } catch (error) {
      if (error.code === 'ENOSPC') return false;
      throw error;
    }
    this.#foreign.push({ path, text });
    return true;
  }

  /** Peers whose headers never end. */
  #halfOpen() {
    return this.#hold(this.#random.between(50, 200), () => this.#random.pick(['', 'GET / HT', 'POST /v1/jobs HTTP/1.1\r\nhost: localhost\r\n']));
  }

  /** Peers whose bodies trickle. */
  #slowBodies() {
    const set = this.#clients.sets[0];
    const head = [
      `POST ${submission(set)} HTTP/1.1`,
      'host: localhost',
      `authorization: Bearer ${set.token}`,
      'content-type: application/octet-stream',
      'content-length: 5000',
      '',
      '',
    ].join('\r\n');
    return this.#hold(this.#random.between(4, 30), () => head, 'x');
  }

  /** Peers that never read their answers. */
  #unread() {
    const job = this.#clients.done.at(-1);
    if (!job) return false;
    const ask = (path) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${job.set.token}\r\n\r\n`;
    const paths = answers(job);
    return this.#hold(this.#random.between(10, 60), () => ask(this.#random.pick(paths)).repeat(this.#random.between(1, 40)));
  }

  /** Peers whose bodies trickle, many on each connection. */
  #slowStreams() {
    const set = this.#clients.sets[0];
    const head = {
      ':method': 'POST',
      ':path': submission(set),
      authorization: `Bearer ${set.token}`,
      'content-type': 'application/octet-stream',
      'content-length': '5000',
    };
    return this.#holdStreams(65_535, () => head, 'x');
  }

  /** Peers that read a byte of their answers or none, on connections that stay active. */
  #unreadStreams() {
    const job = this.#clients.done.at(-1);
    if (!job) return false;
    const paths = ['/', ...answers(job)];
    const ask = () => ({ ':path': this.#random.pick(paths), authorization: `Bearer ${job.set.token}` });
    return this.#holdStreams(this.#random.pick([0, 1]), ask);
  }

  /** Opens connections that say `head`, then `drop` every now and then, and never read. */
  async #hold(count, head, drop) {
    const mine = [];
    const from = this.#elsewhere();
    for (let i = 0; i < count; i++) {
      const socket = connect({ port: this.#host.port, host: '127.0.0.1', ...from });
      socket.pause();
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#peers.delete(socket));
      socket.write(head());
      this.#peers.add(socket);
      mine.push(socket);
    }
    await this.#keep(mine, () => drop && mine.forEach((socket) => socket.writable && socket.write(drop)));
  }

  /** The same with HTTP/2 streams whose answers have a window of `initialWindowSize` bytes that is never opened again. */
  async #holdStreams(initialWindowSize, head, drop) {
    const mine = [];
    const streams = [];
    const from = this.#elsewhere();
    for (let i = this.#random.between(2, 12); i > 0; i--) {
      const session = connectHttp2(`http://127.0.0.1:${this.#host.port}`, { settings: { initialWindowSize }, ...from });
      session.on('error', () => session.destroy());
      session.on('close', () => this.#peers.delete(session));
      this.#peers.add(session);
      mine.push(session);
      for (let j = this.#random.between(1, 64); j > 0; j--) {
        const stream = session.request(head(), { endStream: drop === undefined });
        stream.on('error', () => stream.destroy());
        streams.push(stream);
      }
    }
    await this.#keep(mine, () => {
      for (const session of mine) if (!session.destroyed && !session.closed && !session.connecting) session.ping(() => {});
      if (drop) for (const stream of streams) if (stream.writable) stream.write(drop);
    });
  }

  /** Another address than the honest clients', if loopback has several, because limits apply per peer. */
  #elsewhere() {
    return process.platform === 'linux' ? { localAddress: `127.0.1.${this.#random.between(1, 250)}` } : {};
  }

  /** Keeps peers for a while, and calls `now` every now and then. */
  async #keep(peers, now) {
    const timer = setInterval(now, 300);
    // File descriptors may run out meanwhile; the server reserves some for itself.
    await sleep(this.#random.between(300, 4000));
    clearInterval(timer);
    peers.forEach((peer) => peer.destroy());
  }
}

/** The address for submitting a circuit of a set. */
function submission(set) {
  return `/v1/jobs?key=${set.id}&op=circuit`;
}

/** Answers that are long, or come piece by piece. */
function answers(job) {
  return ['/v1/params?parts=1', `/v1/jobs/${job.id}/result`, `/v1/jobs/${job.id}/events`];
}
