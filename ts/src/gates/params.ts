import type { SetWithParts } from '../params.js';
import type { GateInfo, SetNames } from '../sets.js';

/** Sets over 64-bit words, which the gates module lacks: only the command line and the library compute with them. @internal */
export const WIDE = ['fbs8-50', 'fbs16-50'] as const satisfies readonly SetNames['cggi'][];

/** Names of the sets for gates and look-ups that ship with this version and run in the page: those over 32-bit words. */
export type GatePresetName = Exclude<SetNames['cggi'], (typeof WIDE)[number]>;

export type { GateName } from '../sets.js';

/** A named parameter set for gates on encrypted bits and look-ups on small integers. */
export interface GatePreset extends SetWithParts {
  readonly gates: GateInfo;
  /** log2 of the promised probability that a result is wrong. */
  readonly logFailure: number;
}
