import type { StageEnter, StageExit, StageProgress } from '../stages.js';

/** Identifiers of the stages of a gate's bootstrapping, in order. */
export type GateStageId = 'key_switch' | 'mod_switch' | 'blind_rotate' | 'sample_extract';

/**
 * What the run of a circuit reports: one stage, `gates`. Its progress counts gates in the order of
 * `CircuitInfo.gates`, so `done - 1` is the one that was just finished (here; a server reports in
 * batches).
 */
export type CircuitEvent = StageEnter<'gates'> | GateProgress | StageExit<'gates'>;

/** Gates of a circuit are finished: one in the page, a batch on a server. `done` counts them, from 1 to `total`. */
export interface GateProgress extends StageProgress<'gates'> {
  /** Milliseconds that the gate took, in whichever thread, above 0; absent for runs on a server. */
  readonly gateMs?: number;
}

/**
 * What the state of a gate's bootstrapping holds after a stage, decrypted in this page with the
 * reader's own key.
 */
export interface GateView {
  /** Tells it from other events. */
  readonly kind: 'view';
  /** The stage that left this state; before the first stage `input`, the sum of the operands that the gate takes. */
  readonly stage: GateStageId | 'input';
  /** Milliseconds of work since the run began, from 0; decrypting for the view is not counted. */
  readonly atMs: number;
  /** `phase`: one number; `polynomial`: all coefficients of the accumulator. */
  readonly form: 'phase' | 'polynomial';
  /**
   * In turns, from -1/2 to 1/2, noise included. For a bit, 1/8 stands for 1 and -1/8 for 0. For an integer below `messages`, m stands at m
   * / (2 `messages`), and until the blind rotation half a step, 1 / (4 `messages`), above.
   */
  readonly data: Float64Array;
}

/** What the bootstrapping of one gate or look-up reports. */
export type GateEvent = StageEnter<GateStageId> | StageProgress<GateStageId> | StageExit<GateStageId> | GateView;
