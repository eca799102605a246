import { letGo } from './api/abandon.js';
import { RefloatError } from './errors.js';
import { uncloneable } from './uncloneable.js';

/** Where a run stands. */
export type RunState = 'running' | 'paused' | 'done' | 'failed' | 'cancelled';

/** What the code that does a run's work sees of the run. @internal */
export interface RunControl<E> {
  /** Aborts when the run is cancelled or the caller's signal aborts. */
  readonly signal: AbortSignal;
  /** Passes an event to the listeners. */
  emit(event: E): void;
  /** Called between two steps: waits while paused, throws when cancelled. */
  gate(): Promise<void>;
}

/**
 * A long operation: a promise of its result and, at the same time, an async iterable of its events.
 * Iterating replays from the first event, so late and multiple iterators see all events. A
 * failure is thrown by `await run` and by every iteration.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy10', { allowInsecure: true });
 * const making = keys.bootstrapKeys();
 * for await (const p of making) console.log(`${p.done}/${p.total} ${p.label}`);
 * using boot = await making;
 * rf.close();
 * ```
 */
export class Run<T, E> implements PromiseLike<T>, AsyncIterable<E> {
  readonly #result: Promise<T>;
  readonly #events: E[] = [];
  readonly #abort = new AbortController();
  #ended = false;
  #wake: (() => void)[] = [];
  /** @internal */
  protected status: RunState = 'running';

  /** @internal */
  constructor(work: (control: RunControl<E>) => Promise<T>, signal?: AbortSignal) {
    uncloneable(this, 'Run', 'await it, and pass on the result');
    const onAbort = (): void => this.cancel(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) this.#abort.abort(signal.reason);
    const control: RunControl<E> = {
      signal: this.#abort.signal,
      emit: (event) => {
        // Events emitted after cancellation are dropped.
        if (this.#abort.signal.aborted) return;
        this.#events.push(event);
        this.#notify();
      },
      gate: async () => {
        await this.gate();
        this.#abort.signal.throwIfAborted();
      },
    };
    // Waits one turn of the queue first, so that pause() right after the call comes before any work.
    const working = Promise.resolve().then(() => {
      this.#abort.signal.throwIfAborted();
      return work(control);
    });
    this.#result = new Promise<T>((resolve, reject) => {
      // Decided only once: a result that has been handed out is not freed.
      let decided = false;
      const decide = (status: RunState, settle: () => void): void => {
        if (decided) return;
        decided = true;
        this.status = status;
        settle();
      };
      // Cancelling does not wait for the step under way; the step's result is freed.
      const stop = (): void =>
        decide('cancelled', () => {
          reject(this.#abort.signal.reason as Error);
          working.then(letGo, () => undefined);
        });
      if (this.#abort.signal.aborted) stop();
      else this.#abort.signal.addEventListener('abort', stop, { once: true });
      working.then(
        (value) => decide('done', () => resolve(value)),
        (error: unknown) => decide('failed', () => reject(error as Error)),
      );
    })
      .finally(() => {
        signal?.removeEventListener('abort', onAbort);
        this.#ended = true;
        this.ended();
        this.#notify();
      });
    // A caller that only iterates gets the failure there; it must not end the process as well.
    this.#result.catch(() => undefined);
  }

  /** Where the run stands. */
  get state(): RunState {
    return this.status;
  }

  /** Events so far, the oldest first. */
  get events(): readonly E[] {
    return this.#events;
  }

  /**
   * Stops the run: it rejects at once with `reason`, or with a `RefloatError` of code `ABORTED`. In the page, the step under way is still
   * finished, unseen, and later calls wait for that. If the run has ended, nothing happens.
   */
  cancel(reason?: unknown): void {
    if (this.#ended || this.#abort.signal.aborted) return;
    this.#abort.abort(reason ?? new RefloatError('ABORTED', 'the run was cancelled; start it again to get a result'));
    this.wake();
  }

  /** As for a promise. */
  then<A = T, B = never>(
    onfulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#result.then(onfulfilled, onrejected);
  }

  /** As for a promise. */
  catch<B = never>(onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.#result.catch(onrejected);
  }

  /** As for a promise. */
  finally(onfinally?: (() => void) | null): Promise<T> {
    return this.#result.finally(onfinally);
  }

  /** The events, from the first one on. */
  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    let next = 0;
    for (;;) {
      while (next < this.#events.length) yield this.#events[next++] as E;
      if (this.#ended) break;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
    await this.#result;
  }

  /** @internal */
  protected get cancelling(): boolean {
    return this.#abort.signal.aborted;
  }

  /** @internal */
  protected gate(): Promise<void> {
    return Promise.resolve();
  }

  /** @internal */
  protected wake(): void {
    // Runs that can be paused let a waiting step see the cancellation.
  }

  /** @internal */
  protected ended(): void {
    // Runs that can be paused settle the steps that were asked for.
  }

  #notify(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const resolve of waiting) resolve();
  }
}

/**
 * A run made of steps in this page: it can also be paused, stepped and resumed. A step is the
 * smallest piece between which it can stop: a stage, a track, a level of the tree, a part of a key.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy10', { allowInsecure: true });
 * using boot = await keys.bootstrapKeys();
 * using ct = await keys.encrypt([0.5, -0.25], { level: keys.params.inputLevel });
 * const run = keys.bootstrap(ct, boot);
 * run.pause();
 * await run.step(); // the first stage
 * console.log(run.events.map((e) => `${e.kind} ${e.stage}`));
 * run.resume();
 * using fresh = await run;
 * rf.close();
 * ```
 */
export class SteppableRun<T, E> extends Run<T, E> {
  #open: (() => void) | undefined;
  #steps: (() => void)[] = [];
  #granted = 0;
  #running = false;

  /** Stops before the next step; the step under way is finished first. */
  pause(): void {
    if (this.status === 'running') this.status = 'paused';
  }

  /** Goes on after `pause()`. */
  resume(): void {
    if (this.status !== 'paused') return;
    this.status = 'running';
    this.wake();
  }

  /** Pauses the run if needed, does one step, and resolves when the step is done or the run has ended. */
  step(): Promise<void> {
    if (this.status !== 'running' && this.status !== 'paused') return Promise.resolve();
    this.pause();
    this.#granted += 1;
    const done = new Promise<void>((resolve) => this.#steps.push(resolve));
    this.wake();
    return done;
  }

  /** @internal */
  protected override async gate(): Promise<void> {
    // If a step was granted before, arriving here means that it is done.
    if (this.#running) {
      this.#running = false;
      this.#steps.shift()?.();
    }
    while (this.status === 'paused' && this.#granted === 0 && !this.cancelling) {
      await new Promise<void>((resolve) => (this.#open = resolve));
    }
    if (this.#granted > 0) {
      this.#granted -= 1;
      this.#running = true;
    }
  }

  /** @internal */
  protected override wake(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.();
  }

  /** @internal */
  protected override ended(): void {
    const waiting = this.#steps;
    this.#steps = [];
    for (const resolve of waiting) resolve();
  }
}
