import type { StageView } from 'refloat';
import { describe, expect, test } from 'vitest';
import { finish, largest, passesOf, seenIn, take } from '../src/digits/passes.js';
import { digitsOf, grid, levelsBefore, numbersOf, READINGS, readingOf, valueOf, type ReadingName } from '../src/digits/readings.js';
import { decode, encode } from '../src/digits/recorded.js';
import type { Seen, State } from '../src/digits/state.js';
import { changed, circle, lens } from '../src/digits/circle.js';
import { controls, result, story, typed } from '../src/digits/views.js';

const view = (stage: string, data: number[]): StageView =>
  ({ kind: 'view', stage, view: 'slots', data: Float64Array.from(data) }) as unknown as StageView;

/** A run of exact arithmetic with a little noise, as a tab would observe it. */
function observed(name: ReadingName, numbers: readonly number[], noise = 2 ** -20): Seen {
  const reading = readingOf(name);
  const passes = passesOf(reading);
  const digits = numbers.map((z) => digitsOf(z, reading));
  passes.forEach(({ base, factor }, i) => {
    const turns = digits.map((of, slot) => (of[i] ?? 0) / base + ((slot % 5) - 2) + noise);
    take(passes, view('coeffs_to_slots', turns));
    take(passes, view('eval_exp', turns.flatMap((x) => [Math.cos(2 * Math.PI * x), Math.sin(2 * Math.PI * x)])));
    if (i + 1 < passes.length) take(passes, view('look_up', digits.flatMap((of) => [((of[i] ?? 0) + noise ** 2) / (base * factor), noise])));
  });
  const output = Float64Array.from(numbers, (z) => valueOf(z, reading, [1, 2, 3, 4, 5, 6, 7, 8]) + noise ** 2);
  finish(passes, reading, output);
  return { reading: name, table: [1, 2, 3, 4, 5, 6, 7, 8], numbers: Float64Array.from(numbers), passes, output, level: 2 + levelsBefore(reading), outputLevel: 3, ms: 100 };
}

function page(seen: Seen, at = 0): State {
  return { preset: undefined, busy: undefined,
  paused: false, progress: [0, 0], confirming: false, retrying: undefined, problem: undefined, keys: undefined, reading: seen.reading, number: '1', range: 20, table: [], seen, awaited: false, at, slot: 0, under: undefined, tables: new Set() };
}

describe('readings', () => {
  test('have digits that make up their modulus', () => {
    for (const name of Object.keys(READINGS) as ReadingName[]) {
      const reading = readingOf(name);
      if (reading.whole) expect(grid(reading)).toBe(reading.modulus);
      expect(typed(String(reading.number), reading)).toBe(reading.number);
      const numbers = numbersOf(reading.number, 20, reading, 64);
      expect(numbers[0]).toBe(reading.number);
      expect(numbers.every((x) => Math.abs(x) <= 2 ** 20 && (!reading.whole || Number.isInteger(x)))).toBe(true);
    }
  });

  test('count digits as exact arithmetic does, of negative numbers too', () => {
    expect(digitsOf(271828, READINGS.decimal)).toEqual([8, 2, 8]);
    expect(digitsOf(-5, READINGS.decimal)).toEqual([5, 9, 9]);
    expect(digitsOf(0o4711, READINGS.octal)).toEqual([1, 1]);
    expect(valueOf(-1, READINGS.hour, [])).toBe(23);
    expect(valueOf(1.75, READINGS.fraction, [])).toBe(0.75);
    expect(valueOf(-0.01, READINGS.table, [0, 0, 0, 0, 0, 0, 0, 9])).toBe(9);
  });

  test('take no words, fractions or giants for integers', () => {
    for (const [text, words] of [['', 'not a number'], ['abc', 'not a number'], ['0.5', 'not an integer'], ['1e9', 'too large'], ['Infinity', 'not a number']] as const) {
      expect(typed(text, READINGS.decimal)).toContain(words);
    }
    expect(typed('1,000', READINGS.decimal)).toBe(1000);
    expect(typed('-1,000,000.5', READINGS.fraction)).toBe(-1_000_000.5);
    expect(typed('0,5', READINGS.fraction)).toContain('such as 0.5.');
    expect(typed('31,4159', READINGS.fraction)).toContain('such as 31.4159.');
    expect(typed('−12', READINGS.decimal)).toBe(-12);
  });
});

