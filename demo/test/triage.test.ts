import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { patients, trained } from '../src/patients/model.js';
import { ask, sceneOf, type Asking } from '../src/triage/ask.js';
import { dial, spread } from '../src/triage/dial.js';
import { decode, encode, type RecordedAnswers } from '../src/triage/recorded.js';
import { begun, chosen, leastOf, refusal, take, tooClose, type Answer, type Entry, type State } from '../src/triage/state.js';
import { pairsOf, ranksAndFlags, triangle } from '../src/triage/triangle.js';
import { controls, heading, result, story } from '../src/triage/views.js';
import { outcome, swapped } from '../src/triage/words.js';

const recorded = JSON.parse(readFileSync(new URL('../src/recorded/triage.json', import.meta.url), 'utf8')) as RecordedAnswers;
const answers = decode(recorded);
const { train, test: unseen } = patients(readFileSync(new URL('../../core/examples/data/breast-cancer-wisconsin.csv', import.meta.url), 'utf8'));

const state = (answer?: Answer): State => ({
  sets: [],
  set: '',
  question: answer?.question ?? 'urgent',
  busy: undefined,
  confirming: false, retrying: undefined,
  paused: false,
  progress: [0, 0],
  problem: undefined,
  chosen: Array.from({ length: 16 }, () => true),
  patient: 0,
  answers: answer ? { [answer.question]: answer } : {},
  run: begun(),
  marked: 0,
  tables: new Set(),
});

const entry = (name: string, clear: number, rank: number, flag = 0): Entry => ({ name, malignant: false, clear, number: clear, rank, flag });

describe('the recorded answers', () => {
  test('are whole, and survive their own form', () => {
    expect(answers.map(({ question, entries }) => [question, entries.length])).toEqual([['urgent', 16], ['nearest', 16]]);
    expect(encode(recorded.made, answers)).toEqual(recorded);
    for (const { entries, least } of answers) {
      expect([...entries].map(({ rank }) => Math.round(rank)).sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => i));
      for (const { rank, flag, number, clear } of entries) {
        expect(flag > 0.5).toBe(rank > 12.5);
        expect(Math.abs(number - clear)).toBeLessThan(1e-3);
      }
      expect(least).toBeGreaterThan(0);
      for (const [a, b] of swapped(entries)) expect(Math.abs(a.clear - b.clear)).toBeLessThan(least ?? 0);
    }
  });

  test('are of the patients and cases that the page shows', () => {
    const scene = sceneOf(trained(train), train, unseen);
    expect(answers.map(({ entries }) => entries.map(({ malignant }) => malignant))).toEqual([scene.patients.map(({ malignant }) => malignant), scene.cases.map(({ malignant }) => malignant)]);
  });

  test.each([320, 620])('are drawn within their frames at %i px', (width) => {
    for (const answer of answers) {
      const names = answer.entries.map(({ name }) => name);
      for (const { text } of [dial(state(answer), answer, width), triangle(state(answer), names, answer, undefined, width), ranksAndFlags(state(answer), answer, width)]) {
        const [, w, h] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(text) ?? [];
        expect(text).not.toMatch(/NaN|undefined|Infinity/);
        for (const [, axis, value] of text.matchAll(/\b(c?x|c?y)="(-?[\d.]+)"/g)) {
          expect(Number(value)).toBeGreaterThanOrEqual(0);
          expect(Number(value)).toBeLessThanOrEqual(Number(axis?.endsWith('x') ? w : h));
        }
      }
      expect(story(state(answer)).text).toContain('A recorded run');
      expect(result(state(answer)).text).toContain(outcome(answer).slice(0, 20));
    }
  });
});

test('an answer is what the server sends, slot by slot', async () => {
  const scene = sceneOf(trained(train), train, unseen);
  const set = { name: 'a set', slots: 512, outputLevel: 7, orders: { ranked: 16, logFailure: -100, leastSigned: 0.08, leastUnit: 0.04, stages: [] } };
  const outputs: Record<string, number[]> = { number: [0.5], rank: [15], top: [1], verdict: [0.999] };
  const given: unknown[] = [];
  const job = Object.assign(Promise.resolve(Object.fromEntries(Object.keys(outputs).map((name) => [name, { name, level: 3 }]))), { async *[Symbol.asyncIterator]() {} });
  const to = {
    set,
    keys: { encrypt: async (x: Float64Array, options: unknown) => (given.push(x.length, options), { level: 7, byteLength: 99 }), decrypt: async ({ name }: { name: string }) => Float64Array.from(outputs[name] ?? []) },
    server: { run: (program: { outputs: readonly string[] }, inputs: object) => (given.push(program.outputs, Object.keys(inputs)), job) },
    use: (x: unknown) => x,
  } as unknown as Asking;
  const answer = await ask(scene, 'nearest', [2], to, () => undefined);
  expect(given).toEqual([512, { level: 7 }, ['number', 'rank', 'top', 'verdict'], ['patient']]);
  expect(answer).toMatchObject({ patient: 'C', malignant: false, verdict: 0.999, least: 0.04, levels: [7, 3], sent: 99 });
  expect(answer.entries[0]).toMatchObject({ name: '1', rank: 15, flag: 1, number: 0.5 });
  expect(answer.entries.every(({ clear }) => clear >= 0 && clear <= 1)).toBe(true);
  expect(await ask(scene, 'urgent', [4, 1, 2, 9], to, () => undefined)).toMatchObject({ entries: [{ name: 'E' }, { name: 'B' }, { name: 'C' }, { name: 'J' }] });
});

