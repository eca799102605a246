import type { EngineRun } from '../engine/engine-run.js';
import type { GlueBootstrapKeys, GlueMatrixInput, GlueRun, GlueSecretKey } from '../engine/glue.js';
import { ckks, classOf, type Handle } from '../engine/handle.js';
import type { StageEvent } from '../stages.js';
import type { WorkerPool } from './pool.js';
import { shareTasks } from './tasks.js';

/** The first stage of a run of SHIP: groups of diagonals of a matrix, each to be multiplied by a vector. */
export interface DiagonalsOfRun {
  readonly boot: Handle<GlueBootstrapKeys>;
  /** The secret key of an inspected run. */
  readonly inspected: Handle<GlueSecretKey> | undefined;
  readonly preset: string;
  readonly groups: number;
}

/**
 * Does the products of a run's first stage, in the run's own worker and in those of the pool, ahead
 * of the step that needs them.
 */
export async function shareDiagonals(
  run: EngineRun<GlueRun, StageEvent>,
  pool: WorkerPool,
  { boot, inspected, preset, groups }: DiagonalsOfRun,
): Promise<void> {
  const { port, handle } = run;
  if (inspected) await run.step('inspectInput', inspected);
  const { scale, steps }: GlueMatrixInput = (await run.step('matrixInput', boot)).value;
  const helpers = pool.each(async (worker) => {
    const matrix = await worker.call(classOf(ckks('main'), 'MatrixWorker'), 'begin', preset, scale, steps);
    return { compute: (group: number) => worker.call(matrix, 'group', group), release: () => worker.release(matrix) };
  });
  await shareTasks({
    first: 0,
    total: groups,
    ahead: groups,
    helpers,
    signal: run.control.signal,
    supply: (group, words) => port.call(handle, 'supplyGroup', group, words),
    compute: (group) => run.step('multiplyAhead', group),
    step: async (group, waitedMs, finished) => {
      run.busyMs += waitedMs;
      if (!finished) await run.step('multiplyAhead', group);
    },
  });
}
