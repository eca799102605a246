import { expect, test } from 'vitest';
import { placeBy } from '../src/arrows.js';

test('keys lead from step to step, and stay at the ends', () => {
  const from = (place: number) => ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp', 'Home', 'End'].map((key) => placeBy(key, place, 5));
  expect(from(2)).toEqual([3, 3, 1, 1, 0, 4]);
  expect(from(0)).toEqual([1, 1, 0, 0, 0, 4]);
  expect(from(4)).toEqual([4, 4, 3, 3, 0, 4]);
  for (const key of ['Enter', ' ', 'a', 'toString']) expect(placeBy(key, 2, 5), key).toBeUndefined();
});
