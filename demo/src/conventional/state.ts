import type { Preset, Reduction, StageView } from 'refloat';
import type { Staged } from '../staged.js';
import type { Mine } from './own-coefficient.js';

/** What a reader may encrypt. */
export const MESSAGES = {
  chirp: 'a rising tone',
  steps: 'steps',
  noise: 'random numbers',
} as const;
export type MessageKind = keyof typeof MESSAGES;

/** What the page knows. */
export interface State extends Staged<StageView> {
  preset: Preset | undefined;
  busy: 'keys' | 'run' | undefined;
  message: MessageKind;
  /** What was encrypted. */
  input: Float64Array | undefined;
  /** The reader's run has no comb to show yet: the run before it is shown. */
  awaited: boolean;
  /** What came back. */
  output: Float64Array | undefined;
  /** The coefficient that the reader moves. */
  mine: Mine;
  /** log2 of the magnification about an integer. */
  zoom: number;
  /** The degree that is drawn, the set's own polynomial, and the drawn one at the points of `CURVE`. */
  degree: number;
  own: Reduction | undefined;
  drawn: Reduction | undefined;
  /** The drawn polynomial at the coefficients of the run. */
  atPoints: Float64Array | undefined;
}

/** The curve is drawn for x from -8 to 8. */
export const REACH = 8;
export const CURVE = Float64Array.from({ length: 64 * REACH + 1 }, (_, i) => i / 32 - REACH);

/** x of the curve near 0, at a magnification of 2^`zoom`: between -1/2 and 1/2 divided by it. */
export function near(zoom: number): Float64Array {
  return Float64Array.from({ length: 65 }, (_, i) => (i / 64 - 0.5) / 2 ** zoom);
}

/** The most that a message of 1 can contribute to a coefficient, over q0. */
export function unitOf({ views }: Pick<State, 'views'>): number | undefined {
  return views.find((view) => view.view === 'quotients')?.unit;
}

/** The view of a stage, if it has been reached. */
export function viewOf(state: State, stage: string): StageView | undefined {
  // The input's view carries the name of the first stage too.
  return state.views.slice(1).find((view) => view.stage === stage);
}

/** The message has one in this many of the ring's N coefficients: 1 unless the set has few slots. */
export function gapOf({ preset }: Pick<State, 'preset'>): number {
  return preset?.stages.some((stage) => stage.id === 'sub_sum') ? 2 ** preset.logN / (2 * preset.slots) : 1;
}

/** The message's coefficients in a view of quotients: until they are moved into slots, those between them are left out. */
export function ofMessage(state: Pick<State, 'preset'>, view: StageView): { readonly data: Float64Array; readonly indices: Uint32Array } {
  const gap = view.stage === 'mod_raise' || view.stage === 'sub_sum' ? gapOf(state) : 1;
  const own = Array.from(view.indices.keys()).filter((i) => (view.indices[i] ?? 0) % gap === 0);
  return { data: Float64Array.from(own, (i) => view.data[i] ?? 0), indices: Uint32Array.from(own, (i) => (view.indices[i] ?? 0) / gap) };
}

/** The numbers of a message. */
export function numbersOf(kind: MessageKind, slots: number): Float64Array {
  return Float64Array.from({ length: slots }, (_, i) => {
    const t = i / slots;
    if (kind === 'chirp') return 0.9 * Math.sin(2 * Math.PI * (2 * t + 14 * t * t));
    if (kind === 'steps') return [-0.75, 0.25, 0.75, -0.25, 0.5, -1, 1, 0][Math.floor(8 * t)] ?? 0;
    return 2 * Math.random() - 1;
  });
}
