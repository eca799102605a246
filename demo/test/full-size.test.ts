import { expect, test } from 'vitest';
import { fullAfter, fullSize } from '../src/conventional/full-size.js';
import type { State } from '../src/conventional/state.js';
import { story } from '../src/conventional/story.js';
import recorded from '../src/recorded/conventional-n16.json';

const STAGES = ['mod_raise', 'coeffs_to_slots', 'eval_mod', 'slots_to_coeffs'];
const exits = STAGES.map((stage, i) => ({ stage, level: [18, 15, 6, 3][i], logQ: [1017, 843, 312, 186][i], atMs: 100 * (i + 1) }));
const preset = { name: 'a-toy', inputLevel: 0, outputLevel: 3, stages: STAGES.map((id) => ({ id, title: id })) };
const state = (more: object, table = false): State => ({ views: [{}], exits, inputLogQ: 60, preset, tables: new Set(table ? ['full-size'] : []), ...more }) as unknown as State;
const rows = (text: string): string[][] => text.split('<tr>').slice(2).map((row) => [...row.matchAll(/<t[hd][^>]*>([^<]*)/g)].map(([, cell = '']) => cell));

test('the recording is of the set that it says, stage by stage, and says where, when and beside what it was made', () => {
  expect(recorded).toMatchObject({ set: 'n16', logN: 16, slots: 32768, securityBits: 128, threads: 1 });
  expect(recorded.stages.map(({ stage }) => stage)).toEqual(STAGES);
  expect(recorded.stages.at(-1)?.level).toBe(recorded.outputLevel);
  const sum = recorded.stages.reduce((all, { seconds }) => all + seconds, 0);
  expect(sum / recorded.seconds, 'the stages are the run').toBeCloseTo(1, 1);
  expect(recorded.date).toMatch(/^20\d\d-\d\d-\d\d$/);
  expect(recorded.machine.cpu).not.toBe('');
  expect(recorded.machine.load).toBeGreaterThanOrEqual(0);
});

test('at full size and in the run that is shown: levels, modulus and time of every stage', () => {
  const table = rows(fullSize(state({}, true), 900).text);
  expect(table.map((row) => row.length)).toEqual([7, 7, 7, 7, 7]);
  expect(table[0]?.slice(4)).toEqual(['no level for products', '60', '–']);
  expect(table[2]?.slice(4)).toEqual(['12 levels for later stages, 3 left in the end', '843', '100 ms']);
  expect(table[4]?.slice(1, 3)).toEqual(['9 levels for products', recorded.stages[3]?.logQ.toFixed(0)]);
  const drawn = fullSize(state({}), 900).text;
  expect([drawn.match(/conv-full-own/g), drawn.match(/conv-full-set/g)].map((bars) => bars?.length)).toEqual([5, 5]);
  expect(drawn).toMatch(/is recorded: made by refloat \S+ on \d+ \w+ 20\d\d, on /);
  expect(drawn).toContain(recorded.machine.cpu);
});

test('a stage that the run has not come to has no bar of its own, and without a run the full size stands alone', () => {
  const bars = (more: object): number => fullSize(state(more), 900).text.match(/conv-full-own/g)?.length ?? 0;
  expect([bars({ exits: exits.slice(0, 2) }), bars({ views: [], exits: [] }), bars({ views: [], exits: [], preset: undefined })]).toEqual([3, 0, 0]);
  for (const width of [300, 900]) expect(fullSize(state({ views: [], exits: [], preset: undefined }, true), width).text).not.toMatch(/NaN|undefined/);
});

test('the story says of every stage what it leaves at full size, where that has the stage', () => {
  expect(fullAfter('sub_sum')).toBe('');
  const told = story(state({ at: 0, preset: { ...preset, stages: ['mod_raise', 'sub_sum', 'coeffs_to_slots'].map((id) => ({ id })) } })).text.split('<li').slice(1);
  expect(told.map((step) => step.includes('At full size, with n16: '))).toEqual([true, true, false, true]);
});
