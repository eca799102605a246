import type { GroupHelper, TrackPool } from '../engine/pool.js';
import type { Port } from '../engine/port.js';
import type { RunControl } from '../run.js';
import type { StageEvent } from '../stages.js';
import { Bell } from './bell.js';

/**
 * Does the products of a run's first stage, in the engine's own worker and in those of the pool, ahead
 * of the step that needs them.
 *
 * @param run a run that has done no step, in the engine of `port`
 * @returns milliseconds in which the engine's own worker waited for the others
 */
export async function multiplyTogether(
  { port, pool, run, preset }: { readonly port: Port; readonly pool: TrackPool; readonly run: number; readonly preset: string },
  control: RunControl<StageEvent>,
): Promise<number> {
  const total = await port.call('runGroups', run);
  const { events, input } = await port.call('runMatrix', run);
  for (const event of events) control.emit(event);
  const again: number[] = [];
  const bell = new Bell();
  let [next, away, waitedMs, stopped] = [0, 0, 0, false];
  const claim = (): number | undefined => {
    if (stopped || control.signal.aborted) return undefined;
    return again.shift() ?? (next < total ? next++ : undefined);
  };

  const help = async (starting: Promise<GroupHelper | undefined>): Promise<void> => {
    const helper = await starting;
    if (!helper) return;
    for (let group = claim(); group !== undefined; group = claim()) {
      const mine = group;
      away += 1;
      try {
        const words = await helper.group(mine);
        // The next group need not wait until this one has been taken in.
        void port.call('runSupplyGroup', run, mine, words).catch(() => again.push(mine)).finally(() => {
          away -= 1;
          bell.ring();
        });
      } catch {
        // A worker that fails is done without: others take its group.
        again.push(mine);
        away -= 1;
        bell.ring();
        break;
      }
    }
    helper.release();
  };
  for (const starting of pool.multipliers(preset, input)) void help(starting);

  try {
    for (;;) {
      const own = claim();
      if (own !== undefined) {
        await port.call('runMultiply', run, own);
        continue;
      }
      if (away === 0) break;
      const began = performance.now();
      await bell.next();
      waitedMs += performance.now() - began;
    }
  } finally {
    stopped = true;
  }
  control.signal.throwIfAborted();
  return waitedMs;
}
