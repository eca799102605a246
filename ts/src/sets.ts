// Written by `refloat about --types` from the core's descriptions: run it again instead of editing this.

/** What there is to know of a parameter set: its claims, its sizes, and how it bootstraps. */
export interface SetInfo {
  /** What it is for. */
  readonly scheme: Scheme;
  /** Identifier of the method that refreshes its ciphertexts, such as `ckks-ship`. */
  readonly method: string;
  /** Name, such as `ship13`. */
  readonly name: string;
  /** Human-readable title. */
  readonly title: string;
  /** What the slots hold, unless a job says otherwise. */
  readonly mode: SlotMode;
  /** Whether the set claims to be secure. One that does not protects nothing, and is for tests and demonstrations. */
  readonly secure: boolean;
  /** Where the numbers come from. */
  readonly source: string;
  /** Estimated classical security in bits. */
  readonly securityBits: number;
  /** The estimate in a sentence, with its assumptions. */
  readonly securityStatement: string;
  /** Name of the security policy the set was checked against. */
  readonly policy: string;
  /** First 16 bytes of the digest of the canonical parameters, in hexadecimal: objects of different sets do not mix. */
  readonly fingerprint: string;
  /** log2 of the ring degree. */
  readonly logN: number;
  /** Slots of a ciphertext. */
  readonly slots: number;
  /** log2 of the largest modulus under the main key. */
  readonly logQP: number;
  /** log2 of the largest modulus under the sparse or ephemeral key. */
  readonly logQ0P: number;
  /** Highest level of the chain. */
  readonly maxLevel: number;
  /** Level a ciphertext is bootstrapped from. */
  readonly inputLevel: number;
  /** Level of a fresh ciphertext, and of one that was bootstrapped. */
  readonly outputLevel: number;
  /** Bits of precision that the set promises in the worst slot after one bootstrap, for the messages of `promisedFor`. After k with nothing computed between them it is log2(k) less; a computation multiplies the errors before it by its slope. 1 for a set of gates or of integers, whose promise is `logFailure`. */
  readonly promisedBits: number;
  /** Stages of the bootstrapping, in order. */
  readonly stages: readonly Stage[];
  /** Independent blind rotations; 1 where there are none. */
  readonly tracks: number;
  /** Levels of the product tree; 0 where there is none. */
  readonly treeLevels: number;
  /** Number of pieces of the evaluation key set. */
  readonly parts: number;
  /** Bytes of the whole evaluation key set on the wire. */
  readonly keyBytes: number;
  /** Bytes of a ciphertext on the wire at each level from 0; of one bit for a set of gates. */
  readonly ciphertextBytes: readonly number[];
  /** Bytes of the evaluation key set when loaded for use, with what is precomputed for it. */
  readonly expandedKeyBytes: number;
  /** Further facts about the set, for people. */
  readonly facts?: readonly Fact[] | undefined;
  /** Bits that a further round of META-BTS gains, for sets of numbers. */
  readonly gainBits?: number | undefined;
  /** What a set for gates and look-ups has in addition. */
  readonly gates?: GateInfo | undefined;
  /** Pieces of the evaluation key set; left out of the list unless asked for. */
  readonly keyParts?: readonly Part[] | undefined;
  /** log2 of the probability, promised, that a gate's result is wrong, or a slot of integers after a bootstrap; for conventional bootstrapping and modular reduction, that a bootstrap of random coefficients fails, for as many digits as the set can read. */
  readonly logFailure?: number | undefined;
  /** What integers in slots are modulo, for sets of integers. */
  readonly modulus?: number | undefined;
  /** What a set that compares numbers in slots by gates has in addition. */
  readonly orders?: OrderInfo | undefined;
  /** For which messages precision is promised, in words: `every message with parts in [-1, 1]`, `messages that are random with mean zero`, `every message of bits`, or `every message of integers over their modulus, in [0, 1)`. For sets of CKKS. */
  readonly promisedFor?: string | undefined;
  /** Bits of precision in the mean over the slots, where the set promises them as well. */
  readonly promisedMeanBits?: number | undefined;
  /** Integers in a slot, for sets of integers: 1, or more where a slot is an element of a Galois ring, given by that number of coordinates in a normal basis. Messages have them next to each other, slot after slot. */
  readonly slotDegree?: number | undefined;
  /** For a set of an earlier version, whose keys are still accepted: the set to make new keys of. */
  readonly successor?: string | undefined;
}

/** What a parameter set is for. */
export type Scheme = 'ckks' | 'cggi' | 'bgv';

/** What the slots of a ciphertext hold. */
export type SlotMode = 'real' | 'complex' | 'bits' | 'integers';

/** One stage of a bootstrapping method, known before it runs. */
export interface Stage {
  /** Stable identifier. */
  readonly id: string;
  /** Human-readable title. */
  readonly title: string;
  /** Formula in plain text. */
  readonly symbol: string;
  /** Levels consumed. */
  readonly levels: number;
}

/** One separately uploaded piece of an evaluation key set. */
export interface Part {
  /** Position in the set, from 0. */
  readonly index: number;
  /** What it is. */
  readonly label: string;
  /** Exact length in bytes. */
  readonly bytes: number;
}

