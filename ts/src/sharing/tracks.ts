import type { EngineRun } from '../engine/engine-run.js';
import type { GlueBootstrapKeys, GlueRun, GlueSecretKey } from '../engine/glue.js';
import { ckks, classOf, type Handle } from '../engine/handle.js';
import type { SlotMode } from '../params.js';
import type { StageEvent } from '../stages.js';
import type { WorkerPool } from './pool.js';
import { shareTasks } from './tasks.js';

/** The tracks of a run of SHIP: blind rotations that do not depend on each other. */
export interface TracksOfRun {
  readonly boot: Handle<GlueBootstrapKeys>;
  readonly secret: Handle<GlueSecretKey>;
  readonly mode: SlotMode;
  /** The track whose turn is first, and how many there are. */
  readonly first: number;
  readonly total: number;
}

/** Lets the workers of a pool make what tracks of a set need whatever the run. */
export function prepareTracks(pool: WorkerPool, preset: string): void {
  // A worker that fails here fails again when there is work, and is dropped then.
  pool.each((worker) => worker.call(classOf(ckks('main'), 'TrackWorker'), 'prepare', preset));
}

/**
 * Does the tracks of a run, in the run's own worker and in those of the pool.
 *
 * @param step does the next step of the run
 */
export async function shareTracks(
  run: EngineRun<GlueRun, StageEvent>,
  pool: WorkerPool,
  { boot, secret, mode, first, total }: TracksOfRun,
  step: () => Promise<unknown>,
): Promise<void> {
  const { port, handle, control } = run;
  const phases = await port.call(handle, 'phases');
  if (!phases) throw new Error('a run at its tracks has phases');
  const helpers = pool.each(async (worker) => {
    const lent = await port.call(secret, 'exportSecret');
    try {
      const tracks = await worker.ask('trackWorker', [lent, mode, phases.slice()], true);
      return { compute: (index: number) => worker.call(tracks, 'track', index), release: () => worker.release(tracks) };
    } finally {
      // What was moved away is gone from here, and has no length any more; what was not is wiped.
      if (lent.length > 0) lent.fill(0);
    }
  });
  await shareTasks({
    first,
    total,
    ahead: 2 * pool.size,
    helpers,
    signal: control.signal,
    supply: (track, { bytes, counters }) => port.call(handle, 'supplyTrack', track, bytes, counters),
    compute: (track) => run.step('rotateAhead', track, boot),
    step: async (_, waitedMs) => {
      await control.gate();
      run.busyMs += waitedMs;
      await step();
    },
  });
}
