import type { Memory } from '../engine/engine.js';
import type { Handle } from '../engine/handle.js';
import type { WorkerPort } from '../engine/port.js';
import { RefloatError } from '../errors.js';

/** An object in a worker of the pool. */
export interface Copy<T> {
  readonly port: WorkerPort;
  readonly handle: Handle<T>;
}

/** A worker of the pool, and its copies of objects of the engine's own worker. */
interface Place {
  readonly starting: Promise<WorkerPort | undefined>;
  /** The worker, once it runs. */
  port: WorkerPort | undefined;
  readonly copies: Map<number | string, Promise<Copy<unknown> | undefined>>;
}

/**
 * Workers besides the engine's own, each with its own wasm instance: work that runs share is spread over them by messages, without shared
 * memory. They start when first needed, and hold a secret key only while a run with that key lasts; copies of public keys stay until the
 * keys are freed. If a worker dies, the others take over its tasks, and it is replaced the next time something is shared.
 */
export class WorkerPool {
  /** Number of workers besides the engine's own. */
  readonly size: number;
  readonly #open: () => Promise<WorkerPort>;
  #places: Place[] = [];
  #closed = false;

  /**
   * @param size number of workers besides the engine's own
   * @param open starts a worker and loads the module in it
   */
  constructor(size: number, open: () => Promise<WorkerPort>) {
    this.size = size;
    this.#open = open;
  }

  /**
   * The results of `prepare` in each of the workers, each as soon as it is there; workers that fail are left out. Workers are started if
   * they have not been, or have died since. A worker that could not be started is not tried again.
   */
  each<T>(prepare: (port: WorkerPort) => Promise<T>): Promise<T | undefined>[] {
    return this.#staffed().map((place) => prepared(place, prepare));
  }

  /** Copies of an object of the engine's own worker, made when they are first asked for; see {@link each}. */
  copies<T>({ object }: Handle<T>, copy: (port: WorkerPort) => Promise<Handle<T>>): Promise<Copy<T> | undefined>[] {
    // One after the other: each copy under way is as large as the object.
    let before: Promise<unknown> = Promise.resolve();
    return this.#staffed().map(async (place) => {
      let making = place.copies.get(object) as Promise<Copy<T> | undefined> | undefined;
      if (!making) {
        making = prepared(place, (port) => {
          const copying = before.then(async () => ({ port, handle: await copy(port) }));
          before = copying.catch(() => undefined);
          return copying;
        });
        place.copies.set(object, making);
      }
      const there = await making;
      return there?.port.dead ? undefined : there;
    });
  }

  /** Frees the copies of an object. */
  forget({ object }: Handle): void {
    for (const { copies } of this.#places) {
      void copies.get(object)?.then((there) => there?.port.release(there.handle));
      copies.delete(object);
    }
  }

  /** Memory of all workers together. */
  async memory(): Promise<Memory> {
    const total = { bytes: 0, objects: 0, instances: 0 };
    await Promise.all(this.#places.flatMap(({ copies }) => [...copies.values()]));
    for (const { starting } of this.#places) {
      const port = await starting;
      // A worker that dies meanwhile has none.
      const held = port?.dead === false ? await port.ask('memory', []).catch(() => undefined) : undefined;
      total.bytes += held?.bytes ?? 0;
      total.objects += held?.objects ?? 0;
      total.instances += held?.instances ?? 0;
    }
    return total;
  }

  /** Ends the workers. */
  close(): void {
    this.#closed = true;
    for (const { starting } of this.#places) void starting.then((port) => port?.close());
    this.#places = [];
  }

  /** All places, each with a worker that starts or runs, or one that could not be started. */
  #staffed(): readonly Place[] {
    if (this.#closed) return [];
    this.#places = Array.from({ length: this.size }, (_, i) => {
      const place = this.#places[i];
      if (place && !place.port?.dead) return place;
      // Its thread may still exist, with an instance that has crashed.
      place?.port?.close();
      return this.#started();
    });
    return this.#places;
  }

  #started(): Place {
    const place: Place = { starting: this.#starting().then((port) => (place.port = port)), port: undefined, copies: new Map() };
    return place;
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

/** The result of `prepare` in the worker of a place; nothing if either fails. */
async function prepared<T>({ starting }: Place, prepare: (port: WorkerPort) => Promise<T>): Promise<T | undefined> {
  const port = await starting;
  if (!port || port.dead) return undefined;
  return prepare(port).catch(() => undefined);
}

/** How many threads `threads` means on a machine with `cores` cores. */
export function threadCount(threads: 'auto' | number | undefined, cores: number): number {
  if (threads === undefined || threads === 'auto') return Math.max(1, Math.min(cores, AUTO_THREADS));
  if (Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS) return threads;
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `threads is 'auto' or a whole number from 1 to ${MAX_THREADS}, not ${String(threads)}`,
  );
}

/** Most threads that `'auto'` takes: each has a wasm instance with its own memory. */
const AUTO_THREADS = 4;

/** Most threads: no set has more tracks. */
export const MAX_THREADS = 31;
