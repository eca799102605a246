import type { DigitRemoval, IntegerPreset, IntegerStageId, IntegerView } from 'refloat';
import { bundled } from '../input/picture.js';
import { gridFor, type Grid } from '../input/source.js';
import type { Staged } from '../staged.js';

/** What a reader may encrypt. */
export const PICTURES = {
  boat: 'the sailing boat',
  ramp: 'all grey levels in order',
  noise: 'random integers',
} as const;
export type Picture = keyof typeof PICTURES;

/** What the page knows; of a run on a server it has only the views of the input and of the result. */
export interface State extends Staged<IntegerView | undefined, IntegerStageId> {
  preset: IntegerPreset | undefined;
  /** The polynomial of the set. */
  removal: DigitRemoval | undefined;
  /** Sets that the server offers; empty without a server. */
  offers: readonly string[];
  /** The server's set that the page computes with; undefined for this tab's. */
  there: string | undefined;
  busy: 'set' | 'keys' | 'run' | undefined;
  picture: Picture;
  /** What is encrypted, one integer per slot. */
  input: Uint32Array | undefined;
  /** The slot or coefficient that is followed. */
  slot: number;
  /** After how many powers of x the polynomial is cut off. */
  terms: number;
  /** What came back, and its square, computed under encryption. */
  output: Uint32Array | undefined;
  square: Uint32Array | undefined;
}

/** The view that is shown; before any run, the input as it will be encrypted. */
export function shown(state: Pick<State, 'views' | 'at' | 'input'>): Pick<IntegerView, 'stage' | 'place' | 'low' | 'high'> | undefined {
  const { views, at, input } = state;
  if (views.length > 0) return views[at];
  return input && { stage: 'input', place: 'slots', low: new Int32Array(input.length), high: input };
}

/** The integers of a picture: grey levels from black, 0, to white, the largest integer below p. */
export async function integersOf(picture: Picture, { slots, modulus }: Pick<IntegerPreset, 'slots' | 'modulus'>): Promise<Uint32Array> {
  const white = modulus - 1;
  if (picture === 'ramp') return Uint32Array.from({ length: slots }, (_, i) => Math.round((i / (slots - 1)) * white));
  if (picture === 'noise') return Uint32Array.from({ length: slots }, () => Math.floor(Math.random() * modulus));
  return levels((await bundled()).values(grid(slots)), { modulus });
}

/** Grey values from -1 to 1 as integers. */
export function levels(values: Float64Array, { modulus }: Pick<IntegerPreset, 'modulus'>): Uint32Array {
  return Uint32Array.from(values, (value) => Math.round(((value + 1) / 2) * (modulus - 1)));
}

/** The grid in which slots are laid out. */
export function grid(slots: number): Grid {
  return gridFor(slots);
}

/** Most pixels that are drawn. */
const PIXELS = 2048;

/** Which slots are drawn, row by row, and in how many columns: with many slots, one in `every` of each row, and of the rows. */
export function drawn(slots: number): { readonly every: number; readonly columns: number; readonly slots: readonly number[] } {
  const { width, height } = grid(slots);
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(slots / PIXELS) / 2));
  const rows = Array.from({ length: height / every }, (_, row) => row * every);
  const columns = Array.from({ length: width / every }, (_, column) => column * every);
  return { every, columns: columns.length, slots: rows.flatMap((row) => columns.map((column) => row * width + column)) };
}
