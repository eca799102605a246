import type { KeyPartInfo } from '../params.js';

/** Names of the sets for gates and look-ups that ship with this version and run in the page. */
export type GatePresetName =
  | `bool-${'128' | '64' | '128-ternary'}`
  | `lmk-${'128' | '128-merged' | '64'}`
  | `ntru-${'128' | '64' | 'small'}`
  | `fbs${'8' | '16'}`
  | `toy-bool${'' | '-ternary' | '-lmk' | '-lmk-merged' | '-ntru' | '-ntru-merged' | '-ap'}`
  | 'toy-fbs';

/** Names of the gates; `andny` is (not a) and b, `andyn` a and not b, `mux` a ? b : c. */
export type GateName =
  | 'not'
  | `${'' | 'n'}and`
  | `${'' | 'n'}or`
  | `x${'' | 'n'}or`
  | `and${'ny' | 'yn'}`
  | `or${'ny' | 'yn'}`
  | 'mux'
  | 'maj3'
  | 'xor3'
  | `${'' | 'n'}and3`
  | `${'' | 'n'}or3`;

/** A named parameter set for gates on encrypted bits and look-ups on small integers. */
export interface GatePreset {
  /** Name to pass to `gates.keygen`. */
  readonly name: string;
  /** Title for people. */
  readonly title: string;
  /** For a set of an earlier version, whose keys are read and none made any more: the set to take now. */
  readonly successor?: string | undefined;
  /** `false` for toys, which protect nothing and need `allowInsecure`. */
  readonly secure: boolean;
  /** Where the numbers come from. */
  readonly source: string;
  /** Estimated classical security in bits. */
  readonly securityBits: number;
  /** The estimate in a sentence, with its assumptions. */
  readonly securityStatement: string;
  /** Name of the policy the set was checked against. */
  readonly policy: string;
  /** Hexadecimal fingerprint of every number in the set. */
  readonly fingerprint: string;
  /** How the accumulator is rotated: `ginx-binary`, `ginx-unrolled`, `ginx-ternary`, `lmkcdey`, `ntru`, `ap`. */
  readonly method: string;
  /** log2 of the ring dimension. */
  readonly logN: number;
  /** Dimension of the short key: steps of a blind rotation by the bits of a binary key. */
  readonly lweDimension: number;
  /** Integers below this are what look-ups are promised for; 2 for a set of bits. */
  readonly messages: number;
  /** log2 of the probability, promised, that a result is wrong. */
  readonly logFailure: number;
  /** log2 of the probability, computed from the noise, that a two-input gate is wrong. */
  readonly gateLogFailure: number;
  /** Pieces of the evaluation keys on the wire. */
  readonly keyParts: readonly KeyPartInfo[];
  /** Bytes of the evaluation keys on the wire. */
  readonly keyBytes: number;
  /** Bytes of one encrypted bit on the wire. */
  readonly ciphertextBytes: number;
}
