import type { BootstrapKeys, Ciphertext, KeySet, StageEvent, SteppableRun } from 'refloat/client';

/** Largest number that can be typed. */
export const LARGEST = 2 ** 20;

/** A reading that can be chosen. */
export interface Reading {
  readonly words: string;
  /** Numbers are read modulo this. */
  readonly modulus: number;
  /** Bases of the digits, the lowest first. */
  readonly bases: readonly number[];
  /** Whether numbers are integers; others are rounded to a grid first. */
  readonly whole: boolean;
  /** The number to begin with. */
  readonly number: number;
  /** Whether the highest digit is looked up in the reader's table; the lowest is then only subtracted. */
  readonly table?: true;
}

/** By the names that the menu gives them. */
export const READINGS = {
  decimal: { words: 'three decimal digits', modulus: 1000, bases: [10, 10, 10], whole: true, number: 2718 },
  hour: { words: 'the hour, modulo 24', modulus: 24, bases: [24], whole: true, number: 8760 },
  octal: { words: 'two octal digits', modulus: 64, bases: [8, 8], whole: true, number: 4711 },
  fraction: { words: 'ten bits of a fraction', modulus: 1, bases: [32, 32], whole: false, number: 31.4159 },
  table: { words: 'a table that you draw', modulus: 1, bases: [32, 8], whole: false, number: 2.7183, table: true },
} as const satisfies Readonly<Record<string, Reading>>;
export type ReadingName = keyof typeof READINGS;

/** The reading by its name. */
export function readingOf(name: ReadingName): Reading {
  return READINGS[name];
}

/** The values that the reader's table has at first: a hill. */
export const TABLE = [0, 2, 5, 8, 9, 7, 4, 1] as const;

/** Steps of 1 / `modulus` that the digits count. */
export function grid({ bases }: Reading): number {
  return bases.reduce((product, base) => product * base, 1);
}

/** What a number is multiplied by before digit i is read: the product of the bases after it. */
export function factorOf({ bases }: Reading, i: number): number {
  return bases.slice(i + 1).reduce((product, base) => product * base, 1);
}

/** Digits of a number, the lowest first, as exact arithmetic gives them. */
export function digitsOf(number: number, reading: Reading): number[] {
  const { modulus, bases } = reading;
  const fraction = number / modulus - Math.floor(number / modulus);
  // An integer over its modulus lies on the grid, apart from the rounding of the division.
  let left = reading.whole ? Math.round(fraction * grid(reading)) : Math.floor(fraction * grid(reading));
  return bases.map((base) => {
    const digit = left % base;
    left = Math.floor(left / base);
    return digit;
  });
}

/** What comes back for a number when everything is exact. */
export function valueOf(number: number, reading: Reading, table: readonly number[]): number {
  const fraction = number / reading.modulus - Math.floor(number / reading.modulus);
  if (reading.table) return table[Math.min(table.length - 1, Math.floor(fraction * table.length))] ?? 0;
  return reading.whole ? Math.round(fraction * grid(reading)) % grid(reading) : fraction;
}

/** Levels that a reading spends before the first stage of its first pass: dividing integers by their modulus takes one. */
export function levelsBefore({ whole }: Reading): number {
  return whole ? 1 : 0;
}

/** The reader's number first, and others of up to 2^range on either side. */
export function numbersOf(number: number, range: number, reading: Reading, slots: number): Float64Array {
  return Float64Array.from({ length: slots }, (_, i) => {
    if (i === 0) return number;
    const x = (2 * Math.random() - 1) * 2 ** range;
    return reading.whole ? Math.round(x) : x;
  });
}

/** Begins a reading. */
export function begin(
  name: ReadingName,
  { boot, x, secret, table, signal }: { boot: BootstrapKeys; x: Ciphertext; secret: KeySet; table: readonly number[]; signal: AbortSignal },
): SteppableRun<Ciphertext, StageEvent> {
  const options = { inspect: secret, signal };
  const { modulus, whole, bases } = readingOf(name);
  if (name === 'table') return boot.lookUp(x, table, options);
  return whole ? boot.intMod(x, modulus, options) : boot.mod(x, modulus, { ...options, bits: Math.log2(bases.reduce((a, b) => a * b, 1)) });
}
