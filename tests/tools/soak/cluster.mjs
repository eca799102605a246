// A front, workers and honest clients, with NATS between them.
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

/** A folder, and a nats-server that has its messages there, while something is done. */
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

  /** `ofWorkers` is what Workers take besides. */
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
    // Before what is in it is removed.
    process.prependListener('exit', this.#unmount);
    await this.host.start();
    for (let number = 0; number < this.#count; number++) this.workers.start(number);
    await this.clients.begin();
  }

  /** Waits for something, which is told in words if it does not come. */
  async until(what, has) {
    for (const end = Date.now() + PATIENCE; !(await has()); await sleep(100)) {
      if (this.ledger.broken || Date.now() > end) throw new Stop(`not within ${PATIENCE / 1000} s: ${what}`);
    }
  }

  /** Waits until the front counts on so many workers, by its metrics, which are to be public. */
  async hears(workers) {
    await this.until(`the front counts on ${workers} workers`, async () => {
      const { bytes } = await this.host.ask('GET', '/metrics');
      return String(bytes).includes(`\nrefloat_cluster_workers ${workers}\n`);
    });
  }

  /** Waits until so many more jobs are done. */
  async works(jobs = 10) {
    const enough = this.ledger.right + jobs;
    await this.until('jobs are done', () => this.ledger.right >= enough);
  }

  /** Asks each worker to stop, and starts it again. */
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

  /** Ends all in order and looks at what there is then; resolves to the number of results that were not those of another run. */
  async finish() {
    const { clients, host, ledger, workers } = this;
    await this.revive();
    await clients.finish();
    await workers.end(0, 'SIGTERM');
    workers.start(0);
    await host.restart('SIGTERM');
    await clients.verify();
    for (const how of workers.ended) ledger.find('lost', `a worker ended by itself (${how})`);
    // By the log of the front, which survives it.
    return readFileSync(host.logFile, 'utf8').split('two runs of a job gave different results').length - 1;
  }

  async close() {
    await this.workers.close();
    await this.host.close();
    this.#unmount();
    process.off('exit', this.#unmount);
  }
}