/** What a set for gates and look-ups has in addition. */
export interface GateInfo {
  /** How the accumulator is rotated: `ginx-binary`, `ginx-unrolled`, `ginx-ternary`, `lmkcdey`, `ntru` or `ap`. */
  readonly rotation: string;
  /** Dimension of the short key: steps of a blind rotation by the bits of a binary key. */
  readonly lweDimension: number;
  /** Integers below this are what look-ups are promised for; 2 for a set of bits. */
  readonly messages: number;
  /** log2 of the probability, computed from the noise, that a two-input gate is wrong. */
  readonly gateLogFailure: number;
}

/** What a set that compares numbers in slots by gates has in addition. */
export interface OrderInfo {
  /** Most numbers that are ranked at once. */
  readonly ranked: number;
  /** log2 of the probability with which a comparison of numbers at that distance is wrong, at most. */
  readonly logFailure: number;
  /** Stages of a comparison whose results are slots, in order. */
  readonly stages: readonly Stage[];
  /** How far apart numbers in [-1, 1] have to be for that; left out where no distance is enough. */
  readonly leastSigned?: number | undefined;
  /** How far apart numbers in [0, 1] have to be for that; left out where no distance is enough. */
  readonly leastUnit?: number | undefined;
}

/** Something else there is to say of a set, for people. */
export interface Fact {
  /** What it is. */
  readonly label: string;
  /** Its value, with its unit. */
  readonly value: string;
}

/** Names of the sets of each method. */
export interface SetNames {
  readonly 'ckks-ship': 'ship13' | 'ship13-bits' | 'ship14' | 'ship14-he2018' | 'ship13-he2018' | 'ship13-bits-he2018' | 'toy10' | 'toy11' | 'toy11-31';
  readonly 'ckks-conventional': 'n16' | 'n16-sparse' | 'n16-precise' | 'n15' | 'drucker16' | 'toy-conventional11' | 'toy-conventional11-sine' | 'toy-conventional10-sparse' | 'toy-conventional10-slots-first' | 'toy-conventional10-50bit';
  readonly 'ckks-msb': 'msb16' | 'msb16-paper' | 'toy-msb11' | 'toy-msb10';
  readonly 'scheme-switching': 'n15+fbs16-50' | 'n16+fbs16-50' | 'toy-link' | 'msb16+fbs16-50' | 'toy-msb-link';
  readonly 'bgv': 'bgv15' | 'bgv16-gf4' | 'bgv16-786433' | 'toy-bgv10' | 'toy-bgv7' | 'toy-bgv-gf4';
  readonly 'cggi': 'bool-128' | 'bool-64' | 'bool-100-unrolled' | 'bool-128-ternary' | 'lmk-128' | 'lmk-128-merged' | 'lmk-64' | 'ntru-128' | 'ntru-64' | 'ntru-small' | 'fbs8' | 'fbs16' | 'fbs8-50' | 'fbs16-50' | 'toy-bool' | 'toy-bool-unrolled' | 'toy-bool-ternary' | 'toy-bool-lmk' | 'toy-bool-lmk-merged' | 'toy-bool-ntru' | 'toy-bool-ntru-merged' | 'toy-bool-ap' | 'toy-fbs';
}

/** Stages of each method. */
export interface StageIds {
  readonly 'ckks-ship': 'slots_to_coeffs' | 'encapsulate' | 'encode_phase' | 'blind_rotate' | 'product_tree' | 'conjugate';
  readonly 'ckks-conventional': 'mod_raise' | 'coeffs_to_slots' | 'eval_mod' | 'slots_to_coeffs' | 'sub_sum';
  readonly 'ckks-msb': 'slots_to_coeffs' | 'to_ephemeral' | 'discretise' | 'mod_raise' | 'coeffs_to_slots' | 'eval_exp' | 'look_up';
  readonly 'scheme-switching': 'mod_raise' | 'coeffs_to_slots' | 'eval_mod' | 'slots_to_coeffs' | 'to_ephemeral' | 'discretise' | 'eval_exp' | 'look_up';
  readonly 'bgv': 'slots_to_coeffs' | 'prepare' | 'mod_raise' | 'coeffs_to_slots' | 'digit_removal' | 'unpack';
  readonly 'cggi': 'gates';
}

/** Identifiers of the stages that compare numbers in slots by gates, and bring bits back. */
export type OrderStageId = 'slots_to_coeffs' | 'to_gates' | 'compare' | 'look_up' | 'to_slots' | 'mod_raise' | 'eval_mod';

/** Operations that a job can do one after the other, for each scheme. */
export const JOB_OPERATIONS = {
  ckks: ['square', 'bootstrap'],
  bgv: ['square', 'multiply', 'bootstrap'],
} as const;

/** Names of the gates; `andny` is (not a) and b, `andyn` a and not b, `mux` a ? b : c. */
export type GateName = 'not' | 'and' | 'nand' | 'or' | 'nor' | 'xor' | 'xnor' | 'andny' | 'andyn' | 'orny' | 'oryn' | 'mux' | 'maj3' | 'xor3' | 'and3' | 'or3' | 'nand3' | 'nor3';

/** Codes of the core's errors, the same in Rust and in the server's problem documents. */
export const CORE_ERROR_CODES = ['INVALID_ARGUMENT', 'PARAMS_MISMATCH', 'LEVEL_MISMATCH', 'SCALE_MISMATCH', 'PLAINTEXT_MISMATCH', 'INSECURE', 'BAD_BYTES', 'MISSING_KEY', 'LIMIT', 'ABORTED', 'ENTROPY'] as const;
