import { decimal, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, label, n } from '../views/svg.js';
import { QUESTIONS } from './questions.js';
import { tooClose, type Answer, type State } from './state.js';
import { isMarked } from './words.js';

/** Least distance between two names on the dial, in pixels. */
const APART = 17;

/** The place of every number on the circle of the gates: a distance of 1 is less than half a turn, so that its sign can be read. */
export function dial(state: State, answer: Answer | undefined, width: number): Html {
  const size = Math.min(width, 340);
  const [cx, cy, r] = [size / 2, size / 2, size / 2 - 52];
  const { turns, ends } = QUESTIONS[answer?.question ?? state.question];
  // The middle of the range is at the top.
  const middle = (ends[0] + ends[1]) / 2;
  const at = (x: number, radius: number): readonly [number, number] => {
    const angle = 2 * Math.PI * turns * (x - middle);
    return [cx + radius * Math.sin(angle), cy - radius * Math.cos(angle)];
  };
  const arc = (from: number, to: number, radius: number): string => {
    const [[x0, y0], [x1, y1]] = [at(from, radius), at(to, radius)];
    return `M${n(x0)} ${n(y0)}A${n(radius)} ${n(radius)} 0 0 1 ${n(x1)} ${n(y1)}`;
  };
  const entries = answer?.entries ?? [];
  const places = spread(entries.map(({ number }) => number), APART / (2 * Math.PI * turns * (r + 26)));
  const least = answer?.least ?? 0;
  const marked = entries[state.marked];
  const points = entries.map((entry, i) => {
    const [x, y] = at(entry.number, r);
    const place = places[i] ?? entry.number;
    const [fx, fy] = at(entry.number, r + 8);
    const [lx, ly] = at(place, r + 19);
    const [tx, ty] = at(place, r + 30);
    return html`<path class="triage-lead" d="M${n(fx)} ${n(fy)}L${n(lx)} ${n(ly)}"/><circle class="triage-point${isMarked(entry) ? ' top' : ''}${i === state.marked ? ' followed' : ''}" r="${isMarked(entry) ? 5.5 : 4}" cx="${n(x)}" cy="${n(y)}"/>${label(tx, ty + 4.5, entry.name, isMarked(entry) ? 'triage-name top' : 'triage-name')}`;
  });
  const [left, right] = [at(ends[0], r - 22), at(ends[1], r - 22)];
  const sentence = dialSentence(answer);
  return figure(state, {
    id: 'dial',
    title: 'On the circle of the gates',
    drawing: drawing(size, size, sentence, 'triage-dial', html`<circle class="digits-ring" cx="${n(cx)}" cy="${n(cy)}" r="${n(r)}"/>
      <path class="triage-range" d="${arc(ends[0], ends[1], r)}"/>
      ${marked && least > 0 ? html`<path class="triage-band" d="${arc(marked.number - least, marked.number + least, r)}"/>` : ''}
      ${label(left[0], left[1] + 5, decimal(ends[0], 0), 'tick')}${label(right[0], right[1] + 5, decimal(ends[1], 0), 'tick')}
      ${label(cx, cy - 4, entries.length ? entries.length : '', 'triage-count')}${label(cx, cy + 16, entries.length ? 'phases' : '', 'axis')}
      ${points}`),
    caption: html`${sentence}${least > 0 ? html` <span class="unit">Pale band: numbers less than ${decimal(least, 3)} from ${marked?.name ?? 'the one followed'} may come out in either order.</span>` : ''}`,
    table: {
      columns: ['Name', 'Computed', 'In the clear', 'Its place, in turns'],
      rows: entries.map(({ name, number, clear }) => [name, ...[number, clear, turns * number].map((x) => decimal(x, 5))]),
    },
  });
}

function dialSentence(answer: Answer | undefined): string {
  if (!answer) return 'The numbers appear here, as places on a circle.';
  const off = answer.entries.reduce((most, { number, clear }) => Math.max(most, Math.abs(number - clear)), 0);
  const close = tooClose(answer);
  const pairs = close.slice(0, 4).map(([a, b]) => `${a.name} and ${b.name}`);
  const more = close.length > pairs.length ? `; and ${close.length - pairs.length} more pairs` : '';
  const verdict =
    answer.least === undefined
      ? ''
      : close.length === 0
        ? ' All are far enough apart for their order to be certain.'
        : ` Too close for their order to be certain: ${pairs.join(', ')}${more}.`;
  return `${answer.entries.length} numbers, computed on encrypted data and off by at most ${scientific(off)}.${verdict}`;
}

/** Places near the given numbers, in their order, that are at least `apart` from each other: where the names stand. */
export function spread(numbers: readonly number[], apart: number): number[] {
  const order = Array.from(numbers.keys()).sort((i, j) => (numbers[i] ?? 0) - (numbers[j] ?? 0));
  const out = [...numbers];
  // Runs of names that touch are centred on their numbers; runs that come to touch are joined.
  let runs: { members: number[]; from: number }[] = [];
  const from = (members: readonly number[]): number => members.reduce((sum, i) => sum + (numbers[i] ?? 0), 0) / members.length - ((members.length - 1) * apart) / 2;
  for (const i of order) {
    runs.push({ members: [i], from: numbers[i] ?? 0 });
    for (let last = runs.at(-1), before = runs.at(-2); last && before && before.from + before.members.length * apart > last.from; last = runs.at(-1), before = runs.at(-2)) {
      const members = [...before.members, ...last.members];
      runs = [...runs.slice(0, -2), { members, from: from(members) }];
    }
  }
  for (const run of runs) run.members.forEach((i, k) => (out[i] = run.from + k * apart));
  return out;
}
