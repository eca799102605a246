import type { NativeOnly } from './digits/native.js';
import type { CkksMethod } from './engine/modules.js';
import type { Part, SetInfo, SetNames, Stage } from './sets.js';
import type { StageId } from './stages.js';

export type { Fact, GateInfo, OrderInfo, Part as KeyPartInfo, Scheme, SetInfo, SlotMode } from './sets.js';

/** How a set bootstraps. */
export type Method = keyof SetNames;

/** Names of the CKKS sets of this version that run in the page. */
export type PresetName = Exclude<SetNames[CkksMethod], NativeOnly>;

/** A set with the pieces of its evaluation keys. */
export interface SetWithParts extends SetInfo {
  /** Pieces of the evaluation keys on the wire. Empty when a server was not asked for them. */
  readonly keyParts: readonly Part[];
}

/** One stage of the bootstrapping method, known before anything runs. */
export interface StageInfo extends Stage {
  readonly id: StageId;
}

/**
 * A named parameter set. Nobody chooses primes by hand: a set carries its own numbers, its security
 * estimate and what may be expected of it. A server may offer sets that this version has no name for.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * for (const p of rf.presets()) console.log(p.name, p.slots, p.secure ? p.securityStatement : 'INSECURE');
 * rf.close();
 * ```
 */
export interface Preset extends SetWithParts {
  readonly method: Method;
  readonly stages: readonly StageInfo[];
}

/** An odd polynomial that brings values back into [-1, 1], as coefficients for `Value.polynomial`. */
export interface Clamp {
  /** Ends of the interval that values must lie in, beyond ±1 by the overshoot. */
  readonly interval: readonly [number, number];
  /** Coefficients in Chebyshev polynomials over `interval`, starting with T_0. */
  readonly coefficients: Float64Array;
  /** Largest difference from x up to 1 - margin, and from the sign of x beyond 1. */
  readonly error: number;
}

/**
 * The polynomial with which a conventional bootstrapping takes x = m/q0 + I to m/q0.
 *
 * `sine`: a scaled cosine of x - `shift`, whose angle is doubled `doubleAngles` times, over 2 pi; then an arcsine, if there is one. Without
 * the arcsine, the precision holds for messages that are random with mean zero.
 *
 * `harmonics`: e^(2 pi i x), computed at a smaller angle and squared `doubleAngles` times, then combined to
 * a1 sin(2 pi x) + a2 sin(4 pi x); precise for every message.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * const { degree, values } = await rf.reduction('toy-conventional11', [3.001, -7.001]);
 * console.log(degree, values); // 31, and nearly 0.001 and -0.001
 * rf.close();
 * ```
 */
export interface Reduction {
  /** Which function of x it is. */
  readonly kind: 'sine' | 'harmonics';
  /** |x| must stay below this. */
  readonly range: number;
  /** Degree of the cosine, or of the exponential. */
  readonly degree: number;
  /** How often the angle is doubled, by one squaring each time. */
  readonly doubleAngles: number;
  /** Degree of the arcsine; 0 if the sine alone is enough. */
  readonly arcsineDegree: number;
  /** Levels it takes. */
  readonly levels: number;
  /** Key switches for one ciphertext. */
  readonly keySwitches: number;
  /** What is subtracted from x. */
  readonly shift: number;
  /** Ends of the interval of x - `shift` over which the Chebyshev polynomials are taken. */
  readonly interval: Float64Array;
  /**
   * Coefficients in these Chebyshev polynomials, starting with T_0: of the cosine, or of the exponential, where even ones are real and odd
   * ones imaginary.
   */
  readonly coefficients: Float64Array;
  /**
   * Largest error of the cosine, before its angle is doubled; for `harmonics`, that of the whole reduction around the integers up to three
   * quarters of the range.
   */
  readonly fitError: number;
  /** Values at the points that were asked for. */
  readonly values: Float64Array;
}
