import type { SetWithParts } from '../params.js';
import type { SetNames, StageIds } from '../sets.js';
import type { StageEnter, StageExit } from '../stages.js';

/** Names of the sets of integers that ship with this version. */
export type IntegerPresetName = SetNames['bgv'];

/** Stages of a bootstrapping of integers. */
export type IntegerStageId = StageIds['bgv'];

/** What a bootstrapping of integers reports: `logScale` is log2 of the modulus of what is encrypted. */
export type IntegerEvent = StageEnter<IntegerStageId> | StageExit<IntegerStageId>;

/** A named parameter set for exact integers. */
export interface IntegerPreset extends SetWithParts {
  /** Integers are modulo this. */
  readonly modulus: number;
  /** log2 of the probability, promised, that a bootstrap gives a wrong integer. */
  readonly logFailure: number;
}
