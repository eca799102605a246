import type { Memory } from '../engine/engine.js';
import type { Handle } from '../engine/handle.js';
import type { WorkerPort } from '../engine/port.js';
import { RefloatError } from '../errors.js';

/** A worker that is ready for the tasks of one run. */
export interface Helper<R> {
  compute(task: number): Promise<R>;
  /** Lets go of the run; a secret key that the worker was lent for it is wiped. */
  release(): void;
}

/** A copy of an object in a worker. */
export interface Copy<T> {
  readonly port: WorkerPort;
  readonly handle: Handle<T>;
}

/**
 * Workers beside the engine's own, each with a wasm instance of its own: what runs share is spread over them by messages,
 * without shared memory. They start when they are first needed, and hold a secret key only while a run of that key lasts;
 * copies of public keys stay until the keys are freed.
 */
export class WorkerPool {
  /** Workers beside the engine's own. */
  readonly size: number;
  readonly #open: () => Promise<WorkerPort>;
  #workers: Promise<WorkerPort | undefined>[] = [];
  readonly #copies = new Map<number | string, Promise<Copy<unknown> | undefined>[]>();
  #closed = false;

  /**
   * @param size workers beside the engine's own
   * @param open starts one and loads the module in it
   */
  constructor(size: number, open: () => Promise<WorkerPort>) {
    this.size = size;
    this.#open = open;
  }

  /**
   * What `prepare` makes in each of the workers, each as soon as it is there; those that fail are left out. The workers are
   * started if they have not been.
   */
  each<T>(prepare: (port: WorkerPort) => Promise<T>): Promise<T | undefined>[] {
    while (!this.#closed && this.#workers.length < this.size) this.#workers.push(this.#starting());
    return this.#workers.map(async (starting) => {
      const port = await starting;
      if (!port || port.dead) return undefined;
      return prepare(port).catch(() => undefined);
    });
  }

  /** Copies of an object of the engine's own worker, made when they are first asked for; see {@link each}. */
  copies<T>(original: Handle<T>, copy: (port: WorkerPort) => Promise<Handle<T>>): Promise<Copy<T> | undefined>[] {
    let made = this.#copies.get(original.object) as Promise<Copy<T> | undefined>[] | undefined;
    if (!made) {
      // One after the other: what is under way is as large as the object.
      let before: Promise<unknown> = Promise.resolve();
      made = this.each((port) => {
        const copying = before.then(async () => ({ port, handle: await copy(port) }));
        before = copying.catch(() => undefined);
        return copying;
      });
      this.#copies.set(original.object, made);
    }
    return made.map(async (making) => {
      const there = await making;
      return there?.port.dead ? undefined : there;
    });
  }

  /** Frees the copies of an object. */
  forget({ object }: Handle): void {
    const copies = this.#copies.get(object);
    this.#copies.delete(object);
    for (const making of copies ?? []) void making.then((there) => there?.port.release(there.handle));
  }

  /** Memory of all workers together. */
  async memory(): Promise<Memory> {
    const total = { bytes: 0, objects: 0, instances: 0 };
    await Promise.all([...this.#copies.values()].flat());
    for (const starting of this.#workers) {
      const port = await starting;
      if (!port || port.dead) continue;
      const { bytes, objects, instances } = await port.ask('memory', []);
      total.bytes += bytes;
      total.objects += objects;
      total.instances += instances;
    }
    return total;
  }

  /** Ends the workers. */
  close(): void {
    this.#closed = true;
    for (const starting of this.#workers) void starting.then((port) => port?.close());
    this.#workers = [];
  }

  async #starting(): Promise<WorkerPort | undefined> {
    try {
      const port = await this.#open();
      if (this.#closed) port.close();
      return port;
    } catch {
      return undefined;
    }
  }
}

/** How many threads `threads` means on a machine with so many cores. */
export function threadCount(threads: 'auto' | number | undefined, cores: number): number {
  if (threads === undefined || threads === 'auto') return Math.max(1, Math.min(cores, AUTO_THREADS));
  if (Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS) return threads;
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `threads is 'auto' or a whole number from 1 to ${MAX_THREADS}, not ${String(threads)}`,
  );
}

/** Most threads that `'auto'` takes: every one has a wasm instance with memory of its own. */
const AUTO_THREADS = 4;

/** No set has more tracks. */
const MAX_THREADS = 31;