describe('a run', () => {
  test('is read off its stages', () => {
    const numbers = [271828, -5, 999, 0, 1_048_576, 40];
    const { passes } = observed('decimal', numbers);
    expect(seenIn(passes)).toBe(9);
    numbers.forEach((z, slot) => expect(passes.map(({ digits }) => digits?.[slot])).toEqual(digitsOf(z, READINGS.decimal)));
    for (const { wound, outward, along, left } of passes) {
      expect(largest(wound)).toBeCloseTo(2 ** -20, 9);
      expect(largest(along)).toBeCloseTo(2 ** -20, 9);
      expect(largest(outward)).toBeLessThan(2 ** -35);
      expect(largest(left)).toBeLessThan(2 ** -28);
    }
  });

  test('is drawn at every step, and told', () => {
    for (const name of Object.keys(READINGS) as ReadingName[]) {
      const seen = observed(name, [readingOf(name).number, 1, 2, 3]);
      for (let at = 0; at < seenIn(seen.passes); at++) {
        const drawn = [circle, lens, result].map((draw) => draw(page(seen, at), 500).text).join('') + story(page(seen, at)).text + controls(page(seen, at)).text;
        expect(drawn).not.toMatch(/NaN|undefined|Infinity/);
      }
    }
    const at = (step: number): string => story(page(observed('decimal', [271828]), step)).text.match(/<b>[\d·]+<\/b><small>/g)?.join('') ?? '';
    const boxes = (step: number): string => at(step).replace(/<\/?\w+>/g, '');
    expect([0, 1, 2, 5, 8].map(boxes)).toEqual(['···', '···', '··8', '·28', '828']);
  });

  test('is the same when it was recorded', () => {
    const seen = observed('decimal', [271828, -5, 999]);
    const again = decode(JSON.parse(JSON.stringify(encode(seen, 2, 'here'))) as ReturnType<typeof encode>);
    expect(again.recorded).toBe('here');
    expect([...again.numbers]).toEqual([271828, -5]);
    expect([...(again.output ?? [])], 'with its errors').toEqual([...(seen.output ?? [])].slice(0, 2));
    again.passes.forEach((pass, i) => {
      expect([...(pass.digits ?? [])]).toEqual([...(seen.passes[i]?.digits ?? [])].slice(0, 2));
      expect(largest(pass.along)).toBeCloseTo(2 ** -20, 9);
    });
  });

  test('of a fraction says how far the worst slot is off', () => {
    const seen = observed('fraction', [0.25, 0.5, 0.75, 31.4159]);
    seen.output = Float64Array.from([0.25, 0.5, 0.75 + 6 / 1024, 0.4159]);
    expect(result(page(seen), 400).text).toMatch(/off by 3\.00 steps of 1\/1024 in the root mean square, the worst by 6\.0\..*right to 7\.4 bits/);
  });

  test('of a fraction is not called final before its last digit is read', () => {
    const seen = observed('fraction', [0.75]);
    const at = (step: number): string => story(page(seen, step)).text;
    for (const step of [0, 2, 4]) expect(at(step)).toContain('Not final: 0.7500 is rounded to steps of 1/1024');
    expect(at(2)).toMatch(/digits-box now rough"><b>≈0<\/b>/);
    expect(at(5)).toContain('Final: 24/32 + 0/1024 = 0.7500');
    expect(at(5)).toMatch(/digits-box now read"><b>24<\/b>/);
    // While it runs, only part of it has been read.
    delete seen.output;
    expect(at(5)).toContain('Not final');
    expect(story(page(observed('decimal', [271828]), 2)).text).not.toMatch(/≈|Not final/);
  });

  test('says which levels are for products', () => {
    expect(result(page(observed('decimal', [1])), 400).text).toContain('The input had 1 level for products, 2 for the first stage of a bootstrapping; the division by 1000 spends the first of them. The result has 1 level for products, 2 for');
    expect(result(page(observed('fraction', [0.5])), 400).text).toContain('The input had no level for products, 2 for the first stage of a bootstrapping. The result');
  });

  test('that has none yet says so', () => {
    const none = { ...page(observed('hour', [1])), seen: undefined };
    expect(circle(none, 400).text + lens(none, 400).text).toMatch(/Nothing has been read yet/);
    expect(result(none, 400).text).toMatch(/appears here/);
  });
});

test('errors that have grown are not called less', () => {
  expect([changed(2 ** -33.5, 2 ** -37.5), changed(2 ** -33.5, 2 ** -32.4), changed(1, 0.8), changed(0.8, 1)]).toEqual(['16 times less', '2 times more', 'about the same', 'about the same']);
});
