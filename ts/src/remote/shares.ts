import { Fraction, OfPlan, type Share, type StageSteps } from '../engine/fraction.js';

/** Makes a new measure of how much is done, for every attempt at a job. */
export type NewShare = () => Share;

/** The share of a job that is done, given its operations: only its bootstraps count, as the others are not reported. */
export function ofBootstraps(stages: readonly StageSteps[], ops: readonly string[], rounds = 1): NewShare {
  const times = rounds * ops.filter((op) => op === 'bootstrap').length;
  return () => new Fraction(stages, times);
}

/** The share of a job with a program. */
export const ofProgram: NewShare = () => new OfPlan();

/** The share of a job with a circuit. */
export const ofCircuit: NewShare = () => Fraction.of(['gates']);

/**
 * The events of a job, each with the share that is done after it. The share never falls, whatever the server has to do again. The end of a
 * stage is held back until the next event tells whether it was the last: only then is everything done.
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

  /** An attempt at the job begins, again from the first stage. */
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
