import type { EngineRun } from '../engine/engine-run.js';
import type { GlueBootstrapKeys, GlueRun, GlueSecretKey, GlueTasks } from '../engine/glue.js';
import { ckks, classOf, type Handle, type Step } from '../engine/handle.js';
import type { StageEvent } from '../stages.js';
import type { WorkerPool } from './pool.js';
import { share } from './share.js';

/** What the stages of a shared bootstrapping have in common. */
export interface SharedBootstrap<S> {
  readonly boot: Handle<GlueBootstrapKeys>;
  readonly secret: Handle<GlueSecretKey>;
  readonly preset: string;
  /** Does the next step of the run. */
  step(): Promise<Step<boolean, S>>;
}

const HELPER = classOf(ckks('main'), 'Helper');

/** Lets the workers of a pool prepare what a set's tracks need in every run. */
export function prepareHelpers(pool: WorkerPool, preset: string): void {
  // A worker that fails here fails again when there is work, and is then dropped.
  pool.each((worker) => worker.call(HELPER, 'prepare', preset));
}

/** Does a stage of a bootstrapping in the run's own worker and in those of the pool, which are lent the secret key if they need it. */
export async function shareBootstrap<S>(
  run: EngineRun<GlueRun, StageEvent>,
  pool: WorkerPool,
  tasks: GlueTasks,
  { boot, secret, preset, step }: SharedBootstrap<S>,
): Promise<Step<boolean, S>> {
  const { port } = run;
  const { value: brief } = await run.step('brief', boot);
  const helpers = pool.each(async (worker) => {
    const lent = tasks.secret ? await port.call(secret, 'exportSecret') : undefined;
    try {
      return { port: worker, handle: await worker.move(HELPER, 'begin', preset, brief.slice(), lent) };
    } finally {
      // A buffer that was moved has left this side and has no length any more; one that was not moved is wiped.
      if (lent && lent.length > 0) lent.fill(0);
    }
  });
  return share(run, { tasks, helpers, step, ahead: (task) => run.step('ahead', boot, task) });
}
