import type { StepResult } from '../engine/engine.js';
import type { TrackPool } from '../engine/pool.js';
import type { Port } from '../engine/port.js';
import type { SlotMode } from '../params.js';
import type { RunControl } from '../run.js';
import type { StageEvent } from '../stages.js';
import { shareTasks } from './together.js';

/** A run whose tracks are to be spread over a pool. */
export interface SharedRun {
  readonly port: Port;
  readonly pool: TrackPool;
  /** Handles in the engine of `port`. */
  readonly run: number;
  readonly secret: number;
  readonly mode: SlotMode;
  /** The track whose turn is first, and how many there are. */
  readonly first: number;
  readonly total: number;
}

/**
 * Does the tracks of a run, in the engine's own worker and in those of the pool.
 *
 * @param step does the next step of the run; `waitedMs` is what it had to wait for others
 */
export async function rotateTogether(
  shared: SharedRun,
  control: RunControl<StageEvent>,
  step: (waitedMs: number) => Promise<StepResult>,
): Promise<void> {
  const { port, pool, run, first, total } = shared;
  const phases = await port.call('runPhases', run);
  await shareTasks({
    first,
    total,
    ahead: 2 * pool.size,
    helpers: pool.helpers({ mode: shared.mode, phases, secret: () => port.call('secretForPool', shared.secret) }),
    signal: control.signal,
    ready: () => true,
    supply: (track, result) => port.call('runSupply', run, track, result),
    compute: (track) => port.call('runAhead', run, track),
    step: async (_, waitedMs) => {
      await control.gate();
      const { events } = await step(waitedMs);
      for (const event of events) control.emit(event);
    },
  });
}
