import { expect, it } from 'vitest';
import { decimal } from '../src/format.js';

it('a number has a true minus sign, and what rounds to zero has none', () => {
  expect(decimal(-1.25, 2)).toBe('−1.25');
  expect(decimal(-0.00001, 4)).toBe('0.0000');
  expect(decimal(-0.00006, 4)).toBe('−0.0001');
  expect(decimal(0, 1)).toBe('0.0');
  expect(decimal(undefined)).toBe('–');
  expect(decimal(Number.NaN)).toBe('–');
});
