import type { Description, Handle, Methods, Received, Step, StepArguments } from './handle.js';
import type { Port } from './port.js';
import type { RunControl } from '../run.js';
import { Fraction, type Share } from './fraction.js';

/** An event of a stage. */
interface Staged {
  readonly kind?: string;
  readonly stage?: string;
}

/** A long operation in a wasm instance, whose steps are called from here. */
export class EngineRun<T, E extends { readonly atMs: number }> {
  readonly port: Port;
  readonly handle: Handle<T>;
  readonly control: RunControl<E>;
  /** Milliseconds of work, and of waiting for other workers, so far. */
  busyMs = 0;

  readonly #fraction: Share;
  readonly #order: readonly string[];
  /** The stage that the next step begins, if that is known, and the one whose beginning has been told before its step. */
  #next: string | undefined;
  #told: string | undefined;

  /**
   * @param fraction how much is done after an event; if left out, only the end counts
   * @param order the stages of a round in their order, for a run that tells of their beginnings by {@link enter}
   */
  constructor(port: Port, handle: Handle<T>, control: RunControl<E>, fraction: Share = new Fraction([]), order: readonly string[] = []) {
    this.#fraction = fraction;
    this.#order = order;
    this.#next = order[0];
    this.port = port;
    this.handle = handle;
    this.control = control;
  }

  /**
   * Tells the listeners which stage the next step begins, if it begins one. The engine's own event for that arrives only when the step is
   * over, which is the end of most stages; it is then left out.
   */
  enter(): void {
    const [stage, atMs] = [this.#next, this.busyMs];
    if (stage === undefined) return;
    [this.#next, this.#told] = [undefined, stage];
    const event = { kind: 'enter', stage, atMs };
    this.control.emit({ ...event, fraction: this.#fraction.after(event, false) } as unknown as E);
  }

  /** Does a step, and passes the events it reports to the listeners, with `atMs` counted from the beginning of the run. */
  async step<M extends Methods<T>>(method: M, ...args: StepArguments<T[M]>): Promise<Step<Received<T[M]>, Description<T>>> {
    const step = await this.port.step(this.handle, method, ...args);
    this.report(step);
    return step;
  }

  /** Passes the events of a step to the listeners, each with the fields that `more` adds, and counts the step's time. */
  report({ value, events, ms }: Step, more: (event: E) => Partial<E> = () => ({})): void {
    for (const [i, event] of (events as readonly (E & Staged)[]).entries()) {
      if (event.kind === 'enter' && event.stage === this.#told) {
        this.#told = undefined;
        continue;
      }
      // Rounds begin anew, also after a correction, which is not among the stages.
      if (event.kind === 'exit') this.#next = this.#order[(this.#order.indexOf(event.stage ?? '') + 1) % this.#order.length];
      const fraction = this.#fraction.after(event, value === true && i === events.length - 1);
      this.control.emit({ ...event, ...more(event), fraction, atMs: this.busyMs + event.atMs });
    }
    this.busyMs += ms;
  }
}

/** Uses an object that is made for the purpose, and frees it. */
export async function freeing<T, H extends Handle<T>, R>(port: Port, begun: Promise<H>, use: (handle: H) => Promise<R>): Promise<R> {
  const handle = await begun;
  try {
    return await use(handle);
  } finally {
    port.release(handle);
  }
}

/** Completes an object that is begun, and frees it if that fails. */
export async function completing<T, H extends Handle<T>, R>(port: Port, begun: Promise<H>, complete: (handle: H) => Promise<R>): Promise<R> {
  const handle = await begun;
  try {
    return await complete(handle);
  } catch (error) {
    port.release(handle);
    throw error;
  }
}
