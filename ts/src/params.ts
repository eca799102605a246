import type { StageId } from './stages.js';

/** Names of the parameter sets that ship with this version. */
export type PresetName = `toy${'10' | '11' | '11-31'}` | `ship13${'' | '-bits'}${'' | '-he2018'}` | 'ship14';

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
  /** log2 of the largest modulus under the dense key. */
  readonly logQP: number;
  /** log2 of the largest modulus under the sparse key. */
  readonly logQ0P: number;
  /** Highest level. */
  readonly maxLevel: number;
  /** Level at which a ciphertext is exhausted and can be bootstrapped. */
  readonly inputLevel: number;
  /** Level of a fresh or bootstrapped ciphertext. */
  readonly outputLevel: number;
  /** Bits of precision promised for the worst slot after one bootstrapping. */
  readonly promisedBits: number;
  /** Stages of the bootstrapping, in order. */
  readonly stages: readonly StageInfo[];
  /** Independent blind rotations of one bootstrapping. */
  readonly tracks: number;
  /** Levels of the product tree. */
  readonly treeLevels: number;
  /** Pieces of the bootstrapping keys. Empty when a server was not asked for them. */
  readonly keyParts: readonly KeyPartInfo[];
  /** Bytes of the whole key set on the wire. */
  readonly keyBytes: number;
  /** Bytes of a ciphertext on the wire, by level. */
  readonly ciphertextBytes: readonly number[];
}
