import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bootstrapsOf, graph, type Drawn } from '../src/patients/graph.js';
import { decode, type RecordedScores } from '../src/patients/recorded.js';
import { controls, scores, valueOf, way, type Choice, type State } from '../src/patients/views.js';

const recorded = decode(JSON.parse(readFileSync(new URL('../src/recorded/patients.json', import.meta.url), 'utf8')) as RecordedScores);
const { journey, standings } = recorded;
const drawn: Drawn = { journey, standings, tables: new Set() };
/** Words of a drawing, in its order. */
const words = (all: Drawn, width: number): string[] => [...graph(all, width).text.matchAll(/<text[^>]*>([^<]+)/g)].map(([, text]) => text as string);

describe('the graph of the program', () => {
  test('has the level and the scale of the recorded run on every edge, whichever way it runs', () => {
    const edges = (['measurements', 'measurements', 'square', 'linear', 'quadratic', 'terms', 'sum', 'z', 'score'] as const).map((name) => standings[name]);
    expect(edges).not.toContain(undefined);
    const levels = edges.map((standing) => `level ${standing?.level}`).sort();
    expect(words(drawn, 1180).filter((text) => text.startsWith('level')).sort()).toEqual(levels);
    expect(words(drawn, 1180).filter((text) => text.endsWith(' bits'))).toHaveLength(edges.length);
    const both = edges.map((standing) => `level ${standing?.level}, ${standing?.logScale.toFixed(1)} bits`).sort();
    expect(words(drawn, 358).filter((text) => text.startsWith('level')).sort()).toEqual(both);
  });

  test('has room for its words between the boxes where it runs to the right, and runs downwards where there is none', () => {
    const { text } = graph(drawn, 1060);
    const number = (element: string, name: string): number => Number(new RegExp(` ${name}="([\\d.-]+)"`).exec(element)?.[1]);
    const boxes = [...text.matchAll(/<rect[^>]*>/g)].map(([rect]) => ({ left: number(rect, 'x'), right: number(rect, 'x') + number(rect, 'width'), middle: number(rect, 'y') + number(rect, 'height') / 2 }));
    expect(new Set(boxes.map(({ left }) => left)).size).toBe(9);
    const labels = [...text.matchAll(/<text[^>]*class="(?:patients-level|tick)"[^>]*>([^<]+)/g)];
    expect(labels).toHaveLength(18);
    for (const [label, words = ''] of labels) {
      // 5.8 pixels is the most that a character of such a label takes on average.
      const [x, y, half] = [number(label, 'x'), number(label, 'y'), (words.length * 5.8) / 2];
      expect(boxes.filter(({ left, right, middle }) => Math.abs(middle - y) < 25 && x + half > left && x - half < right), words).toEqual([]);
    }
    expect(new Set([...graph(drawn, 1059).text.matchAll(/<rect[^>]*>/g)].map(([rect]) => number(rect, 'x'))).size).toBe(3);
  });

  test('agrees with what was seen of the run', () => {
    const [first, last] = [journey?.points[0], journey?.points.at(-1)];
    expect([standings.measurements?.level, standings.score?.level]).toEqual([first?.level, last?.level]);
    expect(standings.score?.logQ).toBe(last?.logQ);
  });

  test('has every bootstrap once, where levels rise, and the others in the sigmoid', () => {
    const each = (['linear', 'square', 'quadratic', 'terms', 'sum', 'z', 'score'] as const).map((name) => bootstrapsOf(name, drawn));
    expect(each).toEqual([0, 0, 1, 0, 0, 0, 5]);
    const at = (level: number) => ({ level, logQ: 100, logScale: 40 });
    const made: Drawn = { tables: new Set(), journey: { bootstraps: [1, 2, 3] }, standings: { measurements: at(0), linear: at(2), square: at(0), quadratic: at(2), terms: at(2), sum: at(2), z: at(2), score: at(1) } };
    expect((['linear', 'square', 'quadratic', 'terms', 'score'] as const).map((name) => bootstrapsOf(name, made))).toEqual([1, 0, 1, 0, 1]);
    expect(words(made, 1180).filter((text) => text.includes('bootstrap'))).toEqual(['1 bootstrap', '1 bootstrap', '1 bootstrap']);
  });

  test('waits for the end of a run', () => {
    const waiting = graph({ ...drawn, standings: {} }, 1180).text;
    expect(waiting).toContain('appear on the edges when the scores are back');
    expect(waiting).not.toMatch(/level \d/);
  });
});

describe('what is shown, and what is chosen', () => {
  const small = { set: { name: 'small', slots: 512, keyBytes: 40e6, secure: false, inputLevel: 0, outputLevel: 3, stages: [] }, where: 'server' } as unknown as Choice;
  const large = { ...small, set: { ...small.set, name: 'large', keyBytes: 2.5e9 } };
  const idle = { answers: true, confirming: false, retrying: undefined, sentKeys: new Set<string>(), held: undefined, busy: undefined, paused: false, tables: new Set<string>(), progress: [0, 0] as const, problem: undefined };
  const state = (chosen: Choice, more: Partial<State> = {}): State => ({ ...recorded, ...idle, choices: [small, large], choice: valueOf(chosen), ...more });

  test('a run keeps the name of its set when another one is chosen, and the page says that it is of another', () => {
    for (const chosen of [small, large]) {
      expect(way(state(chosen), 800).text).toContain(`with ${recorded.ran?.set}.`);
      expect(scores(state(chosen)).text).toContain(`scored with ${recorded.ran?.set},`);
    }
    const mine = { ran: { set: 'small', by: 'on the server', recorded: false } };
    expect(way(state(large, mine), 800).text).toContain('on the server, with small. <b>large, chosen above, is not what it shows.</b>');
    expect(way(state(small, mine), 800).text).not.toContain('chosen above');
  });

  test('large keys are asked about, with their size', () => {
    const asked = controls(state(large, { confirming: true })).text;
    expect(asked).toContain('Make and send 2.50 GB of evaluation keys?');
    expect(asked).not.toContain('data-act="run"');
    expect(controls(state(large)).text).toContain('2.50 GB of evaluation keys are made and sent');
    expect(controls(state(large, { sentKeys: new Set(['large']) })).text).toContain('2.50 GB of evaluation keys are on the server');
  });

  test('what the server does with keys is said before it begins the program', () => {
    const said = (more: Partial<State>): string => controls(state(small, more)).text;
    expect(said({ busy: 'keys', progress: [10e6, 40e6] })).toContain('sending evaluation keys: 10.0 MB of 40.0 MB');
    expect(said({ busy: 'keys', progress: [40e6, 40e6] })).toContain('the server checks them');
    expect(said({ busy: 'run' })).toMatch(/it unpacks the keys.*<progress max="1" {2}aria/s);
    expect(said({ busy: 'run', progress: [5, 97] })).toContain('The server is at step 5 of 97');
  });
});
