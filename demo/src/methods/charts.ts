import { count, decimal, duration } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, label, n } from '../views/svg.js';
import { byDigits, byGates, crossingOf, type Surveyed } from './data.js';
import { countOf, kindOf, type State } from './state.js';

/** A logarithmic axis: maps numbers between `low` and `high` to positions between `from` and `to`. */
function axis([low, high]: readonly [number, number], [from, to]: readonly [number, number]): (x: number) => number {
  return (x) => from + (Math.log(x / low) / Math.log(high / low)) * (to - from);
}

/** Powers of a base between two numbers. */
function powers(base: number, [low, high]: readonly [number, number]): number[] {
  const [first, last] = [low, high].map((x) => Math.log(x) / Math.log(base)) as [number, number];
  return Array.from({ length: Math.max(0, Math.floor(last + 1e-9) - Math.ceil(first - 1e-9) + 1) }, (_, i) => base ** (Math.ceil(first - 1e-9) + i));
}

const seconds = (x: number): string => duration(1000 * x);

/** A power of ten in seconds, for an axis. */
const ofSeconds = (x: number): string => `${x < 1 ? String(Number(x.toPrecision(1))) : count(x)} s`;

/** The time of both ways against the number of comparisons. */
export function crossingChart(state: State, width: number): Html {
  const kind = kindOf(state);
  if (!kind) return html`<p class="empty">The recorded figures are on their way.</p>`;
  const height = Math.min(400, Math.max(270, width * 0.55));
  const [left, right, top, bottom] = [54, width - 14, 18, height - 46];
  const counts = [1, kind.slots] as const;
  const ends = [byGates(kind, 1), byGates(kind, kind.slots), byDigits(kind, 1)];
  const range = [Math.min(...ends) / 1.6, Math.max(...ends) * 1.6] as const;
  const [x, y] = [axis(counts, [left, right]), axis(range, [bottom, top])];
  const at = Array.from({ length: 161 }, (_, i) => kind.slots ** (i / 160));
  const line = (cost: (count: number) => number, from: number, to: number): string =>
    at.filter((m) => m >= from && m <= to).map((m, i) => `${i ? 'L' : 'M'}${n(x(m))} ${n(y(cost(m)))}`).join('');
  const gates = (m: number): number => byGates(kind, m);
  const digits = (m: number): number => byDigits(kind, m);
  const [found, asked] = [crossingOf(kind), countOf(state)];
  const ticks = powers(width < 480 ? 32 : 8, counts);
  // A long number at the edge would stick out of the column.
  const place = (tick: number): number => Math.min(x(tick), width - 3.6 * count(tick).length);
  const content = html`${ticks.map((tick) => html`<line class="grid" x1="${n(x(tick))}" x2="${n(x(tick))}" y1="${top}" y2="${n(bottom)}"/>${label(place(tick), bottom + 18, count(tick), 'tick')}`)}
    ${powers(10, range).map((tick) => html`<line class="grid" x1="${left}" x2="${n(right)}" y1="${n(y(tick))}" y2="${n(y(tick))}"/>${label(left - 8, y(tick) + 4, ofSeconds(tick), 'tick', 'end')}`)}
    ${label((left + right) / 2, height - 6, 'comparisons', 'axis')}
    <line class="methods-rule" x1="${n(x(kind.published))}" x2="${n(x(kind.published))}" y1="${top}" y2="${n(bottom)}"/>${label(x(kind.published) - 6, top + 12, `survey: ${count(kind.published)}`, 'tick', 'end')}
    <path class="methods-gates" d="${line(gates, 1, kind.atOnce)}"/><path class="methods-gates beyond" d="${line(gates, kind.atOnce, kind.slots)}"/>
    <path class="methods-digits" d="${line(digits, 1, kind.slots)}"/>
    ${label(x(1) + 6, y(gates(1)) - 9, 'gates', 'methods-name gates', 'start')}${label(x(1) + 6, y(digits(1)) - 9, 'digits', 'methods-name digits', 'start')}
    <line class="methods-asked" x1="${n(x(asked))}" x2="${n(x(asked))}" y1="${top}" y2="${n(bottom)}"/>
    <circle class="methods-at gates" r="5" cx="${n(x(asked))}" cy="${n(y(gates(asked)))}"/><circle class="methods-at digits" r="5" cx="${n(x(asked))}" cy="${n(y(digits(asked)))}"/>
    ${found ? html`<circle class="methods-crossing" r="8" cx="${n(x(found))}" cy="${n(y(gates(found)))}"/>` : ''}`;
  const sentence = found
    ? `Gates and digits cost the same at ${count(found)} comparisons: fewer are cheaper by gates, more by digits.`
    : `Gates are cheaper up to ${count(kind.atOnce)} comparisons, as many as come back from them at once.`;
  return figure(state, {
    id: 'crossing',
    title: `Gates (${kind.gates}) or digits (${kind.digits})`,
    drawing: drawing(width, height, sentence, 'methods-chart', content),
    caption: html`${sentence} <span class="unit">Both axes are logarithmic, and both ways have one thread. Solid upright line: the number that you chose. Dashed line: up to where the survey would take gates. Dashed curve: more than the ${count(kind.atOnce)} comparisons whose results come back from the gates at once.</span>`,
    table: {
      columns: ['Comparisons', 'By gates', 'By digits'],
      rows: powers(2, counts).map((m) => [count(m), seconds(gates(m)), seconds(digits(m))]),
    },
  });
}

