import { readFileSync } from 'node:fs';
import type { DigitRemoval, ProgramEvent, StageView } from 'refloat';
import { describe, expect, test } from 'vitest';
import { MISSING, missingFromRoot, PAGES, pages } from '../pages.js';
import { comb, lowestDegree } from '../src/conventional/comb.js';
import { story } from '../src/conventional/story.js';
import { stages } from '../src/conventional/views.js';
import type { State as Conventional } from '../src/conventional/state.js';
import { pointsOf, powers } from '../src/exact/arithmetic.js';
import { decode, encode, type RecordedRun } from '../src/exact/recorded.js';
import { drawn } from '../src/exact/state.js';
import { FUNCTIONS, chart } from '../src/gates/chart.js';
import { journeyFrom, take } from '../src/patients/journey.js';
import { decode as decodeScores, type RecordedScores } from '../src/patients/recorded.js';
import { scores, way, type State } from '../src/patients/views.js';

const plugin = pages();
const hook = plugin.transformIndexHtml as { handler(html: string, context: { path: string }): string };

describe('every page', () => {
  for (const page of [...Object.keys(PAGES), MISSING]) {
    test(`${page} has its head, and itself marked in the menu`, () => {
      const source = readFileSync(new URL(`../${page}.html`, import.meta.url), 'utf8');
      const written = hook.handler(source, { path: `/${page}.html` });
      const [head = ''] = written.split('</head>');
      for (const part of ['<meta charset="utf-8">', 'name="viewport"', 'name="description"', '<title>refloat: ', 'rel="icon"']) expect(head).toContain(part);
      const [menu = ''] = /<nav.*?<\/nav>/.exec(written) ?? [];
      for (const [other, words] of Object.entries(PAGES)) expect(menu).toContain(`<a href="./${other}.html"${other === page ? ' aria-current="page"' : ''}>${words}</a>`);
      expect(written).not.toContain('<!--');
      expect(written.match(/ (?:href="#|id=")words"/g), 'the words, and the way to them').toHaveLength(2);
      expect(written.includes('<body data-opening>')).toBe(![MISSING, 'index'].includes(page));
    });
  }

  test('but the one for what is missing is relative to where it is', () => {
    const { handler } = missingFromRoot().transformIndexHtml as typeof hook;
    const html = '<script src="./assets/a.js"></script><a href="./gates.html">Gates</a>';
    expect(handler(html, { path: '/gates.html' })).toBe(html);
    expect(handler(html, { path: `/${MISSING}.html` })).toBe('<script src="/assets/a.js"></script><a href="/gates.html">Gates</a>');
  });

  test('without its marks is no page', () => {
    expect(() => hook.handler('<html></html>', { path: '/index.html' })).toThrow('<!--head-->');
  });
});

test('f of the result is offered while there is a result', () => {
  const state = { table: [1, 0], active: 0, x: 0, seen: {}, path: [0, 1], set: 'fbs8', keys: undefined, busy: undefined, running: false, problem: 'out of memory', tables: new Set<string>() };
  const button = (again: boolean): string => /data-act="again" (\w*)/.exec(chart({ ...state, again }).text)?.[1] ?? '';
  expect([button(false), button(true)]).toEqual(['disabled', '']);
  for (const f of Object.values(FUNCTIONS)) {
    for (const size of [8, 16]) {
      for (let m = 0; m < size; m++) expect([f(m, size) >= 0, f(m, size) < size]).toEqual([true, true]);
    }
  }
});

test('the slider of the degree ends at the degree of the set', () => {
  for (const own of [12, 18, 22, 30, 31, 58, 61]) {
    const lowest = lowestDegree(own);
    expect([(own - lowest) % 4, lowest <= own, lowest >= 18 || own < 18]).toEqual([0, true, true]);
  }
});

test('the comb is that of the last stage that had one', () => {
  const view = (stage: string, view: string, data: number[]): StageView =>
    ({ kind: 'view', stage, view, data: Float64Array.from(data), indices: Uint32Array.from(data.keys()) }) as unknown as StageView;
  const views = [
    view('mod_raise', 'slots', [1, 0]),
    view('mod_raise', 'quotients', [2.001, -1.001]),
    view('coeffs_to_slots', 'quotients', [2.001, -1.001]),
    view('eval_mod', 'quotients', [0.001, -0.001]),
    view('slots_to_coeffs', 'slots', [1, 0]),
  ];
  const title = (at: number, from = views): string =>
    /<h3[^>]*>([^<]*)/.exec(comb({ views: from, at, tables: new Set() } as unknown as Conventional, 800).text)?.[1] ?? '';
  const [before, after] = ['Coefficients in units of q₀', 'After the polynomial'];
  expect([0, 1, 2, 3, 4].map((at) => title(at))).toEqual([before, before, before, after, after]);
  expect(title(0, [])).toBe(before);
  // Modulo q0, its multiples are all 0.
  const words = (at: number): string => comb({ views, at, tables: new Set() } as unknown as Conventional, 800).text;
  expect(words(0)).toContain('All 2 coefficients drawn lie near 0');
  expect(words(0)).toContain('modulo q₀, its multiples do not count');
  expect(words(1)).toContain('2 lie near an integer other than 0');
  // Every step says what is magnified, and how much: here 0.42 of a column is a thousandth.
  for (const at of views.keys()) expect(words(at)).toContain('drawn 420 times as large');
});

test('every stage of a conventional bootstrapping is told, in the order of its run', () => {
  const ids = ['mod_raise', 'sub_sum', 'coeffs_to_slots', 'eval_mod', 'slots_to_coeffs'];
  const told = story({ preset: { stages: ids.map((id) => ({ id })) }, at: 3, views: [], exits: [] } as unknown as Conventional).text;
  const titles = [...told.matchAll(/<h3>([^<]*)/g)].map(([, title]) => title);
  expect(titles).toEqual(['Exhausted', 'Raise the modulus', 'Sum over rotations', 'Coefficients to slots', 'Reduce modulo q₀', 'Slots to coefficients']);
  expect(told.split('<li').findIndex((step) => step.includes('aria-current'))).toBe(4);
  // Until the set is known, the recorded run tells which stages there are.
  const recorded = story({ at: 0, views: [{}, {}], exits: [{ stage: 'mod_raise' }] } as unknown as Conventional).text;
  expect(recorded.match(/<li/g)).toHaveLength(2);
  expect(recorded).not.toContain('Not reached');
});

test('a stage that the run has not come to is told as one to come, and is not pressed', () => {
  const ids = ['mod_raise', 'coeffs_to_slots', 'eval_mod', 'slots_to_coeffs'];
  const view = (view: string, data: number[]) => ({ stage: 'mod_raise', view, data: Float64Array.from(data), indices: Uint32Array.from(data.keys()) });
  const state = {
    preset: { stages: ids.map((id) => ({ id, title: `stage ${id}` })), logQP: 100, inputLevel: 0 },
    views: [view('slots', [1, 0]), view('quotients', [2.001, -1.001])],
    exits: [{ stage: 'mod_raise', level: 3, logQ: 90, atMs: 1 }],
    tables: new Set(),
  };
  const at = (at: number): Conventional => ({ ...state, at }) as unknown as Conventional;
  const told = story(at(3)).text.split('<li').slice(1);
  expect(told.map((step) => step.includes('Not reached yet'))).toEqual([false, false, true, true, true]);
  const pressed = (i: number): number[] => stages(at(i)).text.split('<li').slice(1).flatMap((one, k) => (one.includes('aria-pressed="true"') ? [k] : []));
  expect([pressed(1), pressed(3)]).toEqual([[1], []]);
  const words = (i: number): string => comb(at(i), 800).text;
  expect(words(3)).toContain('Still the comb after “stage mod_raise”. Of 2 coefficients drawn');
  expect(words(1)).not.toContain('Still');
});

test('scores say how many there are, and what the table leaves out', () => {
  const row = { malignant: true, encrypted: 0.9, clear: 0.9, exact: 0.9 };
  const state: State = { choices: [], answers: false, choice: '', confirming: false, retrying: undefined, sentKeys: new Set(), held: undefined, busy: undefined, paused: false, tables: new Set<string>(), progress: [0, 0], journey: { points: [], steps: 1, total: 1, bootstraps: [0] }, standings: {}, ran: { set: 'a-set', by: 'here', recorded: false }, problem: undefined, rows: [row], seconds: 1, sent: 1 };
  const one = scores(state).text;
  expect(one).toContain('1 patient scored with a-set, 1 of them correctly, with 1 bootstrap on the way');
  expect(one).not.toContain('The table has the first');
  const many = scores({ ...state, rows: Array.from({ length: 100 }, () => row) }).text;
  expect(many).toContain('The table has the first 64 patients');
  expect(many.match(/<tr class="">/g)).toHaveLength(64);
  expect(scores({ ...state, rows: [{ ...row, malignant: false }] }).text).toMatch(/0 of them correctly.*<tr class="wrong">.*scored wrongly/s);
  expect(scores({ ...state, rows: [{ ...row, encrypted: 1.01 }] }).text).toContain('1 score is below 0 or above 1');
});

test('what a polynomial leaves is that of exact arithmetic', () => {
  // x - D(x) = N(x) u(x) modulo 7^2 for |I| <= 1: N = x^3 - x, and u = 5x^2 - 1 is 1/N' at the digits, modulo 7.
  const coefficients = Float64Array.of(0, 1, 0, -6, 0, 5);
  const removal: DigitRemoval = { prime: 7, exponent: 2, digitExponent: 1, bound: 1, coefficients, levels: 3, keySwitches: 3 };
  expect(powers(removal)).toEqual([1, 3, 5]);
  const points = pointsOf(removal, 3, 3, [0, 1, 6]);
  expect(points.map(({ digit }) => digit)).toEqual([-3, -2, -1, 0, 1, 2, 3]);
  for (const { digit, left, exact } of points) if (Math.abs(digit) <= 1) expect([left, exact]).toEqual([0, 3]);
  expect(points.some(({ left }) => left !== 0)).toBe(true);
  // The first power alone is x itself: it leaves exactly p y only where I is 0.
  expect(pointsOf({ ...removal, coefficients: Float64Array.of(0, 1) }, 1, 1, [0, 4])).toEqual([
    { digit: -1, left: -1, exact: 0 },
    { digit: 0, left: 0, exact: 2 },
    { digit: 1, left: 1, exact: 0 },
  ]);
});

test('of many slots so many are drawn as a page can hold', () => {
  expect(drawn(1024)).toMatchObject({ every: 1, columns: 32, slots: Array.from({ length: 1024 }, (_, i) => i) });
  const many = drawn(32_768);
  expect([many.every, many.columns, many.slots.length]).toEqual([4, 64, 2048]);
  expect(many.slots.slice(62, 66)).toEqual([248, 252, 1024, 1028]);
});

test('the recorded run of exact numbers is a whole one, and survives its own form', () => {
  const run = JSON.parse(readFileSync(new URL('../src/recorded/exact.json', import.meta.url), 'utf8')) as RecordedRun;
  const shown = decode(run);
  const views = shown.views.flatMap((view) => view ?? []);
  expect(views.map((view) => view.stage)).toEqual(['input', 'slots_to_coeffs', 'prepare', 'mod_raise', 'coeffs_to_slots', 'digit_removal']);
  expect(shown.exits.map((exit) => exit.stage)).toEqual(views.slice(1).map((view) => view.stage));
  for (const view of views) {
    expect(view.low.every((digit) => Math.abs(digit) <= 15)).toBe(true);
    if (view.place === 'slots') expect(view.high).toEqual(shown.input);
  }
  expect(shown.output).toEqual(shown.input);
  expect(encode(run.made, shown)).toEqual(run);
});

test('the way through a program is drawn from its events, each bootstrap as one step', () => {
  const journey = journeyFrom({ level: 1, logQ: 102, logScale: 42 });
  const exit = (stage: string, level: number): ProgramEvent => ({ kind: 'exit', stage, atMs: 0, level, logQ: 60 + 42 * level, logScale: 42 }) as unknown as ProgramEvent;
  const events = [
    { kind: 'progress', stage: 'arithmetic', atMs: 0, done: 3, total: 9 },
    exit('arithmetic', 0),
    { kind: 'enter', stage: 'mod_raise', atMs: 0 },
    ...['mod_raise', 'coeffs_to_slots', 'eval_mod', 'slots_to_coeffs'].map((stage, i) => exit(stage, [18, 15, 6, 3][i] ?? 0)),
    { kind: 'progress', stage: 'arithmetic', atMs: 0, done: 9, total: 9 },
    exit('arithmetic', 1),
  ] as ProgramEvent[];
  for (const event of events) take(journey, event, 4);
  expect(journey.points.map(({ step, level }) => [step, level])).toEqual([[0, 1], [3, 0], [3.25, 18], [3.5, 15], [3.75, 6], [4, 3], [9, 1]]);
  expect([journey.bootstraps, journey.steps, journey.total]).toEqual([[3], 9, 9]);
});

test('the recorded scores are drawn within their frame, and say what they are', () => {
  const run = JSON.parse(readFileSync(new URL('../src/recorded/patients.json', import.meta.url), 'utf8')) as RecordedScores;
  const state = { choices: [], choice: '', busy: undefined, paused: false, tables: new Set<string>(), progress: [0, 0], problem: undefined, ...decodeScores(run) } as unknown as State;
  for (const width of [320, 1180]) {
    const { text } = way(state, width);
    expect(text).toContain('A recorded run');
    expect(text.match(/patients-bootstrap/g)).toHaveLength(run.journey.bootstraps.length);
    const [, line = ''] = /class="patients-line" d="([^"]+)"|d="([^"]+)" class="patients-line"/.exec(text) ?? [];
    for (const [, x, y] of line.matchAll(/([\d.]+) ([\d.]+)/g)) expect([Number(x) <= width, Number(y) >= 0, Number(y) <= 230]).toEqual([true, true, true]);
    expect(line.length).toBeGreaterThan(100);
  }
  expect(scores(state).text).toContain(`${run.rows.length} patients scored`);
});
