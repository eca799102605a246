/** The shapes of the `refloat` package that the demo draws. */
import type { ShipStageId, StageEnter, StageExit, StageProgress, StageView } from 'refloat';

export type {
  KeyPartInfo,
  KeyProgress,
  Preset,
  ShipStageId as StageId,
  StageCounters,
  StageExit,
  StageInfo,
  StageView,
} from 'refloat';

/** What a run of SHIP, which is what this page draws, reports. */
export type StageEvent =
  | StageEnter<ShipStageId>
  | StageProgress<ShipStageId>
  | StageExit<ShipStageId>
  | (StageView & { readonly stage: ShipStageId });
