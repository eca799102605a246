/** The shapes of the `refloat` package that the demo draws. */
import type { StageEnter, StageExit, StageIds, StageProgress, StageView } from 'refloat';

export type {
  KeyPartInfo,
  KeyProgress,
  Preset,
  StageCounters,
  StageExit,
  StageInfo,
  StageView,
} from 'refloat';

/** Stages of SHIP, the method that this page draws. */
export type StageId = StageIds['ckks-ship'];

/** What a run of SHIP reports. */
export type StageEvent =
  | StageEnter<StageId>
  | StageProgress<StageId>
  | StageExit<StageId>
  | (StageView & { readonly stage: StageId });
