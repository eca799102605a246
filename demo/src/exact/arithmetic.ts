import type { DigitRemoval } from 'refloat';

/** What a polynomial does to the numbers I + p^t y for one I. */
export interface Point {
  /** I. */
  readonly digit: number;
  /** The low digit that remains, the same for every y. */
  readonly left: number;
  /** For how many of the given y exactly p^t y remains. */
  readonly exact: number;
}

/** x modulo m, nearest to 0. */
export function centred(x: bigint, m: bigint): bigint {
  const r = ((x % m) + m) % m;
  return 2n * r > m ? r - m : r;
}

/**
 * What the first `terms` powers that occur in a polynomial do to I + p^t y, for all |I| <= `reach` and the given y. Exact: the same numbers
 * as in the ciphertext's arithmetic.
 */
export function pointsOf(removal: DigitRemoval, terms: number, reach: number, multiples: readonly number[]): Point[] {
  const p = BigInt(removal.prime);
  const [modulus, step] = [p ** BigInt(removal.exponent), p ** BigInt(removal.digitExponent)];
  const kept = powers(removal).slice(0, terms);
  const degree = kept.at(-1) ?? 0;
  const wanted = new Set(kept);
  const coefficients = Array.from({ length: degree + 1 }, (_, i) => (wanted.has(i) ? BigInt(removal.coefficients[i] ?? 0) : 0n));
  return Array.from({ length: 2 * reach + 1 }, (_, i) => {
    const digit = i - reach;
    const values = multiples.map((y) => {
      const x = BigInt(digit) + step * BigInt(y);
      return coefficients.reduceRight((sum, c) => (sum * x + c) % modulus, 0n) - step * BigInt(y);
    });
    return { digit, left: Number(centred(values[0] ?? 0n, step)), exact: values.filter((value) => value % modulus === 0n).length };
  });
}

/** The exponents of x that occur, from low to high. */
export function powers({ coefficients }: Pick<DigitRemoval, 'coefficients'>): number[] {
  return Array.from(coefficients.keys()).filter((i) => coefficients[i] !== 0);
}
