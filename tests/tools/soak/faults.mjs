// What goes wrong, one fault after the other, in an order that the seed decides.
import { existsSync, mkdirSync, openSync, closeSync, fstatSync, ftruncateSync, readFileSync, readSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { Stop } from '../lib/log.mjs';
import { run } from '../lib/run.mjs';
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
      ['unread answers', () => this.#unread()],
      ...(limits ? [['file-size limit', () => this.#fileSize()], ['no file descriptors', () => this.#descriptors()]] : []),
      ...(host.mounted ? [['full disk', () => this.#fullDisk()], ['kill with a full disk', () => this.#killFull()]] : []),
    ]);
  }

  get names() {
    return [...this.#all.keys()];
  }

  /** One fault and the pause after it. All kinds come equally often. */
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

  /** Lets go of everything that is still held. */
  async stop() {
    for (const socket of this.#peers) socket.destroy();
    this.#peers.clear();
  }

  /** Files of somebody else are where they were, or at least somewhere in the folder. */
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

  /** Writes beyond the limit fail, as at the end of a quota. */
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
    return this.#host.during('full disk', () => this.#fill(() => sleep(this.#random.between(200, 3000))));
  }

  #killFull() {
    return this.#host.during('full disk', async () => {
      await this.#fill(async () => {
        await sleep(this.#random.between(100, 800));
        await this.#host.end();
      });
      await this.#host.start();
    });
  }

  /** Takes every byte of the file system while `action` goes on. */
  async #fill(action) {
    const filler = join(this.#host.disk, 'filler');
    const file = openSync(filler, 'w');
    try {
      for (let size = 1 << 20; size >= 1 << 12; size >>= 1) {
        const block = Buffer.alloc(size, 1);
        try {
          while (writeSync(file, block) === size);
        } catch (error) {
          if (error.code !== 'ENOSPC') throw error;
        }
      }
      await action();
    } finally {
      closeSync(file);
      rmSync(filler);
    }
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

  /** Changes, shortens or removes the file of this owner and name, while the server holds its breath. */
  async #damage(owner, name, note) {
    const { pid } = this.#host;
    process.kill(pid, 'SIGSTOP');
    try {
      const path = files(this.#host.data).find((each) => each.includes(owner) && name.test(basename(each)));
      if (!path) return false;
      note();
      if (this.#random.chance(0.15)) rmSync(path);
      else this.#change(path);
      return true;
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  #change(path) {
    const file = openSync(path, 'r+');
    try {
      const { size } = fstatSync(file);
      if (size === 0) return;
      const at = Math.floor(this.#random.next() * size);
      if (this.#random.chance(0.2)) return ftruncateSync(file, at);
      const byte = Buffer.alloc(1);
      readSync(file, byte, 0, 1, at);
      byte[0] ^= 1 << this.#random.between(0, 7);
      writeSync(file, byte, 0, 1, at);
    } finally {
      closeSync(file);
    }
  }

  /** Somebody uses the data folder for other things too. */
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

  /** Headers that do not come. */
  #halfOpen() {
    return this.#hold(this.#random.between(50, 200), () => this.#random.pick(['', 'GET / HT', 'POST /v1/jobs HTTP/1.1\r\nhost: localhost\r\n']));
  }

  /** Bodies that trickle. */
  #slowBodies() {
    const set = this.#clients.sets[0];
    const head = [
      `POST /v1/jobs?key=${set.id}&op=circuit HTTP/1.1`,
      'host: localhost',
      `authorization: Bearer ${set.token}`,
      'content-type: application/octet-stream',
      'content-length: 5000',
      '',
      '',
    ].join('\r\n');
    return this.#hold(this.#random.between(4, 30), () => head, 'x');
  }

  /** Requests whose answers nobody takes. */
  #unread() {
    const job = this.#clients.done.at(-1);
    if (!job) return false;
    const ask = (path) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${job.set.token}\r\n\r\n`;
    const paths = ['/v1/params?parts=1', `/v1/jobs/${job.id}/result`, `/v1/jobs/${job.id}/events`];
    return this.#hold(this.#random.between(10, 60), () => ask(this.#random.pick(paths)).repeat(this.#random.between(1, 40)));
  }

  /** Opens connections that say `head`, then `drop` every now and then, and never read. */
  async #hold(count, head, drop) {
    const mine = [];
    // From another address than the honest clients, where loopback has several: what is bounded is bounded for each peer.
    const from = process.platform === 'linux' ? { localAddress: `127.0.1.${this.#random.between(1, 250)}` } : {};
    for (let i = 0; i < count; i++) {
      const socket = connect({ port: this.#host.port, host: '127.0.0.1', ...from });
      socket.pause();
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#peers.delete(socket));
      socket.write(head());
      this.#peers.add(socket);
      mine.push(socket);
    }
    const timer = drop && setInterval(() => mine.forEach((socket) => socket.writable && socket.write(drop)), 300);
    // Descriptors may run out while they are here, of which the server keeps some for itself.
    await sleep(this.#random.between(300, 4000));
    clearInterval(timer);
    mine.forEach((socket) => socket.destroy());
  }
}

/** Every file below a folder; what vanishes meanwhile is left out. */
function files(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? files(path) : [path];
    });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
