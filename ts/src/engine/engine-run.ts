import type { Description, Handle, Methods, Received, Step, StepArguments } from './handle.js';
import type { Port } from './port.js';
import type { RunControl } from '../run.js';
import { Fraction, type Share } from './fraction.js';

/** Something long in a wasm instance, whose steps are done from here. */
export class EngineRun<T, E extends { readonly atMs: number }> {
  readonly port: Port;
  readonly handle: Handle<T>;
  readonly control: RunControl<E>;
  /** Milliseconds of work, and of waiting for other workers, so far. */
  busyMs = 0;

  readonly #fraction: Share;

  /** @param fraction how much is done after an event; by the end alone if left out */
  constructor(port: Port, handle: Handle<T>, control: RunControl<E>, fraction: Share = new Fraction([])) {
    this.#fraction = fraction;
    this.port = port;
    this.handle = handle;
    this.control = control;
  }

  /** Does a step, and tells the listeners what it reports, stamped with the milliseconds before. */
  async step<M extends Methods<T>>(method: M, ...args: StepArguments<T[M]>): Promise<Step<Received<T[M]>, Description<T>>> {
    const step = await this.port.step(this.handle, method, ...args);
    this.report(step);
    return step;
  }

  /** Tells the listeners what a step has reported, each event with what `more` gives besides, and counts its time. */
  report({ value, events, ms }: Step, more: (event: E) => Partial<E> = () => ({})): void {
    for (const [i, event] of (events as readonly E[]).entries()) {
      const fraction = this.#fraction.after(event, value === true && i === events.length - 1);
      this.control.emit({ ...event, ...more(event), fraction, atMs: this.busyMs + event.atMs });
    }
    this.busyMs += ms;
  }
}

/** Does something with an object that is begun for it, and frees the object. */
export async function freeing<T, H extends Handle<T>, R>(port: Port, begun: Promise<H>, use: (handle: H) => Promise<R>): Promise<R> {
  const handle = await begun;
  try {
    return await use(handle);
  } finally {
    port.release(handle);
  }
}
