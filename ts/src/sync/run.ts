import { RefloatError } from '../errors.js';

/** What a run does: one step at a time, and what it comes to. @internal */
export interface SyncWork<T, E> {
  /** One step; `true` when it was the last. */
  step(emit: (event: E) => void): boolean;
  finish(): T;
  /** Frees what an unfinished run holds. */
  abandon(): void;
}

/**
 * Something long, done a step at a time by whoever iterates: a run does nothing by itself. `result()`
 * does the rest of the steps; `cancel()` gives up.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat/sync';
 *
 * const rf = await Refloat.load();
 * using keys = rf.keygen('toy10', { allowInsecure: true });
 * using boot = keys.bootstrapKeys().result();
 * using ct = keys.encrypt([0.5], { level: keys.params.inputLevel });
 * const run = keys.bootstrap(ct, boot);
 * for (const e of run) if (e.kind === 'exit') console.log(e.stage, e.level);
 * using fresh = run.result();
 * console.log(fresh.level > ct.level);
 * ```
 */
export class SyncRun<T, E> implements Iterable<E> {
  readonly #work: SyncWork<T, E>;
  readonly #events: E[] = [];
  #finished = false;
  #result: { readonly value: T } | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** @internal */
  constructor(work: SyncWork<T, E>) {
    this.#work = work;
  }

  /** Events so far. */
  get events(): readonly E[] {
    return this.#events;
  }

  /** Does one step and gives its events; `undefined` once there is nothing left to do. */
  step(): readonly E[] | undefined {
    if (this.#failure) throw this.#failure.error;
    if (this.#finished) return undefined;
    const before = this.#events.length;
    try {
      this.#finished = this.#work.step((event) => this.#events.push(event));
    } catch (error) {
      this.#end(error);
      throw error;
    }
    return this.#events.slice(before);
  }

  /** Does whatever is left and gives the result; the same one each time. */
  result(): T {
    while (this.step() !== undefined);
    if (!this.#result) this.#result = { value: this.#work.finish() };
    return this.#result.value;
  }

  /** Gives up; later calls throw `ABORTED`. Nothing happens once there is a result. */
  cancel(): void {
    if (this.#result || this.#failure) return;
    this.#end(new RefloatError('ABORTED', 'the run was cancelled: start it again to get a result'));
  }

  /** The events from the first one on; iterating does the steps. */
  *[Symbol.iterator](): Generator<E, void, undefined> {
    for (let next = 0; ; ) {
      while (next < this.#events.length) yield this.#events[next++] as E;
      if (this.step() === undefined) return;
    }
  }

  #end(error: unknown): void {
    this.#failure = { error };
    this.#work.abandon();
  }
}
