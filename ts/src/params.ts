import type { StageId } from './stages.js';

/** Names of the parameter sets that ship with this version. */
export type PresetName =
  | `toy${'10' | '11' | '11-31'}`
  | `ship13${'' | '-bits'}${'' | '-he2018'}`
  | 'ship14'
  | 'n15'
  | `n16${'' | '-sparse' | '-precise'}`
  | `toy-conventional${'11' | '11-sine' | '10-sparse' | '10-slots-first' | '10-50bit'}`;

/** How a set bootstraps: by blind rotations, or by a polynomial that reduces modulo q0. */
export type Method = 'ckks-ship' | 'ckks-conventional';

/** What the slots of a set hold: reals in [-1, 1], complex numbers, or bits. */
export type SlotMode = 'real' | 'complex' | 'bits';

/** One stage of the bootstrapping method, known before anything runs. */
export interface StageInfo {
  /** Stable identifier. */
  readonly id: StageId;
  /** Title for people. */
  readonly title: string;
  /** What the stage computes, as a formula in plain text. */
  readonly symbol: string;
  /** Levels it consumes. */
  readonly levels: number;
}

/** One independently readable piece of a key set. */
export interface KeyPartInfo {
  /** Position in the set. */
  readonly index: number;
  /** What it is, e.g. a column of a track. */
  readonly label: string;
  /** Its exact length on the wire. */
  readonly bytes: number;
}

/**
 * A named parameter set. Nobody chooses primes by hand: a set carries its own numbers, its security
 * estimate and what may be expected of it.
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
export interface Preset {
  /** Name to pass to `keygen`. A server may offer sets this version has no name for. */
  readonly name: string;
  /** Title for people. */
  readonly title: string;
  /** For a set of an earlier version, whose keys are read and none made any more: the set to take now. */
  readonly successor?: string | undefined;
  /** How it bootstraps. The module of conventional sets is loaded with the first of them. */
  readonly method: Method;
  /** What the slots hold. */
  readonly mode: SlotMode;
  /** `false` for toys, which protect nothing and need `allowInsecure`. */
  readonly secure: boolean;
  /** Estimated classical security in bits. */
  readonly securityBits: number;
  /** The estimate in a sentence, with its assumptions. */
  readonly securityStatement: string;
  /** Name of the policy the set was checked against. */
  readonly policy: string;
  /** Where the numbers come from. */
  readonly source: string;
  /** Hexadecimal fingerprint of every number in the set; objects of different sets do not mix. */
  readonly fingerprint: string;
  /** log2 of the ring dimension. */
  readonly logN: number;
  /** Numbers per ciphertext. */
  readonly slots: number;
  /** log2 of the largest modulus under the main key. */
  readonly logQP: number;
  /** log2 of the largest modulus under the sparse or ephemeral key. */
  readonly logQ0P: number;
  /** Highest level. */
  readonly maxLevel: number;
  /** Level at which a ciphertext is exhausted and can be bootstrapped. */
  readonly inputLevel: number;
  /** Level of a fresh or bootstrapped ciphertext. */
  readonly outputLevel: number;
  /**
   * Bits of precision promised for the worst slot after one bootstrapping, for the messages of `promisedFor`. After k with
   * nothing computed between them it is log2(k) less; a computation multiplies the errors before it by its slope.
   */
  readonly promisedBits: number;
  /** Messages that the promise is for: `every message with parts in [-1, 1]`, or those that are random with mean zero. */
  readonly promisedFor: string;
  /** Bits that a further round gains (`rounds` of `KeySet.bootstrap`); none for sets of bits. */
  readonly gainBits?: number | undefined;
  /** Stages of the bootstrapping, in order. */
  readonly stages: readonly StageInfo[];
  /** Independent blind rotations of one bootstrapping; 1 where there are none. */
  readonly tracks: number;
  /** Levels of the product tree, if there is one. */
  readonly treeLevels: number;
  /** Pieces of the bootstrapping keys. Empty when a server was not asked for them. */
  readonly keyParts: readonly KeyPartInfo[];
  /** Bytes of the whole key set on the wire. */
  readonly keyBytes: number;
  /** Bytes of a ciphertext on the wire, by level. */
  readonly ciphertextBytes: readonly number[];
}

/**
 * The polynomial with which a conventional bootstrapping takes x = m/q0 + I to m/q0.
 *
 * `sine`: a scaled cosine of x - `shift`, whose angle is doubled `doubleAngles` times, over 2 pi; then an arcsine, if
 * there is one. Without it precision is for messages that are random with mean zero.
 *
 * `harmonics`: e^(2 pi i x), squared `doubleAngles` times from a smaller angle, and a1 sin(2 pi x) + a2 sin(4 pi x) of it:
 * for every message.
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
  /** How often its angle is doubled: by a squaring each. */
  readonly doubleAngles: number;
  /** Degree of the arcsine; 0 where the sine alone will do. */
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
   * Coefficients in these Chebyshev polynomials, that of T_0 first: of the cosine, or of the exponential, real where even
   * and imaginary where odd.
   */
  readonly coefficients: Float64Array;
  /**
   * Largest error of the cosine, before its angle is doubled; of harmonics, that of the whole reduction about the
   * integers up to three quarters of the range.
   */
  readonly fitError: number;
  /** Values at the points that were asked for. */
  readonly values: Float64Array;
}
