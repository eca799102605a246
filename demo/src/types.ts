/** The shapes of the `refloat` package that the demo draws. */
export type {
  KeyPartInfo,
  KeyProgress,
  Preset,
  StageCounters,
  StageEvent,
  StageExit,
  StageId,
  StageInfo,
  StageView,
} from 'refloat';
