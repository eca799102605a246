// A front, workers and honest clients, connected by NATS.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Stop } from '../lib/log.mjs';
import { Nats } from '../lib/nats.mjs';
import { HonestClients } from './honest.mjs';
import { Host } from './host.mjs';
import { Ledger } from './ledger.mjs';
import { randomFrom, sleep } from './random.mjs';
import { Workers } from './workers.mjs';

/** Milliseconds in which something must have happened. */
const PATIENCE = 150_000;

/** Calls `action` with a nats-server and a folder, in which the server has its messages; ends and removes both afterwards. */
export async function withNats(program, action) {
  const folder = mkdtempSync(join(tmpdir(), 'refloat-cluster-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  const nats = new Nats(program, folder);
  await nats.start();
  try {
    return await action(nats, folder);
  } finally {
    await nats.end();
    process.off('exit', remove);
    remove();
  }
}

export class Cluster {
  #count;
  #unmount = () => this.host.unmount();

  /** `ofWorkers` are further options of Workers. */
  constructor(folder, nats, { count, sets, seed, settings, mount = false, ofWorkers }) {
    this.#count = count;
    this.nats = nats;
    this.random = randomFrom(seed);
    this.ledger = new Ledger();
    this.host = new Host(folder, { mount, args: ['--role', 'front', '--nats', nats.url('front')], settings });
    this.workers = new Workers(folder, { data: this.host.data, nats: nats.url('worker'), settings, ...ofWorkers });
    this.clients = new HonestClients(this.host, sets, this.ledger, randomFrom(seed + 1));
  }

  async start() {
    // Unmounts before the folder is removed.
    process.prependListener('exit', this.#unmount);
    await this.host.start();
    for (let number = 0; number < this.#count; number++) this.workers.start(number);
    await this.clients.begin();
  }

  /** Waits until `has` holds; if that takes too long, stops with `what` in the message. */
  async until(what, has) {
    for (const end = Date.now() + PATIENCE; !(await has()); await sleep(100)) {
      if (this.ledger.broken || Date.now() > end) throw new Stop(`not within ${PATIENCE / 1000} s: ${what}`);
    }
  }

  /** Waits until the front counts on this number of workers, by its metrics, which must be public. */
  async hears(workers) {
    await this.until(`the front counts on ${workers} workers`, async () => {
      const { bytes } = await this.host.ask('GET', '/metrics');
      return String(bytes).includes(`\nrefloat_cluster_workers ${workers}\n`);
    });
  }

  /** Waits until this many more jobs are done. */
  async works(jobs = 10) {
    const enough = this.ledger.right + jobs;
    await this.until('jobs are done', () => this.ledger.right >= enough);
  }

  /** Stops and restarts one worker after the other; `meanwhile` is called in between. */
  async restartWorkers(meanwhile = () => {}) {
    for (let number = 0; number < this.#count; number++) {
      await this.workers.end(number, 'SIGTERM');
      meanwhile(number);
      this.workers.start(number);
    }
  }

  /** Starts the front again if it has ended. */
  async revive() {
    await this.host.reviveIfDead((how) => this.ledger.find('lost', `the front ended by itself (${how})`));
  }

  /** Ends everything in order and checks what is left; resolves to the number of results that differed from those of another run. */
  async finish() {
    const { clients, host, ledger, workers } = this;
    await this.revive();
    await clients.finish();
    await workers.end(0, 'SIGTERM');
    workers.start(0);
    await host.restart('SIGTERM');
    await clients.verify();
    for (const how of workers.ended) ledger.find('lost', `a worker ended by itself (${how})`);
    // The log of the front has them, and survives the front.
    return readFileSync(host.logFile, 'utf8').split('two runs of a job gave different results').length - 1;
  }

  async close() {
    await this.workers.close();
    await this.host.close();
    this.#unmount();
    process.off('exit', this.#unmount);
  }
}