/** Every method of the survey, published and ours: latency against the number of slots it refreshes. */
export function surveyChart(state: State, width: number): Html {
  const rows = state.recorded?.survey.rows ?? [];
  if (rows.length === 0) return html`<p class="empty">The recorded figures are on their way.</p>`;
  const height = Math.min(420, Math.max(300, width * 0.5));
  const [left, right, top, bottom] = [62, width - 18, 18, height - 46];
  const both = rows.flatMap(({ publishedSlots, publishedSeconds, measured }) => [[publishedSlots, publishedSeconds], ...(measured ? [[measured.slots, measured.seconds]] : [])] as [number, number][]);
  const slots = [1, Math.max(...both.map(([s]) => s)) * 1.4] as const;
  const range = [Math.min(...both.map(([, t]) => t)) / 1.6, Math.max(...both.map(([, t]) => t)) * 1.6] as const;
  const [x, y] = [axis(slots, [left + 12, right]), axis(range, [bottom, top])];
  const published = rows.map(({ publishedSlots, publishedSeconds, measured }, i) => {
    const [px, py] = [x(publishedSlots), y(publishedSeconds)];
    const pair = measured ? html`<line class="methods-pair" x1="${n(px)}" y1="${n(py)}" x2="${n(x(measured.slots))}" y2="${n(y(measured.seconds))}"/>` : label(px + 10, py + 4, i + 1, 'tick', 'start');
    return html`${pair}<circle class="methods-published" r="6" cx="${n(px)}" cy="${n(py)}"/>`;
  });
  // Drawn last, so that none is hidden.
  const own = rows.map(({ measured }, i) => (measured ? html`<circle class="methods-own" r="6" cx="${n(x(measured.slots))}" cy="${n(y(measured.seconds))}"/>${label(x(measured.slots) - 10, y(measured.seconds) + 4, i + 1, 'methods-number', 'end')}` : ''));
  const content = html`${powers(8, slots).map((tick) => html`<line class="grid" x1="${n(x(tick))}" x2="${n(x(tick))}" y1="${top}" y2="${n(bottom)}"/>${label(x(tick), bottom + 18, count(tick), 'tick')}`)}
    ${powers(10, range).map((tick) => html`<line class="grid" x1="${left}" x2="${n(right)}" y1="${n(y(tick))}" y2="${n(y(tick))}"/>${label(left - 8, y(tick) + 4, ofSeconds(tick), 'tick', 'end')}`)}
    ${label((left + right) / 2, height - 6, 'slots refreshed at once', 'axis')}${published}${own}`;
  const done = rows.filter(({ measured }) => measured).length;
  const sentence = done === rows.length ? `All ${done} rows of the survey are measured here too.` : `${done} of the survey’s ${rows.length} rows are measured here too.`;
  return figure(state, {
    id: 'survey',
    title: 'Time of a bootstrapping, by slots refreshed',
    drawing: html`${drawing(width, height, sentence, 'methods-chart', content)}<ol class="methods-legend">${rows.map(({ method, params }) => html`<li>${method}${params ? html`, ours <code>${params}</code>` : ''}</li>`)}</ol>`,
    caption: html`${sentence} <span class="unit">Hollow: published, on another machine. Filled: ours, on one thread, with 128-bit security. A line joins the two of a row.</span>`,
    table: surveyTable(rows),
  });
}

function surveyTable(rows: readonly Surveyed[]): { columns: string[]; rows: (string | number)[][] } {
  return {
    columns: ['Row', 'Method', 'Published: slots', 'bits', 'seconds', 'slots a second', 'Ours', 'slots', 'bits', 'seconds', 'slots a second', 'Note'],
    rows: rows.map(({ method, publishedSlots, publishedBits, publishedSeconds, publishedSlotsPerSecond, params, measured, note }, i) => [
      i + 1,
      method,
      count(publishedSlots),
      publishedBits,
      decimal(publishedSeconds, 4),
      decimal(publishedSlotsPerSecond, 2),
      params ?? '–',
      measured ? count(measured.slots) : '–',
      decimal(measured?.bits, 1),
      decimal(measured?.seconds, 4),
      decimal(measured?.slotsPerSecond, 2),
      note,
    ]),
  };
}
