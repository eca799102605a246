import type { SetWithParts } from '../params.js';
import type { ProgramEvent } from '../program/run.js';
import type { SetNames, StageIds } from '../sets.js';
import type { StageEnter, StageExit } from '../stages.js';

/** Names of the sets of integers that ship with this version. */
export type IntegerPresetName = SetNames['bgv'];

/** Stages of a bootstrapping of integers. */
export type IntegerStageId = StageIds['bgv'];

/**
 * What the owner of the key sees in the page with `inspect`, before the first stage (`input`) and after each one: two digits, low + p^t y,
 * for every integer of a slot, or for every coefficient.
 */
export interface IntegerView {
  /** Tells it from other events. */
  readonly kind: 'view';
  /** The stage whose result it is; `input` before the first. */
  readonly stage: IntegerStageId | 'input';
  /** Milliseconds of work since the run began, from 0; decrypting for the view is not counted. */
  readonly atMs: number;
  /** Whether the digits are in slots or in coefficients. */
  readonly place: 'slots' | 'coefficients';
  /** The low digits, one for each integer or coefficient, around 0: all 0 before the ciphertext is prepared, and after the removal. */
  readonly low: Int32Array;
  /**
   * The message, read from y, from 0 to `params.modulus` - 1, for each integer or coefficient. In sets that remove the digits separately
   * from the message: the rest of y after the raise, which is 0 once the digits have been subtracted.
   */
  readonly high: Uint32Array;
}

/** What a bootstrapping of integers reports; its views have no `fraction`. */
export type IntegerEvent = StageEnter<IntegerStageId> | StageExit<IntegerStageId> | IntegerView;

/** What a program on integers reports. */
export type IntegerProgramEvent = ProgramEvent<IntegerStageId | 'arithmetic'>;

/** The polynomial x - D(x) modulo p^e that removes a low digit: D(I + p^t y) = I for all |I| up to a bound. */
export interface DigitRemoval {
  /** p. */
  readonly prime: number;
  /** e. */
  readonly exponent: number;
  /** t. */
  readonly digitExponent: number;
  /** The largest digit. */
  readonly bound: number;
  /** Coefficients modulo p^e, nearest to 0, from low to high degree. */
  readonly coefficients: Float64Array;
  /** Levels that its evaluation takes. */
  readonly levels: number;
  /** Key switches that its evaluation takes. */
  readonly keySwitches: number;
}

/** A named parameter set for exact integers. */
export interface IntegerPreset extends SetWithParts {
  /** Modulus of the integers. */
  readonly modulus: number;
  /**
   * Integers per slot: 1, or more if a slot is an element of a Galois ring. Modulo p the ring is the field of p^slotDegree elements, and an
   * element is given by `slotDegree` coordinates in a normal basis. Messages have `slots * slotDegree` integers; those of a slot are
   * adjacent.
   */
  readonly slotDegree: number;
  /** log2 of the promised probability that a bootstrap gives a wrong integer. */
  readonly logFailure: number;
}
