import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bytes, decimal, duration, plural, scientific } from '../src/format.js';
import { readHash, writeHash } from '../src/hash.js';
import { position, stayMs } from '../src/player.js';
import { decode, encode } from '../src/recorded.js';
import { JOURNEY, STATIONS, stationIndex } from '../src/stages.js';
import type { State } from '../src/store.js';
import { seenAt } from '../src/views/shown-values.js';
import { markOf, observe, quality } from '../src/voyage.js';
import { ramp } from './fixtures/input.js';
import { emptyVoyage, events } from './fixtures/model.js';

describe('the address', () => {
  test('survives a round trip', () => {
    const state = { shown: 'page', pagePreset: 'toy10', serverPreset: 'ship13', input: ramp, at: { station: stationIndex('blind_rotate'), part: 3 } } as unknown as State;
    const hash = writeHash(state);
    expect(hash).toBe('#where=page&set=toy10&input=boat&stage=blind_rotate&part=3');
    expect(readHash(hash)).toEqual({ where: 'page', set: 'toy10', input: 'boat', station: 5, part: 3 });
  });

  test.each(['', '#', '#stage=nothing&where=moon&part=-3', '#set=<script>&input=%00', '#part=1e9'])('ignores what it does not know: %j', (hash) => {
    expect(readHash(hash)).toEqual({});
  });
});

describe('the player', () => {
  test('stays until the text of a station can be read, and passes its parts quickly', () => {
    for (const [station, name] of JOURNEY.entries()) {
      const words = STATIONS[name].body.split(' ').length;
      // Between 200 and 400 words a minute.
      expect([stayMs({ station, part: 0 }) > words * 150, stayMs({ station, part: 0 }) < words * 300]).toEqual([true, true]);
    }
    expect(stayMs({ station: 5, part: 3 })).toBeLessThan(500);
  });

  test('finds the nearest moment at or before the selected one', () => {
    const all = [
      { station: 0, part: 0 },
      { station: 5, part: 1 },
      { station: 5, part: 2 },
      { station: 6, part: 1 },
    ];
    expect(position(all, { station: 5, part: 2 })).toBe(2);
    expect(position(all, { station: 5, part: 9 })).toBe(2);
    expect(position(all, { station: 3, part: 0 })).toBe(0);
    expect(position([], { station: 3, part: 0 })).toBe(-1);
  });
});

describe('recordings', () => {
  test('keep what views draw, to 16 bits', () => {
    const voyage = emptyVoyage('toy10', 'page', ramp);
    for (const e of events(voyage)) observe(voyage, e);
    const back = decode(JSON.parse(JSON.stringify(encode(voyage))) as never);
    expect(back.marks.map((m) => m.stage)).toEqual(voyage.marks.map((m) => m.stage));
    expect(back.input).toBeInstanceOf(Float64Array);
    expect([...back.input]).toEqual([...Float32Array.from(voyage.input)]);
    const view = back.marks[3]?.views[2];
    const original = voyage.marks[3]?.views[2];
    expect(view?.indices).toEqual(original?.indices);
    expect(Math.max(...(view?.data ?? []).map((x, i) => Math.abs(x - (original?.data[i] ?? 0))))).toBeLessThan(2 ** -14);
  });
});

describe('the recorded voyage of the build', () => {
  const voyage = decode(JSON.parse(readFileSync(new URL('../src/recorded/toy10.json', import.meta.url), 'utf8')) as never);

  test('is complete and was made by the library', () => {
    expect(voyage.marks.map((m) => m.stage)).toEqual(voyage.preset.stages.map((s) => s.id));
    expect(markOf(voyage, 'blind_rotate')?.views).toHaveLength(voyage.preset.tracks);
    expect(voyage.recorded).toMatch(/^made by refloat/);
  });

  test('has the errors it says it has', () => {
    const again = quality(voyage.expected, voyage.result?.slots ?? new Float64Array());
    expect(again.bitsMax).toBeCloseTo(voyage.result?.quality.bitsMax ?? 0, 2);
    expect(again.bitsMax).toBeGreaterThan(voyage.preset.promisedBits);
  });

  test('shows the picture at the root of the tree', () => {
    const seen = seenAt(voyage, { station: stationIndex('product_tree'), part: voyage.preset.treeLevels });
    expect(Math.max(...(seen?.values ?? []).map((x, i) => Math.abs(x - (voyage.input[i] ?? 0))))).toBeLessThan(0.02);
  });
});

describe('figures in words', () => {
  test('use three digits and the right unit', () => {
    expect([32, 24_576, 42_012_345, 1_466_900_000].map(bytes)).toEqual(['32 bytes', '24.6 kB', '42.0 MB', '1.47 GB']);
    expect([3.21, 340.4, 1240, 12_400, 125_000].map(duration)).toEqual(['3.2 ms', '340 ms', '1.24 s', '12.4 s', '2 min 5 s']);
    expect(decimal(-1.25, 1)).toBe('−1.3');
    expect(decimal(Number.NaN)).toBe('–');
    expect(scientific(6.6e-4)).toBe('6.6\u00a0×\u00a010⁻⁴');
    expect([plural(1, 'track'), plural(31, 'track')]).toEqual(['1 track', '31 tracks']);
  });
});
