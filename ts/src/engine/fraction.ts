/** An event, with the fields that say how far a run is. */
interface Reported {
  readonly kind?: string;
  readonly stage?: string;
  readonly done?: number;
  readonly total?: number;
}

/** A stage, and the number of its steps. */
export interface StageSteps {
  readonly id: string;
  readonly steps: number;
}

/** What a set says about its stages. */
interface Staged {
  readonly stages: readonly { readonly id: string }[];
  readonly tracks: number;
  readonly treeLevels: number;
}

/** The stages of a bootstrapping with their numbers of steps: each track, and each level of a tree, is a step. */
export function stepsOf({ stages, tracks, treeLevels }: Staged): StageSteps[] {
  const own: Readonly<Record<string, number>> = { blind_rotate: tracks, product_tree: treeLevels };
  return stages.map(({ id }) => ({ id, steps: own[id] ?? 1 }));
}

/** Tells how much of a run is done. */
export interface Share {
  /** The share that is done after an event, from 0 to 1. */
  after(event: object, isLast: boolean): number;
}

/**
 * How much of a run is done, from 0 to 1, according to its events. All steps count the same. The fraction never falls, and only the last
 * event of a run has 1. Stages that are not in the list do not count.
 */
export class Fraction implements Share {
  readonly #steps: ReadonlyMap<string, number>;
  readonly #total: number;
  #finished = 0;
  #last = 0;

  /**
   * @param stages all stages of a bootstrapping
   * @param times how often all of them are run
   */
  constructor(stages: readonly StageSteps[], times = 1) {
    this.#steps = new Map(stages.map(({ id, steps }) => [id, steps]));
    this.#total = times * stages.reduce((sum, { steps }) => sum + steps, 0);
  }

  /** Stages with one step each. */
  static of(ids: readonly string[], times = 1): Fraction {
    return new Fraction(
      ids.map((id) => ({ id, steps: 1 })),
      times,
    );
  }

  /** The share that is done after an event. */
  after(event: object, isLast: boolean): number {
    const { kind, stage = '', done = 0, total = 1 }: Reported = event;
    const steps = this.#steps.get(stage) ?? 0;
    if (kind === 'exit') this.#finished += steps;
    const part = kind === 'progress' ? (steps * done) / total : 0;
    const share = this.#total > 0 ? (this.#finished + part) / this.#total : 0;
    this.#last = isLast ? 1 : Math.max(this.#last, Math.min(share, MOST_BEFORE_THE_END));
    return this.#last;
  }
}

/** The most that a run reports before it has ended. */
const MOST_BEFORE_THE_END = 1 - 2 ** -10;

/**
 * How much of a program is done, according to the progress of its plan. All steps count the same, a bootstrap included, as nothing tells
 * beforehand how many there are. The fraction never falls, as in {@link Fraction}.
 */
export class OfPlan implements Share {
  #last = 0;

  after(event: object, isLast: boolean): number {
    const { kind, stage, done = 0, total = 1 }: Reported = event;
    const share = kind === 'progress' && stage === 'arithmetic' ? done / total : 0;
    this.#last = isLast ? 1 : Math.max(this.#last, Math.min(share, MOST_BEFORE_THE_END));
    return this.#last;
  }
}

/**
 * How much of a program is done: every operation counts as much as one stage of a bootstrap. The fraction never falls, as in
 * {@link Fraction}.
 */
export class Counted implements Share {
  readonly #total: number;
  #done = 0;

  /** @param total number of operations and stages */
  constructor(total: number) {
    this.#total = total;
  }

  after(event: object, isLast: boolean): number {
    const { kind, stage }: Reported = event;
    if (kind === (stage === 'arithmetic' ? 'progress' : 'exit')) this.#done += 1;
    return isLast ? 1 : Math.min(this.#done / this.#total, MOST_BEFORE_THE_END);
  }
}
