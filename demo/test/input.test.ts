import { describe, expect, test } from 'vitest';
import { fromCurve, fromNumbers, parseNumbers } from '../src/input/numbers.js';
import { resample } from '../src/input/picture.js';
import { gridFor } from '../src/input/source.js';

describe('grids', () => {
  test('are square or twice as wide as high', () => {
    expect(gridFor(512)).toEqual({ width: 32, height: 16 });
    expect(gridFor(1024)).toEqual({ width: 32, height: 32 });
    expect(gridFor(4096)).toEqual({ width: 64, height: 64 });
  });
});

describe('pictures', () => {
  test('are averaged over areas, not sampled', () => {
    const checks = Float64Array.from({ length: 64 * 64 }, (_, i) => (((i % 64) + Math.floor(i / 64)) % 2 ? 1 : -1));
    expect(Math.max(...resample(checks, 64, 64, { width: 32, height: 32 }).map(Math.abs))).toBeLessThan(1e-12);
  });

  test('lose the edges that do not fit the grid, from the middle out', () => {
    // Rows -1, 0.5, 0.25, 1: a 2:1 grid keeps the two in the middle.
    const rows = [-1, 0.5, 0.25, 1];
    const square = Float64Array.from({ length: 16 }, (_, i) => rows[Math.floor(i / 4)] ?? 0);
    expect([...resample(square, 4, 4, { width: 4, height: 2 })]).toEqual([0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]);
  });

  test('keep their mean when the grid does not divide them', () => {
    const luma = Float64Array.from({ length: 100 }, (_, i) => Math.sin(i) * 0.9);
    const mean = (x: Float64Array): number => x.reduce((a, b) => a + b) / x.length;
    expect(mean(resample(luma, 10, 10, { width: 3, height: 3 }))).toBeCloseTo(mean(luma), 12);
  });
});

describe('numbers', () => {
  test('may be separated by anything usual', () => {
    expect([...parseNumbers('0.5, -0.25;1\n\t−1', 8)]).toEqual([0.5, -0.25, 1, -1]);
  });

  test.each([
    ['', /no number yet/],
    ['0.5 pear', /“pear” \(number 2\) is not a number/],
    ['0.5 1.5', /1.5 \(number 2\) is outside/],
    ['1 1 1', /3 numbers.*holds 2.*Remove 1/],
    ['NaN', /not a number/],
    ['Infinity', /not a number/],
    ['0,5', /“0,5” may be one number or two: write 0\.5 for one, and 0 5 for two/],
    ['0.1 −0,25', /write −0\.25 for one/],
  ])('are refused with a reason: %j', (text, reason) => {
    expect(() => parseNumbers(text, 2)).toThrow(reason);
  });

  test('fill the slots from the first one on', () => {
    const values = fromNumbers(Float64Array.of(0.5, -1)).values({ width: 4, height: 1 });
    expect([...values]).toEqual([0.5, -1, 0, 0]);
  });
});

describe('curves', () => {
  test('are interpolated over all slots', () => {
    const values = fromCurve(Float64Array.of(-1, 1)).values({ width: 5, height: 1 });
    expect([...values]).toEqual([-1, -0.5, 0, 0.5, 1]);
  });
});
