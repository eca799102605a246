import { Fraction, OfPlan, type Share, type StageSteps } from '../engine/fraction.js';

/** Says anew, for every attempt at a job, how much of it is done. */
export type NewShare = () => Share;

/** The share of a job of operations by their names: that of its bootstraps, as the others are not reported. */
export function ofBootstraps(stages: readonly StageSteps[], ops: readonly string[], rounds = 1): NewShare {
  const times = rounds * ops.filter((op) => op === 'bootstrap').length;
  return () => new Fraction(stages, times);
}

/** The share of a job with a program. */
export const ofProgram: NewShare = () => new OfPlan();

/** The share of a job with a circuit. */
export const ofCircuit: NewShare = () => Fraction.of(['gates']);

/**
 * The events of a job with the share that is done after each. It never falls, whatever the server has to do again. The end of a stage
 * waits for what comes after it, which tells whether it was the last: only then is all of it done.
 */
export class Shared {
  readonly #new: NewShare;
  readonly #emit: (event: object) => void;
  #share: Share;
  #most = 0;
  #ended: object | undefined;

  constructor(newShare: NewShare, emit: (event: object) => void) {
    this.#new = newShare;
    this.#emit = emit;
    this.#share = newShare();
  }

  /** An attempt at the job begins: the stages come from the first one on. */
  begin(): void {
    this.#pass(false);
    this.#share = this.#new();
  }

  /** The next event. */
  take(event: object): void {
    this.#pass(false);
    if ((event as { readonly kind?: string }).kind === 'exit') this.#ended = event;
    else this.#tell(event, false);
  }

  /** No more will come; `done` says whether the job has been done. */
  end(done: boolean): void {
    this.#pass(done);
  }

  #pass(isLast: boolean): void {
    const ended = this.#ended;
    this.#ended = undefined;
    if (ended) this.#tell(ended, isLast);
  }

  #tell(event: object, isLast: boolean): void {
    this.#most = Math.max(this.#most, this.#share.after(event, isLast));
    this.#emit({ ...event, fraction: this.#most });
  }
}
