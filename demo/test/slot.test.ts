import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decode } from '../src/recorded.js';
import { JOURNEY } from '../src/stages.js';
import type { State } from '../src/store.js';
import { seenAt } from '../src/views/shown-values.js';
import { followed, knownAt, slot, sumOf, turnsOfOne } from '../src/views/slot.js';
import { lastMomentOf, markOf, moments, observe, type Voyage } from '../src/voyage.js';
import { ramp } from './fixtures/input.js';
import { emptyVoyage, events, specimen, random } from './fixtures/model.js';

const recorded = decode(JSON.parse(readFileSync(new URL('../src/recorded/toy10.json', import.meta.url), 'utf8')));
const state = (at: State['at'], chosen: number, tables: string[] = []): State => ({ at, slot: chosen, tables: new Set(tables) }) as unknown as State;
const turn = (x: number): number => Math.abs(x - Math.round(x));

/** A voyage of the model, up to an event or to its end. */
function modelled(name: string, place: 'page' | 'server', until = Infinity): Voyage {
  const voyage = emptyVoyage(name, place, ramp);
  voyage.fresh = voyage.spent = specimen(voyage.preset, 1, voyage.input, 1e-5, random(1));
  let count = 0;
  for (const event of events(voyage)) {
    if (count++ >= until) return voyage;
    observe(voyage, event);
  }
  voyage.result = specimen(voyage.preset, 2, voyage.expected, 1e-4, random(2));
  voyage.state = 'done';
  return voyage;
}

describe('one slot of a real run', () => {
  test('b and the tracks add up to every first node of the tree', () => {
    for (const chosen of [0, 100, 209, 511]) {
      const sum = sumOf(recorded, chosen);
      expect(sum?.tracks).toHaveLength(recorded.preset.tracks);
      let angle = sum?.start ?? NaN;
      sum?.tracks.forEach((track, k) => {
        angle += track;
        const level = Math.log2(k + 2);
        if (!Number.isInteger(level)) return;
        const view = markOf(recorded, 'product_tree')?.views.find((v) => v.levelOfTree === level);
        const measured = Math.atan2(view?.data[2 * chosen + 1] ?? NaN, view?.data[2 * chosen] ?? NaN) / (2 * Math.PI);
        expect(turn(angle - measured)).toBeLessThan(1e-4);
      });
    }
  });

  test('its number at every station is that of the decryption', () => {
    JOURNEY.forEach((name, station) => {
      const at = lastMomentOf(recorded, station);
      const { value } = knownAt(recorded, at, 209);
      if (name === 'encode_phase' || name === 'blind_rotate') expect(value).toBeUndefined();
      else {
        expect(value).toBe(seenAt(recorded, at)?.values[209]);
        expect(Math.abs((value ?? NaN) - (recorded.expected[209] ?? NaN))).toBeLessThan(1e-3);
      }
    });
  });

  test('the message is on the short arc, and on the sine a quarter turn back', () => {
    const phase = knownAt(recorded, lastMomentOf(recorded, 3), 209).turns ?? NaN;
    const root = knownAt(recorded, lastMomentOf(recorded, 6), 209).turns ?? NaN;
    expect(Math.abs(phase)).toBeLessThan(1 / 50);
    expect(turn(root + 0.25 - phase)).toBeLessThan(1e-4);
  });
});

describe('the drawing', () => {
  const voyages: [string, Voyage][] = [
    ['recorded', recorded],
    ['toy10', modelled('toy10', 'page')],
    ['toy10 on the server', modelled('toy10', 'server')],
    ...[1, 8, 12, 20, 30, 36].map((n): [string, Voyage] => [`toy10 after ${n} events`, modelled('toy10', 'page', n)]),
  ];
  for (const [name, voyage] of voyages) {
    test(`${name}: every moment is drawn, in words and within its frame`, () => {
      for (const at of moments(voyage)) {
        for (const chosen of [0, 7, voyage.input.length - 1]) {
          for (const tables of [[], ['slot']]) {
            const { text } = slot(state(at, chosen, tables), voyage);
            expect(text).not.toMatch(/NaN|undefined|Infinity/);
            for (const [, number] of text.matchAll(/ (?:x|y|cx|cy|x1|x2|y1|y2)="(-?[\d.]+)"/g)) {
              expect(Number(number)).toBeGreaterThanOrEqual(-1);
              expect(Number(number)).toBeLessThanOrEqual(341);
            }
          }
        }
      }
    });
  }

  test('of a run on the server says only what is public: the angle of a number by scale and modulus, and nothing before they are known', () => {
    const served = modelled('toy10', 'server');
    const water = markOf(served, 'encapsulate')?.water;
    expect(turnsOfOne(served)).toBe(2 ** ((water?.logScale ?? NaN) - (water?.logQ ?? NaN)));
    expect(turnsOfOne(modelled('toy10', 'server', 1))).toBeUndefined();
    const captions = JOURNEY.map((_, i) => slot(state(lastMomentOf(served, i), 7), served).text.split('<figcaption>')[1] ?? '');
    for (const caption of captions) expect(caption).not.toMatch(/–/);
    expect(slot(state({ station: 0, part: 0 }, 7), modelled('toy10', 'server', 1)).text).toContain('is an angle: on the full circle');
  });

  test('follows a slot that there is', () => {
    expect(followed({}, recorded)).toBe(6 * 32 + 13);
    expect(followed({ slot: 4000 }, recorded)).toBe(511);
  });
});
