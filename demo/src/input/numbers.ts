import type { InputSource } from './source.js';

/** A list of numbers that cannot be used, with a sentence that says why. */
export class BadNumbers extends Error {}

/** Reads numbers separated by spaces, commas, semicolons or line ends; all must be in [-1, 1]. */
export function parseNumbers(text: string, maximum: number): Float64Array {
  const either = text.split(/[\s;]+/).find((word) => /^[+−-]?\d+,\d+$/.test(word));
  if (either) throw new BadNumbers(`“${either.slice(0, 20)}” may be one number or two: write ${either.slice(0, 20).replace(',', '.')} for one, and ${either.slice(0, 20).replace(',', ' ')} for two.`);
  const words = text.split(/[\s,;]+/).filter((w) => w !== '');
  if (words.length === 0) throw new BadNumbers('There is no number yet. Type some between −1 and 1, separated by spaces.');
  if (words.length > maximum) {
    throw new BadNumbers(`These are ${words.length} numbers; a ciphertext of this set holds ${maximum}. Remove ${words.length - maximum}.`);
  }
  return Float64Array.from(words, (word, i) => {
    const value = Number(word.replace('−', '-'));
    if (!Number.isFinite(value)) throw new BadNumbers(`“${word.slice(0, 20)}” (number ${i + 1}) is not a number. Numbers look like 0.5 or −0.25.`);
    if (Math.abs(value) > 1) throw new BadNumbers(`${word} (number ${i + 1}) is outside −1 … 1, the range this set is made for. Scale the numbers down.`);
    return value;
  });
}

/** The numbers a reader typed, one per slot; the remaining slots hold 0. */
export function fromNumbers(numbers: Float64Array): InputSource {
  const copy = numbers.slice();
  return {
    kind: 'numbers',
    used: copy.length,
    label: copy.length === 1 ? 'one number' : `${copy.length} numbers`,
    values: (grid) => {
      const out = new Float64Array(grid.width * grid.height);
      out.set(copy.subarray(0, out.length));
      return out;
    },
  };
}

/** A curve over the slots: samples in [-1, 1] at equal distances, interpolated. */
export function fromCurve(samples: Float64Array): InputSource {
  const copy = samples.slice();
  return {
    kind: 'curve',
    label: 'your curve',
    values: (grid) => {
      const n = grid.width * grid.height;
      return Float64Array.from({ length: n }, (_, i) => {
        const t = (i / Math.max(1, n - 1)) * (copy.length - 1);
        const k = Math.min(copy.length - 2, Math.floor(t));
        return (copy[k] ?? 0) * (1 - (t - k)) + (copy[k + 1] ?? 0) * (t - k);
      });
    },
  };
}
