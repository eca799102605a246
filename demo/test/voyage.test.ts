import { beforeEach, describe, expect, test } from 'vitest';
import { JOURNEY, stationIndex } from '../src/stages.js';
import { bootstrapMs, lastMomentOf, latest, markOf, moments, observe, quality, qualityAt, reached, stageMs, viewAt, waterAt, type Voyage } from '../src/voyage.js';
import { emptyVoyage, events, preset, random, specimen } from './fixtures/model.js';
import { ramp } from './fixtures/input.js';

let voyage: Voyage;

beforeEach(() => {
  voyage = emptyVoyage('toy10', 'page', ramp);
});

describe('a voyage as it is observed', () => {
  test('has nothing to step through before it begins', () => {
    expect(moments(voyage)).toEqual([]);
    expect(latest(voyage)).toEqual({ station: 0, part: 0 });
    expect(JOURNEY.some((s) => reached(voyage, s))).toBe(false);
  });

  test('offers one moment per track and per tree level, and one per other station', () => {
    for (const e of events(voyage)) observe(voyage, e);
    const all = moments(voyage);
    expect(all.filter((m) => m.station === stationIndex('blind_rotate'))).toHaveLength(15);
    expect(all.filter((m) => m.station === stationIndex('product_tree'))).toHaveLength(4);
    // Encrypt, exhaust and decrypt happen in this page, and were not done here.
    expect(all).toHaveLength(15 + 4 + 4);
    expect(latest(voyage)).toEqual({ station: stationIndex('conjugate'), part: 0 });
    expect(lastMomentOf(voyage, stationIndex('blind_rotate')).part).toBe(15);
  });

  test('keeps the order of moments while events arrive one by one', () => {
    let before = 0;
    for (const e of events(voyage)) {
      observe(voyage, e);
      const now = moments(voyage).length;
      expect(now).toBeGreaterThanOrEqual(before);
      before = now;
    }
  });

  test('times stages by their enter and exit events', () => {
    const all = [...events(voyage)];
    for (const e of all) observe(voyage, e);
    const enter = all.find((e) => e.kind === 'enter' && e.stage === 'blind_rotate');
    const exit = all.find((e) => e.kind === 'exit' && e.stage === 'blind_rotate');
    expect(stageMs(markOf(voyage, 'blind_rotate'))).toBeCloseTo((exit?.atMs ?? 0) - (enter?.atMs ?? 0), 9);
    const stages = JOURNEY.slice(2, 8).map((s) => stageMs(markOf(voyage, s)) ?? 0);
    expect(bootstrapMs(voyage)).toBeCloseTo(stages.reduce((a, b) => a + b), 6);
  });

  test('counts tracks that finish several at a time', () => {
    const rows = [...events(emptyVoyage('ship13', 'server', ramp))].filter((e) => e.kind !== 'progress' || e.stage !== 'blind_rotate' || e.done % 4 === 0 || e.done === e.total);
    const server = emptyVoyage('ship13', 'server', ramp);
    for (const e of rows) observe(server, e);
    const rotate = stationIndex('blind_rotate');
    expect(moments(server).filter((m) => m.station === rotate).map((m) => m.part)).toEqual([4, 8, 12, 16, 20, 24, 28, 31]);
    expect(lastMomentOf(server, rotate).part).toBe(31);
  });

  test('takes the worst of all tracks as the precision of the rotations', () => {
    for (const e of events(voyage)) observe(voyage, e);
    const views = markOf(voyage, 'blind_rotate')?.views ?? [];
    expect(qualityAt(voyage, 'blind_rotate')?.maxError).toBe(Math.max(...views.map((v) => v.maxError)));
  });

  test('finds the view of the selected track and tree level', () => {
    for (const e of events(voyage)) observe(voyage, e);
    expect(viewAt(voyage, { station: stationIndex('blind_rotate'), part: 6 })?.track).toBe(5);
    expect(viewAt(voyage, { station: stationIndex('product_tree'), part: 3 })?.levelOfTree).toBe(3);
    expect(viewAt(voyage, { station: stationIndex('encode_phase'), part: 0 })).toBeUndefined();
  });

  test('reads the water from events and from the page’s own ciphertexts', () => {
    for (const e of events(voyage)) observe(voyage, e);
    voyage.fresh = specimen(preset('toy10'), 2, voyage.input, 1e-6, random(1));
    expect(waterAt(voyage, 'encrypt')?.level).toBe(2);
    expect(waterAt(voyage, 'slots_to_coeffs')?.level).toBe(0);
    expect(waterAt(voyage, 'encode_phase')?.logQ ?? 0).toBeGreaterThan(waterAt(voyage, 'product_tree')?.logQ ?? Infinity);
    expect(waterAt(voyage, 'decrypt')).toBeUndefined();
  });
});

describe('quality', () => {
  test('is the distance to what was expected', () => {
    const q = quality(Float64Array.of(0.5, -0.5, 0, 0), Float64Array.of(0.5, -0.25, 0, 0));
    expect(q).toEqual({ maxError: 0.25, rmsError: 0.125, bitsMax: 2, bitsRms: 3 });
  });

  test('does not let a missing or broken number pass for an exact one', () => {
    expect(Number.isNaN(quality(Float64Array.of(1, 1), Float64Array.of(1)).maxError)).toBe(true);
    expect(Number.isNaN(quality(Float64Array.of(1, 1), Float64Array.of(Number.NaN, 1)).bitsMax)).toBe(true);
  });
});
