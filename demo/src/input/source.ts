import type { Preset } from '../types.js';

/** Shape in which a set's slots are drawn. */
export interface Grid {
  readonly width: number;
  readonly height: number;
}

/** Where numbers come from. */
export type InputKind = 'boat' | 'file' | 'draw' | 'curve' | 'numbers';

/** Something that can be put into slots. */
export interface InputSource {
  readonly kind: InputKind;
  /** For people: "the sailing boat". */
  readonly label: string;
  /** How many of the slots hold the reader's numbers, if not all do: the first ones. */
  readonly used?: number;
  /** Values in [-1, 1], row by row, for a grid of slots. */
  values(grid: Grid): Float64Array;
}

/** Whether what a source gives is drawn as a picture or as a sequence. */
export function drawnAs({ kind }: InputSource): 'picture' | 'curve' {
  return kind === 'curve' || kind === 'numbers' ? 'curve' : 'picture';
}

/** The grid of a number of slots: square for even powers of two, else twice as wide as high. */
export function gridFor(slots: number): Grid {
  const log = Math.round(Math.log2(slots));
  const height = 2 ** Math.floor(log / 2);
  return { width: slots / height, height };
}

/** What a source puts into the slots of a set. If those hold bits, light is one and dark is zero. */
export function slotValues(source: InputSource, preset: Preset | undefined, grid: Grid): Float64Array {
  const values = source.values(grid);
  if (preset?.mode !== 'bits') return values;
  return drawnAs(source) === 'curve' ? values.map((x) => (x > 0 ? 1 : 0)) : dithered(values, grid);
}

/** Zeros and ones, with as many ones as the picture is light: Floyd and Steinberg's error diffusion. */
function dithered(values: Float64Array, { width, height }: Grid): Float64Array {
  const light = values.map((x) => (x + 1) / 2);
  const pass = (x: number, y: number, error: number): void => {
    if (x >= 0 && x < width && y < height) light[y * width + x] = (light[y * width + x] ?? 0) + error;
  };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const wanted = light[y * width + x] ?? 0;
      const bit = wanted > 0.5 ? 1 : 0;
      light[y * width + x] = bit;
      const error = wanted - bit;
      pass(x + 1, y, (error * 7) / 16);
      pass(x - 1, y + 1, (error * 3) / 16);
      pass(x, y + 1, (error * 5) / 16);
      pass(x + 1, y + 1, error / 16);
    }
  }
  return light;
}
