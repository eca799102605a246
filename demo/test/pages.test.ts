import { readFileSync } from 'node:fs';
import type { StageView } from 'refloat';
import { describe, expect, test } from 'vitest';
import { PAGES, pages } from '../pages.js';
import { comb, lowestDegree } from '../src/conventional/comb.js';
import type { State as Conventional } from '../src/conventional/state.js';
import { FUNCTIONS, chart } from '../src/gates/chart.js';
import { scores, type State } from '../src/patients/views.js';

const plugin = pages();
const hook = plugin.transformIndexHtml as { handler(html: string, context: { path: string }): string };

describe('every page', () => {
  for (const page of Object.keys(PAGES)) {
    test(`${page} has its head and links to the others`, () => {
      const source = readFileSync(new URL(`../${page}.html`, import.meta.url), 'utf8');
      const written = hook.handler(source, { path: `/${page}.html` });
      const [head = ''] = written.split('</head>');
      for (const part of ['<meta charset="utf-8">', 'name="viewport"', 'name="description"', '<title>refloat: ', 'rel="icon"']) expect(head).toContain(part);
      // Above, and below where there is no room above.
      const navs = written.match(/<nav.*?<\/nav>/g) ?? [];
      expect(navs).toHaveLength(2);
      for (const nav of navs) {
        for (const [other, words] of Object.entries(PAGES)) expect(nav.includes(`<a href="./${other}.html">${words}</a>`)).toBe(other !== page);
      }
      expect(written).not.toContain('<!--');
    });
  }

  test('without its marks is no page', () => {
    expect(() => hook.handler('<html></html>', { path: '/index.html' })).toThrow('<!--head-->');
  });
});

test('f of the result is offered while there is a result', () => {
  const state = { table: [1, 0], active: 0, x: 0, seen: {}, path: [0, 1], set: 'fbs8', keys: undefined, busy: undefined, problem: 'out of memory' };
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
  const [before, after] = ['Coefficients over q₀', 'After the polynomial'];
  expect([0, 1, 2, 3, 4].map((at) => title(at))).toEqual([before, before, before, after, after]);
  expect(title(0, [])).toBe(before);
});

test('scores say how many there are, and what the table leaves out', () => {
  const row = { malignant: true, encrypted: 0.9, clear: 0.9, exact: 0.9 };
  const state: State = { sets: [], set: '', busy: undefined, progress: [0, 0], bootstraps: 1, problem: undefined, rows: [row], seconds: 1, sent: 1 };
  const one = scores(state).text;
  expect(one).toContain('1 patient scored, 1 of them rightly, with 1 bootstrap put in');
  expect(one).not.toContain('The table has the first');
  const many = scores({ ...state, rows: Array.from({ length: 100 }, () => row) }).text;
  expect(many).toContain('The table has the first 64 patients');
  expect(many.match(/<tr>/g)).toHaveLength(65);
});
