import type { Crossing, Recorded } from './data.js';

/** What the reader asks for. */
export interface State {
  busy: string | undefined;
  paused: boolean;
  problem: string | undefined;
  recorded: Recorded | undefined;
  /** Which kind of comparison. */
  kind: number;
  /** log2 of how many comparisons, in steps of the slider. */
  place: number;
  tables: Set<string>;
}

/** Steps of the slider for each power of two. */
export const STEPS = 8;

/** The kind of comparison that is shown. */
export function kindOf(state: State): Crossing | undefined {
  return state.recorded?.crossing.rows[state.kind];
}

/** The last place of the slider: a whole ciphertext of comparisons. */
export function lastPlace({ slots }: Crossing): number {
  return Math.floor(Math.log2(slots) * STEPS);
}

/** How many comparisons the slider stands for. */
export function countOf(state: State): number {
  return Math.round(2 ** (state.place / STEPS));
}
