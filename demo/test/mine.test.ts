import { describe, expect, it } from 'vitest';
import { dragged, FIRST, keyed, placeOf, valueAt } from '../src/conventional/mine.js';
import { CURVE } from '../src/conventional/state.js';

describe('a coefficient of the reader’s own', () => {
  it('lies at m/q0 + I, on a point of the curve', () => {
    for (const m of [-8, -1, 0, 8]) {
      for (const I of [-7, 0, 7]) {
        const place = placeOf({ m, I });
        expect(place).toBe(I + m / 32);
        expect(valueAt({ drawn: { values: CURVE } as never }, place)).toBe(place);
      }
    }
    expect(valueAt({ drawn: undefined }, 0)).toBeUndefined();
  });

  it('is dragged along its axis, and no farther', () => {
    const width = 452; // 400 between the ends
    expect(dragged(FIRST, 'm', 226, width)).toEqual({ ...FIRST, m: 0 });
    expect(dragged(FIRST, 'm', 26 + 300, width)).toEqual({ ...FIRST, m: 4 });
    expect(dragged(FIRST, 'I', 26 + 200 - 400 / 14, width)).toEqual({ ...FIRST, I: -1 });
    for (const [at, end] of [[-500, -1], [5000, 1]] as const) {
      expect(dragged(FIRST, 'm', at, width).m).toBe(8 * end);
      expect(dragged(FIRST, 'I', at, width).I).toBe(7 * end);
    }
  });

  it('is moved by keys, and no farther', () => {
    expect(keyed({ m: 0, I: 7 }, 'I', 'ArrowRight')).toEqual({ m: 0, I: 7 });
    expect(keyed({ m: 0, I: 7 }, 'I', 'ArrowLeft')).toEqual({ m: 0, I: 6 });
    expect(keyed({ m: 0, I: 7 }, 'm', 'ArrowUp')).toEqual({ m: 1, I: 7 });
    expect(keyed({ m: 3, I: 7 }, 'm', 'Home')).toEqual({ m: -8, I: 7 });
    expect(keyed({ m: 3, I: 7 }, 'm', 'a')).toBeUndefined();
    expect(keyed({ m: 3, I: 7 }, 'm', 'constructor')).toBeUndefined();
  });
});
