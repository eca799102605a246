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
  /** Values in [-1, 1], row by row, for a grid of slots. */
  values(grid: Grid): Float64Array;
}

/** The grid of a number of slots: square for even powers of two, else twice as wide as high. */
export function gridFor(slots: number): Grid {
  const log = Math.round(Math.log2(slots));
  const height = 2 ** Math.floor(log / 2);
  return { width: slots / height, height };
}
