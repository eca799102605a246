import type { Crossing, Recorded } from './data.js';

/** What the reader asks for. */
export interface State {
  busy: string | undefined;
  paused: boolean;
  problem: string | undefined;
  recorded: Recorded | undefined;
  /** The kind of comparison, by its row. */
  kind: number;
  /** Position of the slider: log2 of the number of comparisons, times `STEPS`. */
  place: number;
  tables: Set<string>;
}

/** Steps of the slider per power of two. */
export const STEPS = 8;

/** The kind of comparison that is shown. */
export function kindOf(state: State): Crossing | undefined {
  return state.recorded?.crossing.rows[state.kind];
}

/** The last position of the slider: a whole ciphertext of comparisons. */
export function lastPlace({ slots }: Crossing): number {
  return Math.floor(Math.log2(slots) * STEPS);
}

/** How many comparisons the slider stands for. */
export function countOf(state: State): number {
  return Math.round(2 ** (state.place / STEPS));
}
