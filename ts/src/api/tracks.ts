import type { StepResult } from '../engine/engine.js';
import type { TrackHelper, TrackPool } from '../engine/pool.js';
import type { Port } from '../engine/port.js';
import type { SlotMode } from '../params.js';
import type { RunControl } from '../run.js';
import type { StageEvent } from '../stages.js';
import { Bell } from './bell.js';

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
 * Does the tracks of a run, in the engine's own worker and in those of the pool. The run takes them
 * in their order, one a step, so that its events are those of a run alone.
 *
 * @param step does the next step of the run; `waitedMs` is what it had to wait for others
 */
export async function rotateTogether(
  shared: SharedRun,
  control: RunControl<StageEvent>,
  step: (waitedMs: number) => Promise<StepResult>,
): Promise<void> {
  const { port, pool, run, total } = shared;
  const phases = await port.call('runPhases', run);
  const finished = new Set<number>();
  const again: number[] = [];
  let [turn, next, stopped] = [shared.first, shared.first, false];
  const bell = new Bell();
  const tell = (): void => bell.ring();
  // A pause is to stop the computing, so nobody runs far ahead.
  const ahead = 2 * pool.size;
  const claim = (): number | undefined => {
    if (stopped || control.signal.aborted) return undefined;
    return again.shift() ?? (next < total && next <= turn + ahead ? next++ : undefined);
  };

  const help = async (starting: Promise<TrackHelper | undefined>): Promise<void> => {
    const helper = await starting;
    if (!helper) return;
    try {
      while (!stopped && turn < total) {
        const track = claim();
        if (track === undefined) {
          await bell.next();
          continue;
        }
        try {
          const result = await helper.track(track);
          // The next track need not wait until this one has been taken in.
          void port.call('runSupply', run, track, result).then(
            () => finished.add(track),
            () => again.push(track),
          ).then(tell);
        } catch {
          // A worker that fails is done without: others take its track.
          again.push(track);
          tell();
          return;
        }
      }
    } finally {
      helper.release();
    }
  };

  for (const starting of pool.helpers({
    mode: shared.mode,
    phases,
    secret: () => port.call('secretForPool', shared.secret),
  })) {
    void help(starting).catch(() => undefined);
  }
  control.signal.addEventListener('abort', tell, { once: true });

  try {
    let waitedMs = 0;
    while (turn < total) {
      control.signal.throwIfAborted();
      const own = finished.has(turn) ? turn : claim();
      if (own === undefined) {
        const began = performance.now();
        await bell.next();
        waitedMs += performance.now() - began;
        continue;
      }
      if (own === turn) {
        await control.gate();
        const { events } = await step(waitedMs);
        waitedMs = 0;
        finished.delete(turn);
        turn += 1;
        for (const event of events) control.emit(event);
      } else {
        await port.call('runAhead', run, own);
        finished.add(own);
      }
      tell();
    }
  } finally {
    stopped = true;
    control.signal.removeEventListener('abort', tell);
    tell();
  }
}
