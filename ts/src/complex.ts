import { RefloatError } from './errors.js';

/**
 * Interleaves real and imaginary parts as complex sets take them: re, im, re, im, …
 *
 * @example
 * ```ts
 * import { complexFromParts, realParts, imaginaryParts } from 'refloat';
 *
 * const z = complexFromParts([0.5, 0], [0, -1]); // 0.5 and -i
 * console.log(realParts(z), imaginaryParts(z));
 * ```
 */
export function complexFromParts(re: ArrayLike<number>, im: ArrayLike<number>): Float64Array {
  if (re.length !== im.length) {
    throw new RefloatError(
      'INVALID_ARGUMENT',
      `${re.length} real parts do not go with ${im.length} imaginary ones; pass arrays of equal length`,
    );
  }
  const z = new Float64Array(2 * re.length);
  for (let i = 0; i < re.length; i++) {
    z[2 * i] = re[i] as number;
    z[2 * i + 1] = im[i] as number;
  }
  return z;
}

/**
 * The real parts of an interleaved array, half as many numbers; see {@link complexFromParts}.
 *
 * @example
 * ```ts
 * import { realParts } from 'refloat';
 *
 * console.log(realParts([0.5, 0, 0.25, -1])); // 0.5 and 0.25, of 0.5 and 0.25 - i
 * ```
 */
export function realParts(z: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: z.length >> 1 }, (_, i) => z[2 * i] as number);
}

/**
 * The imaginary parts of an interleaved array, half as many numbers; see {@link complexFromParts}.
 *
 * @example
 * ```ts
 * import { imaginaryParts } from 'refloat';
 *
 * console.log(imaginaryParts([0.5, 0, 0.25, -1])); // 0 and -1, of 0.5 and 0.25 - i
 * ```
 */
export function imaginaryParts(z: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: z.length >> 1 }, (_, i) => z[2 * i + 1] as number);
}
