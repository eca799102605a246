import type { CkksMethod } from './engine/modules.js';
import type { OrderStageId, StageIds } from './sets.js';

export type { OrderStageId, StageIds };

/**
 * Identifiers of the stages of CKKS: of bootstrapping (`meta_correct` ends each round after the first, if there are several) and of
 * comparison.
 */
export type StageId = StageIds[CkksMethod] | OrderStageId | 'meta_correct';

/** Work done by a stage, in units that do not depend on the machine: whole numbers from 0. */
export interface StageCounters {
  /** Number-theoretic transforms, each of one polynomial modulo one prime. */
  readonly ntt: number;
  /** Pointwise multiply-accumulates, each of one polynomial modulo one prime. */
  readonly limbMac: number;
  /** Inner products with a key. */
  readonly keySwitch: number;
}

interface StageEventBase<S> {
  /** The stage that the event belongs to. */
  readonly stage: S;
  /**
   * Milliseconds from 0. In the page: of work since the run began, not counting pauses. On a server: since it began the job, or began it
   * again, which sets them back to 0.
   */
  readonly atMs: number;
  /**
   * How much of the whole run is done, from 0 to 1, counted in steps. It never falls, and the last event has 1. For a program on a server,
   * a bootstrap counts as one step. All events of a run have it, except in records of earlier versions.
   */
  readonly fraction?: number;
}

/** A stage begins. */
export interface StageEnter<S = StageId> extends StageEventBase<S> {
  /** Tells it from other events. */
  readonly kind: 'enter';
}

/** `done` of `total` parts of a stage are finished. Stages without parts have no such events. */
export interface StageProgress<S = StageId> extends StageEventBase<S> {
  /** Tells it from other events. */
  readonly kind: 'progress';
  /** Parts finished: a whole number that only grows within the stage, from 0 or 1 to `total`. Several may finish between two events. */
  readonly done: number;
  /**
   * Parts in all, 1 or more: tracks (`blind_rotate` of numbers), products (`blind_rotate` of a gate), levels of the tree
   * (`product_tree`), digits or ranks (`look_up`), pairs of numbers (`compare`), gates (`gates`), steps of a program's plan (`arithmetic`).
   */
  readonly total: number;
}

/** A stage is complete, and this is the ciphertext it left. */
export interface StageExit<S = StageId> extends StageEventBase<S> {
  /** Tells it from other events. */
  readonly kind: 'exit';
  /** Level of the ciphertext, from 0 to `params.maxLevel`; 0 for gates, which have no levels. */
  readonly level: number;
  /** log2 of its modulus, in bits; 0 for a circuit, whose gates each have their own. */
  readonly logQ: number;
  /**
   * log2 of its scale, the factor that messages are multiplied by, in bits; for integers, log2 of the plaintext modulus; 0 for a circuit.
   */
  readonly logScale: number;
  /** Work done by the stage. */
  readonly counters: StageCounters;
}

/**
 * What a ciphertext inside the run holds, decrypted in this page with the reader's own key. Only
 * runs made here with `inspect: true` have these; a server cannot.
 */
export interface StageView extends StageEventBase<StageId> {
  /** Tells it from other events. */
  readonly kind: 'view';
  /** Index of the blind rotation, from 0 to `params.tracks` - 1; only in views of SHIP's `blind_rotate`. */
  readonly track?: number;
  /** Level of the product tree, from 1 to `params.treeLevels`; only in views of `product_tree`. */
  readonly levelOfTree?: number;
  /**
   * `slots`: interleaved re, im; `coefficients`: reals in units of the message, Re | Im; `phases`: angles in turns, the message divided by
   * the set's gap gamma; `quotients`: coefficients of the message over q0, with the integers that a raised modulus adds. With few slots,
   * `mod_raise` and `sub_sum` show all coefficients of the ring, of which every 2^logN / (2 slots)-th is the message's.
   */
  readonly view: 'slots' | 'coefficients' | 'phases' | 'quotients';
  /** What a message of 1 amounts to in these numbers, above 0. */
  readonly unit: number;
  /** At most 1024 points, evenly spread, each as `view` says: one number, or for `slots` two. */
  readonly data: Float64Array;
  /** The results of exact arithmetic for the same points, in the same layout. */
  readonly expected: Float64Array;
  /** The index of each point's slot or coefficient, counted from 0, in ascending order. */
  readonly indices: Uint32Array;
  /** Largest error against the exact computation, over all slots or coefficients, not only those shown; in the unit of `data`. */
  readonly maxError: number;
  /** Root mean square of these errors, in the same unit. */
  readonly rmsError: number;
  /** Bits of precision in the worst slot or coefficient: log2 of `unit` over `maxError`. Infinity if there is no error. */
  readonly bitsMax: number;
  /** Bits of precision by the root mean square, as `bitsMax`. */
  readonly bitsRms: number;
}

/** Everything a bootstrapping reports, in the browser and on the server. */
export type StageEvent = StageEnter | StageProgress | StageExit | StageView;

/** Progress of key generation or of an upload. All fields are always present. */
export interface KeyProgress {
  /** Tells it from other events. */
  readonly kind: 'progress';
  /** Parts finished, from 0 to `total`; for an upload, including those that the server had before. */
  readonly done: number;
  /** Parts in all: `params.keyParts.length`, or the number of keys for arithmetic. */
  readonly total: number;
  /** Bytes of the parts finished, from 0 to `totalBytes`. */
  readonly bytes: number;
  /** Bytes of all parts: on the wire, `params.keyBytes`; for arithmetic keys, in memory. */
  readonly totalBytes: number;
  /** `bytes` over `totalBytes`, from 0 to 1. */
  readonly fraction: number;
  /** The part finished last, in words for people. */
  readonly label: string;
}