test('what came back the other way round is told, and why', () => {
  const entries = [entry('A', 0.5, 2, 1), entry('B', 0.51, 1), entry('C', -0.3, 0)];
  const answer = { ...(answers[0] as Answer), entries, least: 0.02 };
  expect(swapped(entries).map((pair) => pair.map(({ name }) => name))).toEqual([['A', 'B']]);
  expect(tooClose(answer)).toHaveLength(1);
  expect(outcome(answer)).toContain('1 pair came back the other way round than in the clear, all of them closer than can be told apart');
  expect(outcome({ ...answer, least: 0.001 })).not.toContain('closer than');
  expect(dial(state(answer), answer, 320).text).toContain('A and B');
});

test('a vote is said to be right or wrong as the data have it, and whose fault that is', () => {
  const nearest = answers[1] as Answer;
  // The recorded patient is benign and the three nearest known cases are malignant, also in the clear.
  const { patients: asked } = sceneOf(trained(train), train, unseen);
  expect(nearest.malignant).toBe(asked[nearest.patient!.charCodeAt(0) - 65]?.malignant);
  expect(outcome(nearest)).toContain('3 of them malignant: the vote says malignant. The data have this patient as benign, so the vote is wrong. On data in the clear it would be just as wrong');
  expect(outcome({ ...nearest, malignant: true })).toContain('as malignant, so the vote is right.');
  expect(outcome({ ...nearest, verdict: 0, malignant: true })).toContain('so the vote is wrong. On data in the clear it would be right.');
});

test('the page says which end of the ranks is first, for either question', () => {
  for (const [answer, first, heads] of [[answers[0], 'the most urgent', 'Who comes first?'], [answers[1], 'the nearest', 'Which cases are nearest?']] as const) {
    expect(ranksAndFlags(state(answer), answer, 620).text).toContain(`Rank 15 is ${first}`);
    expect(result(state(answer)).text).toContain(`Rank, 15 is ${first}`);
    expect(heading(state(answer)).text).toBe(heads);
  }
});

test('an answer to something else than what is chosen says so', () => {
  const [urgent, nearest] = answers as [Answer, Answer];
  const said = (answer: Answer, more: Partial<State>): boolean => story({ ...state(answer), ...more }).text.includes('has not been asked yet');
  expect([said(urgent, {}), said(urgent, { chosen: [false, ...state().chosen.slice(1)] }), said(urgent, { set: 'another' })]).toEqual([false, true, true]);
  expect([said(nearest, { patient: 2 }), said(nearest, { patient: 3 })]).toEqual([false, true]);
});

test('names keep their distance, in the order of their numbers', () => {
  const numbers = [0.1, 0.11, 0.5, 0.105, -0.9];
  const places = spread(numbers, 0.05);
  const sorted = numbers.map((x, i) => [x, places[i] ?? 0] as const).sort((a, b) => a[0] - b[0]).map(([, place]) => place);
  for (const [i, place] of sorted.slice(1).entries()) expect(place - (sorted[i] ?? 0)).toBeGreaterThan(0.0499);
  expect([places[2], places[4]]).toEqual([0.5, -0.9]);
});

test('comparisons fill the triangle in the order in which they are made', () => {
  expect(pairsOf(4)).toEqual([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
  const run = begun();
  take(run, { kind: 'progress', stage: 'compare', atMs: 0, done: 4, total: 6 } as never);
  const { text } = triangle(state(), ['A', 'B', 'C', 'D'], undefined, run, 320);
  expect([text.match(/triage-cell made/g)?.length, text.match(/triage-cell open/g)?.length]).toEqual([4, 2]);
  // At the end of the second question, one number is compared with zero.
  take(run, { kind: 'progress', stage: 'compare', atMs: 0, done: 1, total: 1 } as never);
  expect(run).toEqual({ under: 'compare', pairs: [4, 6] });
  expect(controls({ ...state(), busy: 'run', run }).text).toContain('Compared 4 of 6');
});

test('a choice is one of at least four', () => {
  const few = { question: 'urgent' as const, chosen: [true, false, true, true] };
  expect(chosen(few)).toEqual([0, 2, 3]);
  expect(refusal(few)).toContain('3 patients are ticked: tick at least 4');
  expect(refusal({ ...few, question: 'nearest' })).toBeUndefined();
  expect(leastOf({}, 'urgent')).toBeUndefined();
  const orders = { ranked: 16, logFailure: -100, leastSigned: 0.038, leastUnit: 0.019, stages: [] };
  expect([leastOf({ orders }, 'urgent'), leastOf({ orders }, 'nearest')]).toEqual([0.038, 0.019]);
});
