import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decode } from '../src/conventional/recorded.js';
import { dragged, FIRST, keyed, mine, placeOf, PLACES, quotientOf, valueAt } from '../src/conventional/own-coefficient.js';
import { CURVE, unitOf, type State } from '../src/conventional/state.js';

describe('a coefficient of the reader’s own', () => {
  it('lies at m/q0 + I, where the polynomial is taken', () => {
    const values = [...CURVE, ...PLACES];
    for (const [m, quotient] of [[-12, -1 / 4], [-1, -(2 ** -13)], [0, 0], [4, 2 ** -10], [12, 1 / 4]] as const) {
      expect(quotientOf({ m })).toBe(quotient);
      for (const I of [-7, 0, 7]) {
        expect(placeOf({ m, I })).toBe(I + quotient);
        expect(valueAt({ drawn: { values } as never }, { m, I })).toBe(I + quotient);
      }
    }
    expect(valueAt({ drawn: undefined }, FIRST)).toBeUndefined();
  });

  it('begins where messages of the set are', () => {
    const { shown } = decode(JSON.parse(readFileSync(new URL('../src/recorded/conventional.json', import.meta.url), 'utf8')));
    const unit = unitOf(shown) ?? 0;
    expect(Math.abs(quotientOf(FIRST))).toBeLessThanOrEqual(unit);
    const values = Float64Array.from([...CURVE, ...PLACES], (x) => x - Math.round(x));
    const text = (m: number): string => mine({ ...shown, drawn: { values }, mine: { ...FIRST, m }, tables: new Set() } as unknown as State, 400).text;
    expect(text(FIRST.m)).toContain(`q₀/${Math.round(1 / unit)}</text>`);
    expect(text(FIRST.m)).toContain('m = q₀/1,024 and I = −3 make x = −2.999023. The polynomial makes 0.000977 of it');
    for (let m = -12; m <= 12; m++) expect(text(m)).not.toMatch(/NaN|undefined|Infinity|too far/);
  });

  it('is dragged along its axis, and no farther', () => {
    const width = 452; // 400 between the ends
    expect(dragged(FIRST, 'm', 226, width)).toEqual({ ...FIRST, m: 0 });
    expect(dragged(FIRST, 'm', 26 + 300, width)).toEqual({ ...FIRST, m: 6 });
    expect(dragged(FIRST, 'I', 26 + 200 - 400 / 14, width)).toEqual({ ...FIRST, I: -1 });
    for (const [at, end] of [[-500, -1], [5000, 1]] as const) {
      expect(dragged(FIRST, 'm', at, width).m).toBe(12 * end);
      expect(dragged(FIRST, 'I', at, width).I).toBe(7 * end);
    }
  });

  it('is moved by keys, and no farther', () => {
    expect(keyed({ m: 0, I: 7 }, 'I', 'ArrowRight')).toEqual({ m: 0, I: 7 });
    expect(keyed({ m: 0, I: 7 }, 'I', 'ArrowLeft')).toEqual({ m: 0, I: 6 });
    expect(keyed({ m: 0, I: 7 }, 'm', 'ArrowUp')).toEqual({ m: 1, I: 7 });
    expect(keyed({ m: 3, I: 7 }, 'm', 'Home')).toEqual({ m: -12, I: 7 });
    expect(keyed({ m: 3, I: 7 }, 'm', 'a')).toBeUndefined();
    expect(keyed({ m: 3, I: 7 }, 'm', 'constructor')).toBeUndefined();
  });
});
