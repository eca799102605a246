import type { Preset } from 'refloat/client';
import type { Made } from '../keys.js';
import type { Making } from '../shell.js';
import { seenIn, SHOWN, type Pass } from './passes.js';
import type { ReadingName } from './readings.js';

/** A reading as it was observed in this tab, or as it was recorded. */
export interface Seen {
  readonly reading: ReadingName;
  readonly table: readonly number[];
  /** The numbers of the slots that are drawn, the reader's first. */
  readonly numbers: Float64Array;
  readonly passes: readonly Pass[];
  /** What came back. */
  output?: Float64Array;
  /** Level of the input, and of the result. */
  readonly level: number;
  outputLevel?: number;
  /** Milliseconds of the stages together. */
  ms: number;
  /** Who made it, if it is a recording. */
  readonly recorded?: string;
}

/** What the page knows. */
export interface State extends Making {
  preset: Preset | undefined;
  busy: 'keys' | 'run' | undefined;
  keys: Made | undefined;
  /** What the next run reads, and the number it reads it from. */
  reading: ReadingName;
  number: string;
  /** The other numbers lie within 2^`range`. */
  range: number;
  table: number[];
  /** What is shown. */
  seen: Seen | undefined;
  /** The reader's run has nothing to show yet, so the previous run is shown. */
  awaited: boolean;
  /** The step that is shown: each pass has three. */
  at: number;
  /** Which of the drawn slots is followed. */
  slot: number;
  /** The stage under way. */
  under: string | undefined;
}

/** Steps that can be shown. */
export function reached({ seen }: Pick<State, 'seen'>): number {
  return seen ? seenIn(seen.passes) : 0;
}

/** Pass and stage of a step. */
export function placeOf(at: number): { readonly pass: number; readonly stage: (typeof SHOWN)[number] } {
  return { pass: Math.floor(at / SHOWN.length), stage: SHOWN[at % SHOWN.length] ?? 'look_up' };
}
