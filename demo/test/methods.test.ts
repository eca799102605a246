import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { crossingChart, surveyChart } from '../src/methods/charts.js';
import { byDigits, byGates, crossingOf, gatesOf, slotsToFill, type Crossing, type Recorded, type Surveyed } from '../src/methods/data.js';
import { countOf, lastPlace, STEPS, type State } from '../src/methods/state.js';
import { machineWords } from '../src/machine.js';
import { rules, verdict } from '../src/methods/views.js';

const recorded = JSON.parse(readFileSync(new URL('../src/recorded/methods.json', import.meta.url), 'utf8')) as Recorded;

const state = (place: number, kind = 0): State => ({ busy: undefined, paused: false, problem: undefined, recorded, kind, place, tables: new Set() });

const kind: Crossing = {
  numbers: 'reals, far apart', gates: 'a', rotations: 1, gatesFixed: 1, gatesEach: 0.01, digits: 'b', passes: 1, slots: 4096, digitsSeconds: 3, published: 100, crossing: 200, atOnce: 1024, wrong: 0,
};

describe('which method when', () => {
  test('costs grow with what has to be done again', () => {
    expect(byGates(kind, 200)).toBeCloseTo(3, 12);
    expect(byGates(kind, 1025)).toBeCloseTo(2 + 10.25, 12);
    expect([byDigits(kind, 1), byDigits(kind, 4096), byDigits(kind, 4097)]).toEqual([3, 3, 6]);
    expect([crossingOf(kind), crossingOf({ ...kind, crossing: null }), crossingOf({ ...kind, crossing: 1025 })]).toEqual([200, undefined, undefined]);
    const [gate, ckks] = [
      { measured: { slots: 1, bits: 1, seconds: 0.01, slotsPerSecond: 100 } },
      { measured: { slots: 32_768, bits: 28, seconds: 4, slotsPerSecond: 8192 } },
    ] as unknown as [Surveyed, Surveyed];
    expect([slotsToFill(ckks, gate), slotsToFill(gate, gate), gatesOf([ckks, gate])]).toEqual([400, undefined, [gate]]);
  });

  test('the recorded figures are whole and right', () => {
    expect(recorded.crossing.rows.length).toBe(3);
    expect(recorded.survey.rows.length).toBe(8);
    for (const row of recorded.crossing.rows) {
      expect(row.wrong).toBe(0);
      const found = crossingOf(row);
      if (found) expect(byGates(row, found) / byDigits(row, found)).toBeCloseTo(1, 6);
    }
    for (const { measured, note } of recorded.survey.rows) expect(measured !== null || note.length > 0).toBe(true);
  });

  test.each([320, 900])('charts stay within their frames at %i px', (width) => {
    for (const { text } of [surveyChart(state(0), width), ...recorded.crossing.rows.flatMap((row, i) => [0, lastPlace(row)].map((place) => crossingChart(state(place, i), width)))]) {
      const [, w, h] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(text) ?? [];
      expect(text).not.toMatch(/NaN|undefined|Infinity/);
      for (const [, axis, value] of text.matchAll(/\b(c?x|c?y)[12]?="(-?[\d.]+)"/g)) {
        const most = Number(axis?.endsWith('x') ? w : h);
        expect(Number(value) >= 0 && Number(value) <= most, `${axis}=${value} of ${most}`).toBe(true);
      }
    }
  });

  test('the verdict is the cheaper way, and says where figures are from', () => {
    for (const [i, row] of recorded.crossing.rows.entries()) {
      for (const place of [0, 4 * STEPS, lastPlace(row)]) {
        const asked = countOf(state(place, i));
        const { text } = verdict(state(place, i));
        expect(text).toContain('none came out wrong');
        expect(text).toContain(byGates(row, asked) <= byDigits(row, asked) ? 'Take gates' : 'Take digits');
        expect(text).toContain('refloat reproduce scheme-switching <span class="whole">--crossing</span>');
      }
    }
    expect(rules(state(0)).text.match(/How many comparisons/g)).toHaveLength(recorded.crossing.rows.length);
    const machine = { cpu: 'a processor', threads: 2, system: 'linux', backend: 'avx2', load: 5 };
    expect([machineWords(machine).includes('busy'), machineWords({ ...machine, load: 1 }).includes('busy')]).toEqual([true, false]);
  });
});
