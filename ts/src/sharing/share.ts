import type { EngineRun } from '../engine/engine-run.js';
import type { GlueHelper, GlueRun, GlueTasks } from '../engine/glue.js';
import type { Step } from '../engine/handle.js';
import type { Copy } from './pool.js';

/** A stage of a run whose tasks are shared. */
export interface SharedStage<E, S> {
  readonly tasks: GlueTasks;
  /** Objects in other workers that compute tasks of the stage; they are freed at its end. */
  readonly helpers: readonly Promise<Copy<GlueHelper> | undefined>[];
  /** Does the next step, which computes whatever of its tasks is missing. */
  step(): Promise<Step<boolean, S>>;
  /** Computes a task in the run's own worker, before the step that takes it. */
  ahead(task: number): Promise<Step>;
  /** For stages whose tasks need results of other tasks. */
  readonly dependencies?: {
    /** The tasks whose results a task needs, in their order. */
    readonly needs: (task: number) => readonly number[];
    /** The result of a task that was computed in the run's own worker, if a task needs it. */
    readonly result: (task: number) => Promise<Uint8Array | undefined>;
  };
  /** Fields to add to an event of the step that took a task; the task took `taskMs` milliseconds to compute. */
  more?(event: E, taskMs: number): Partial<E>;
}

/** Tasks that each helper may begin beyond those of the next step; no more, so that a pause stops the computing. */
const AHEAD = 4;

/**
 * Does a stage of a run, computing its tasks in the run's own worker and in others. The run takes the results in the order of the tasks, so
 * that its events are those of an unshared run. Results travel as bytes, and no helper waits for the run's worker. If a helper fails at a
 * task, another one computes it.
 *
 * @returns the last step of the stage
 */
export async function share<E extends { readonly atMs: number }, S>(
  run: EngineRun<Pick<GlueRun, 'supply'>, E>,
  stage: SharedStage<E, S>,
): Promise<Step<boolean, S>> {
  const { port, handle, control } = run;
  const { signal } = control;
  const { next: first, perStep, total } = stage.tasks;
  const needs = (task: number): readonly number[] => stage.dependencies?.needs(task) ?? [];
  const window = perStep + AHEAD * stage.helpers.length;
  const [claimed, finished] = [new Set<number>(), new Set<number>()];
  const [results, times] = [new Map<number, Uint8Array>(), new Map<number, number>()];
  const bell = new Bell();
  let [turn, stopped] = [first, false];

  /** The unfinished tasks of the next step. */
  const missing = (): number[] =>
    Array.from({ length: Math.min(perStep, total - turn) }, (_, i) => turn + i).filter((task) => !finished.has(task));
  const claim = (): number | undefined => {
    if (stopped || signal.aborted) return undefined;
    for (let task = turn; task < Math.min(total, turn + window); task++) {
      if (claimed.has(task) || !needs(task).every((other) => results.has(other))) continue;
      claimed.add(task);
      return task;
    }
    return undefined;
  };
  const giveUp = (task: number): void => {
    claimed.delete(task);
    results.delete(task);
    bell.ring();
  };
  const finish = (task: number): void => {
    finished.add(task);
    bell.ring();
  };
  /** Fetches a result that the run's own worker has computed, for the helpers. */
  const keep = async (task: number): Promise<void> => {
    const result = results.has(task) ? undefined : await stage.dependencies?.result(task);
    if (result) results.set(task, result);
  };

  const help = async (starting: Promise<Copy<GlueHelper> | undefined>): Promise<void> => {
    const helper = await starting;
    if (!helper) return;
    try {
      while (!stopped) {
        const task = claim();
        if (task === undefined) {
          await bell.next();
          continue;
        }
        try {
          const needed = joined(needs(task).map((other) => results.get(other) as Uint8Array));
          const { value: result, ms } = await helper.port.step(helper.handle, 'compute', task, needed);
          if (stage.dependencies) results.set(task, result);
          times.set(task, ms);
          // The next task need not wait until this result has been taken in.
          void port.call(handle, 'supply', task, result).then(
            () => finish(task),
            () => giveUp(task),
          );
          bell.ring();
        } catch {
          // Failed workers are dropped: others take the task.
          giveUp(task);
          return;
        }
      }
    } finally {
      helper.port.release(helper.handle);
    }
  };

  for (const starting of stage.helpers) void help(starting).catch(() => undefined);
  const wake = (): void => bell.ring();
  signal.addEventListener('abort', wake, { once: true });
  try {
    for (let waitedMs = 0; ; ) {
      signal.throwIfAborted();
      const [task, ...others] = missing();
      if (others.length === 0 && (task === undefined || !claimed.has(task))) {
        // The step itself computes what is still missing.
        if (task !== undefined) claimed.add(task);
        if (turn > first) await control.gate();
        run.busyMs += waitedMs;
        waitedMs = 0;
        const [step] = await Promise.all([stage.step(), keep(turn)]);
        const taskMs = times.get(turn) ?? step.ms;
        run.report(step, (event) => stage.more?.(event, taskMs) ?? {});
        turn += perStep;
        if (turn >= total) return step;
        bell.ring();
        continue;
      }
      const own = claim();
      if (own === undefined) {
        const began = performance.now();
        await bell.next();
        waitedMs += performance.now() - began;
        continue;
      }
      const [{ ms }] = await Promise.all([stage.ahead(own), keep(own)]);
      times.set(own, ms);
      finish(own);
    }
  } finally {
    stopped = true;
    signal.removeEventListener('abort', wake);
    bell.ring();
  }
}

/** Concatenates results. */
function joined(results: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(results.reduce((length, result) => length + result.length, 0));
  let at = 0;
  for (const result of results) {
    all.set(result, at);
    at += result.length;
  }
  return all;
}

/** Wakes everyone that waits for news. */
class Bell {
  #wake: () => void = () => undefined;
  #news = new Promise<void>((resolve) => (this.#wake = resolve));

  /** Wakes everyone that is waiting now. */
  ring(): void {
    this.#wake();
    this.#news = new Promise((resolve) => (this.#wake = resolve));
  }

  /** Resolves when the bell is next rung. */
  next(): Promise<void> {
    return this.#news;
  }
}
