import { RefloatError } from '../errors.js';
import type { GateKeyRows, GateOutcome } from './gates.js';
import type { Helper } from '../api/together.js';
import type { SlotMode } from '../params.js';
import type { Memory, TrackResult } from './engine.js';
import type { MatrixInput } from './glue.js';
import type { WorkerPort } from './port.js';

/** What a worker of the pool needs for the tracks of one run. */
export interface TrackJob {
  readonly mode: SlotMode;
  /** Public phases of the run. */
  readonly phases: Float64Array;
  /** The secret key for one worker, in bytes that are moved there and wiped once they are read. */
  secret(): Promise<Uint8Array>;
}

/** A worker that is ready for the tracks of one run; when it lets go, the secret key in it is wiped. */
export type TrackHelper = Helper<TrackResult>;

/** Evaluates a gate on operands in wire form, those inverted first whose bit is set. */
export type GateEvaluation = (gate: string, operands: Uint8Array[], inverted: number) => Promise<GateOutcome>;

/** A worker that is ready to multiply groups of diagonals for one run. */
export interface GroupHelper {
  group(index: number): Promise<Uint32Array>;
  /** Lets go of the run. */
  release(): void;
}

/**
 * Workers beside the engine's own, each with a wasm instance of its own: the groups of diagonals and
 * the tracks of a bootstrapping and the gates of a circuit are spread over them by messages, without shared memory.
 * They start when they are first needed, and hold a secret key only while a run of that key lasts; public keys of
 * gates stay until they are freed.
 */
export class TrackPool {
  /** Workers beside the engine's own. */
  readonly size: number;
  readonly #open: () => Promise<WorkerPort>;
  #workers: Promise<WorkerPort | undefined>[] = [];
  readonly #gateKeys = new Map<number, Promise<{ port: WorkerPort; handle: number } | undefined>[]>();
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
   * Starts the workers, if they have not been, and lets them prepare for a set. One that cannot start is
   * done without.
   */
  start(preset?: string): void {
    while (!this.#closed && this.#workers.length < this.size) this.#workers.push(this.#starting());
    if (preset === undefined) return;
    for (const starting of this.#workers) {
      // Who fails here fails again, and is heard, when there is work.
      void starting.then((port) => port?.call('tracksPrepare', preset)).catch(() => undefined);
    }
  }

  /** Helpers for the first stage of a run, each as soon as it is ready; those that fail are left out. */
  multipliers(preset: string, { scale, steps }: MatrixInput): Promise<GroupHelper | undefined>[] {
    this.start();
    return this.#workers.map(async (starting) => {
      const port = await starting;
      if (!port || port.dead) return undefined;
      try {
        const handle = await port.move('matrixBegin', preset, { scale: scale.slice(), steps: steps.slice() });
        return {
          group: (index: number) => port.call('matrixGroup', handle, index),
          release: () => port.release(handle),
        };
      } catch {
        return undefined;
      }
    });
  }

  /** Helpers for the tracks of a run, each as soon as it is ready; those that fail are left out. */
  helpers(job: TrackJob): Promise<TrackHelper | undefined>[] {
    this.start();
    return this.#workers.map(async (starting) => {
      const port = await starting;
      if (!port || port.dead) return undefined;
      const secret = await job.secret();
      try {
        const handle = await port.move('tracksBegin', secret, job.mode, job.phases.slice());
        return {
          compute: (index: number) => port.call('tracksCompute', handle, index),
          release: () => port.release(handle),
        };
      } catch {
        // What was moved away is gone from here; what was not is wiped.
        secret.fill(0);
        return undefined;
      }
    });
  }

  /**
   * What evaluates gates with keys of the engine's own worker, in each of the others as soon as they are there;
   * those that fail are left out. The keys are sent with the first call.
   *
   * @param keys their handle
   * @param rows their words, for one worker
   */
  evaluators(keys: number, rows: () => Promise<GateKeyRows>): Promise<GateEvaluation | undefined>[] {
    this.start();
    let sent = this.#gateKeys.get(keys);
    if (!sent) {
      // One after the other: a copy of the keys is as large as the keys.
      let before: Promise<unknown> = Promise.resolve();
      sent = this.#workers.map((starting) => {
        const sending = before.then(async () => {
          const port = await starting;
          if (!port || port.dead) return undefined;
          return { port, handle: await port.move('gateKeysFromRows', await rows()) };
        }).catch(() => undefined);
        before = sending;
        return sending;
      });
      this.#gateKeys.set(keys, sent);
    }
    return sent.map(async (sending): Promise<GateEvaluation | undefined> => {
      const there = await sending;
      if (!there || there.port.dead) return undefined;
      return (gate, operands, inverted) => there.port.call('gateCall', there.handle, gate, operands, inverted);
    });
  }

  /** Frees keys of gates in all workers. */
  forget(keys: number): void {
    const sent = this.#gateKeys.get(keys);
    this.#gateKeys.delete(keys);
    for (const sending of sent ?? []) void sending.then((there) => there?.port.release(there.handle));
  }

  /** Memory of all workers together. */
  async memory(): Promise<Memory> {
    const total = { bytes: 0, objects: 0, instances: 0 };
    await Promise.all([...this.#gateKeys.values()].flat());
    for (const starting of this.#workers) {
      const port = await starting;
      if (!port || port.dead) continue;
      const { bytes, objects, instances } = await port.call('memory');
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
