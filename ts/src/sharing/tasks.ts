import type { Helper } from './pool.js';

/** A run whose steps are tasks that others can compute beforehand. */
export interface SharedTasks<R> {
  /** The task whose turn is first, and how many there are. */
  readonly first: number;
  readonly total: number;
  /** How far beyond the turn tasks are begun: a pause is to stop the computing. */
  readonly ahead: number;
  readonly helpers: readonly Promise<Helper<R> | undefined>[];
  readonly signal: AbortSignal;
  /** Whether a task can be begun; the one whose turn it is always can. All can if nothing is said. */
  ready?(task: number): boolean;
  /** Hands the run a result. */
  supply(task: number, result: R): Promise<unknown>;
  /** Computes a task in the run's own worker, before its turn. */
  compute(task: number): Promise<unknown>;
  /** Takes the turn of a task, whose result the run has if it is `finished`. `waitedMs` is what it had to wait for others. */
  step(task: number, waitedMs: number, finished: boolean): Promise<unknown>;
}

/**
 * Does the tasks of a run, in its own worker and in those of a pool. The run takes them in their order,
 * one a step, so that its events are those of a run alone.
 */
export async function shareTasks<R>(tasks: SharedTasks<R>): Promise<void> {
  const { total, signal } = tasks;
  const finished = new Set<number>();
  const claimed = new Set<number>();
  let [turn, stopped] = [tasks.first, false];
  const bell = new Bell();
  const tell = (): void => bell.ring();
  const claim = (): number | undefined => {
    if (stopped || signal.aborted) return undefined;
    for (let task = turn; task < Math.min(total, turn + tasks.ahead + 1); task++) {
      if (claimed.has(task) || tasks.ready?.(task) === false) continue;
      claimed.add(task);
      return task;
    }
    return undefined;
  };

  const help = async (starting: Promise<Helper<R> | undefined>): Promise<void> => {
    const helper = await starting;
    if (!helper) return;
    try {
      while (!stopped && turn < total) {
        const task = claim();
        if (task === undefined) {
          await bell.next();
          continue;
        }
        try {
          const result = await helper.compute(task);
          // The next task need not wait until this one has been taken in.
          void tasks.supply(task, result).then(
            () => finished.add(task),
            () => claimed.delete(task),
          ).then(tell);
          tell();
        } catch {
          // Failed workers are dropped: others take the task.
          claimed.delete(task);
          tell();
          return;
        }
      }
    } finally {
      helper.release();
    }
  };

  for (const starting of tasks.helpers) void help(starting).catch(() => undefined);
  signal.addEventListener('abort', tell, { once: true });
  try {
    let waitedMs = 0;
    while (turn < total) {
      signal.throwIfAborted();
      const own = finished.has(turn) ? turn : claim();
      if (own === undefined) {
        const began = performance.now();
        await bell.next();
        waitedMs += performance.now() - began;
        continue;
      }
      if (own === turn) {
        await tasks.step(own, waitedMs, finished.delete(own));
        waitedMs = 0;
        turn += 1;
      } else {
        await tasks.compute(own);
        finished.add(own);
      }
      tell();
    }
    signal.throwIfAborted();
  } finally {
    stopped = true;
    signal.removeEventListener('abort', tell);
    tell();
  }
}

/** Wakes those that wait for news. */
class Bell {
  #wake: () => void = () => undefined;
  #news = new Promise<void>((resolve) => (this.#wake = resolve));

  /** Wakes everyone who waits now. */
  ring(): void {
    this.#wake();
    this.#news = new Promise((resolve) => (this.#wake = resolve));
  }

  /** Resolves when the bell is next rung. */
  next(): Promise<void> {
    return this.#news;
  }
}
