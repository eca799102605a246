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
  /** The stage under way. */
  #open: string | undefined;
  /** Whether its beginning has been told before its first step. */
  #told = false;

  /** @param fraction how much is done after an event; if left out, only the end counts */
  constructor(port: Port, handle: Handle<T>, control: RunControl<E>, fraction: Share = new Fraction([])) {
    this.#fraction = fraction;
    this.port = port;
    this.handle = handle;
    this.control = control;
  }

  /**
   * Tells the listeners that a stage begins, unless it is under way: `stage` is that of the next step. The engine's own event for it arrives
   * only when the step is over, which is the end of most stages; it is then left out.
   */
  enter(stage: string | undefined): void {
    if (stage === undefined || stage === this.#open) return;
    [this.#open, this.#told] = [stage, true];
    const event = { kind: 'enter', stage, atMs: this.busyMs };
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
      if (event.kind === 'enter') {
        const told = this.#told && event.stage === this.#open;
        [this.#open, this.#told] = [event.stage, false];
        if (told) continue;
      } else if (event.kind === 'exit') {
        this.#open = undefined;
      }
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
