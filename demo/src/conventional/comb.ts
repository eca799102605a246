import type { StageView } from 'refloat';
import { count, decimal, plural, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, label, n } from '../views/svg.js';
import { PLACES, placeOf, valueAt } from './own-coefficient.js';
import { CURVE, near, ofMessage, REACH, viewOf, type State } from './state.js';

/** Most dots that are drawn. */
const DOTS = 512;

/** How much of a column the farthest dot is from its middle. */
const INSIDE = 0.42;

/** A coefficient of the run: the integer that it was at before the reduction, and where it is now. */
interface Dot {
  readonly index: number;
  readonly tooth: number;
  readonly rest: number;
  readonly at: number;
}

/** The view whose comb is drawn: the latest one with coefficients, since slots and stages still to come have none. */
function combOf(state: State): StageView | undefined {
  return state.views.slice(0, state.at + 1).reverse().find((view) => view.view === 'quotients') ?? viewOf(state, 'mod_raise');
}

function dots(state: State): Dot[] {
  const [first, view] = [viewOf(state, 'mod_raise'), combOf(state)];
  if (!first || !view) return [];
  const [raised, now] = [ofMessage(state, first), ofMessage(state, view)];
  const stride = Math.max(1, Math.ceil(raised.data.length / DOTS));
  const out: Dot[] = [];
  for (let i = 0; i < raised.data.length; i += stride) {
    const x = now.data[i] ?? 0;
    const at = Math.round(x);
    // Before the modulus is raised, coefficients are reduced modulo q0: there are no multiples of it yet.
    out.push({ index: raised.indices[i] ?? i, tooth: Math.round(raised.data[i] ?? 0), rest: x - at, at: state.at === 0 ? 0 : at });
  }
  return out;
}

/** The comb: coefficients over q0, magnified between the teeth. */
export function comb(state: State, width: number): Html {
  const all = dots(state);
  const narrow = width < 560;
  const height = narrow ? 320 : 300;
  const [top, bottom] = [28, height - 44];
  const most = Math.max(3, ...all.map((dot) => Math.abs(dot.tooth)));
  const step = width / (2 * most + 1);
  const widest = Math.max(2 ** -20, ...all.map((dot) => Math.abs(dot.rest)));
  const middle = (tooth: number): number => (tooth + most + 0.5) * step;
  const teeth = Array.from({ length: 2 * most + 1 }, (_, i) => i - most);
  const within = (tooth: number): number => all.filter((dot) => dot.at === tooth).length;
  const many = Math.max(0, ...all.map((dot) => dot.index)) + 1;
  const content = html`${teeth.map(
    (tooth) => html`<rect class="conv-tooth" x="${n(middle(tooth) - step * 0.46)}" y="${top - 8}" width="${n(step * 0.92)}" height="${n(bottom - top + 16)}"/><line class="grid" x1="${n(middle(tooth))}" x2="${n(middle(tooth))}" y1="${top - 8}" y2="${bottom + 8}"/>${label(middle(tooth), bottom + 26, decimal(tooth, 0), 'tick')}${all.length > 0 && !narrow ? label(middle(tooth), 12, within(tooth), 'tick') : ''}`,
  )}${label(width / 2, height - 2, html`x = m/q₀ + I`, 'axis')}
    <g class="conv-dots">${all.map(
      (dot) => html`<circle class="${dot.tooth === 0 ? 'home' : 'away'}" r="${narrow ? 1.6 : 2.2}" style="transform:translate(${n(middle(dot.at) + (dot.rest / widest) * step * INSIDE)}px,${n(top + (dot.index / many) * (bottom - top))}px)"/>`,
    )}</g>`;
  const sentence = combSentence(state, all, widest);
  return figure(state, {
    id: 'comb',
    title: state.at > 0 && all.length > 0 && all.every((dot) => dot.at === 0) ? 'After the polynomial' : 'Coefficients in units of q₀',
    drawing: drawing(width, height, sentence, 'conv-comb', content),
    caption: html`${sentence} <span class="unit">${all.length > 0 ? `There is a column for each integer I. Within a column distances are drawn ${count(Number((INSIDE / widest).toPrecision(2)))} times as large as between columns. From top to bottom: the coefficients, orange where raising the modulus adds an I other than 0.` : ''}</span>`,
    table: {
      columns: ['I', 'Coefficients drawn', 'Farthest from I'],
      rows: teeth.map((tooth) => [
        decimal(tooth, 0),
        within(tooth),
        scientific(Math.max(0, ...all.filter((dot) => dot.at === tooth).map((dot) => Math.abs(dot.rest)))),
      ]),
    },
  });
}

function combSentence(state: State, all: readonly Dot[], widest: number): string {
  const view = combOf(state);
  const before = state.at > 0 && view && view !== state.views[state.at];
  const title = state.preset?.stages.find(({ id }) => id === view?.stage)?.title;
  return `${before && title ? `Still the comb after “${title}”. ` : ''}${lying(state, all, widest)}`;
}

function lying(state: State, all: readonly Dot[], widest: number): string {
  if (all.length === 0) return 'The comb appears here once a run has raised the modulus.';
  if (state.at === 0) return `All ${all.length} coefficients drawn lie near 0, the farthest at ${scientific(widest)} of q₀: modulo q₀, its multiples do not count.`;
  const beside = all.filter((dot) => dot.at !== 0).length;
  const lie = beside === 1 ? 'lies' : 'lie';
  const farthest = Math.max(...all.map((dot) => Math.abs(dot.at)));
  if (beside === 0) return `All ${all.length} coefficients drawn lie near 0, the farthest at ${scientific(widest)} of q₀: the integers are gone, and the message is left.`;
  return `Of ${all.length} coefficients drawn, ${beside} ${lie} near an integer other than 0, up to ±${farthest}; none is farther from its integer than ${scientific(widest)}.`;
}

/** The polynomial with the coefficients of the run on it. */
export function polynomial(state: State, width: number): Html {
  const { own, drawn } = state;
  if (!own || !drawn) return html`<p class="empty">The polynomial is being fitted.</p>`;
  const folded = state.zoom > 0;
  const half = folded ? 0.5 / 2 ** state.zoom : REACH;
  const height = Math.min(380, Math.max(240, width * 0.5));
  const [left, right, top, bottom] = [12, width - 12, 16, height - 40];
  const tall = folded ? half : 0.25;
  const x = (value: number): number => left + ((value + half) / (2 * half)) * (right - left);
  const y = (value: number): number => (top + bottom) / 2 - (Math.max(-1.04, Math.min(1.04, value / tall)) * (bottom - top)) / 2;
  const at = folded ? near(state.zoom) : CURVE;
  const offset = folded ? CURVE.length + PLACES.length : 0;
  const curve = Array.from(at, (value, i) => `${n(x(value))},${n(y(drawn.values[offset + i] ?? 0))}`).join(' ');
  const ticks = folded ? (width < 560 ? [-1, 0, 1] : [-1, -0.5, 0, 0.5, 1]).map((share) => share * half) : Array.from({ length: 2 * REACH + 1 }, (_, i) => i - REACH);
  const points = onCurve(state, folded);
  const sentence = polynomialSentence(state);
  const content = html`<line class="grid" x1="${left}" x2="${n(right)}" y1="${n(y(0))}" y2="${n(y(0))}"/>
    ${ticks.map((tick) => html`<line class="grid" x1="${n(x(tick))}" x2="${n(x(tick))}" y1="${top}" y2="${bottom}"/>${width < 560 && tick % 2 && !folded ? '' : label(x(tick), bottom + 20, folded ? scientific(tick) : decimal(tick, 0), 'tick', tick === ticks[0] && folded ? 'start' : tick === ticks.at(-1) && folded ? 'end' : 'middle')}`)}
    ${folded ? html`<line class="conv-exact" x1="${n(x(-half))}" y1="${n(y(-half))}" x2="${n(x(half))}" y2="${n(y(half))}"/>` : teeth().map(([from, to]) => html`<line class="conv-exact" x1="${n(x(from))}" y1="${n(y(-SHOWN))}" x2="${n(x(to))}" y2="${n(y(SHOWN))}"/>`)}
    <polyline class="conv-curve" points="${curve}"/>
    ${ownMark(state, folded, half, x, y)}
    <g class="conv-dots">${points.map(([px, py, home]) => html`<circle class="${home ? 'home' : 'away'}" r="2.4" style="transform:translate(${n(x(px))}px,${n(y(py))}px)"/>`)}</g>`;
  return figure(state, {
    id: 'polynomial',
    title: folded ? 'Magnified about all integers at once' : `The polynomial from ${decimal(-REACH, 0)} to ${REACH}`,
    drawing: html`<div class="conv-sliders">
        <label>Magnify the drawing about the integers <input type="range" data-input="zoom" min="0" max="12" step="1" value="${state.zoom}" aria-valuetext="${2 ** state.zoom} times"> <output>${2 ** state.zoom} ×</output></label>
        ${own.kind === 'sine' ? html`<label>Degree of the cosine <input type="range" data-input="degree" min="${lowestDegree(own.degree)}" max="${own.degree}" step="${DEGREE_STEP}" value="${state.degree}"> <output>${drawn.degree}</output></label>` : ''}
      </div>${drawing(width, height, sentence, 'conv-polynomial', content)}`,
    caption: html`${sentence} <span class="unit">Dashed: x − round(x). Each dot is a coefficient of this run: across, its x; up, what the polynomial made of it${folded ? '; all integers are laid on one another' : ''}. The ring is the coefficient of your own.</span>`,
    table: {
      columns: ['Chebyshev polynomial', 'Coefficient'],
      rows: Array.from(drawn.coefficients, (c, i): [string, string] => [`T${i}`, c === 0 ? '0' : c.toExponential(15)]).filter(([, c]) => c !== '0'),
    },
  });
}

/** The reader's own coefficient on the curve, if it is within the drawing. */
function ownMark(state: State, folded: boolean, half: number, x: (value: number) => number, y: (value: number) => number): Html | string {
  const place = placeOf(state.mine);
  const at = folded ? place - state.mine.I : place;
  const value = valueAt(state, state.mine);
  return value === undefined || Math.abs(at) > half ? '' : html`<circle class="conv-x" cx="${n(x(at))}" cy="${n(y(value))}" r="6"/>`;
}

/** Step of the degree, and the lowest degree: 18 or a little more, so that the steps end at the set's own. */
const DEGREE_STEP = 4;
export function lowestDegree(own: number): number {
  return Math.min(own, 18 + ((((own - 18) % DEGREE_STEP) + DEGREE_STEP) % DEGREE_STEP));
}

/** How much of a tooth of x - round(x) is drawn on either side of its integer. */
const SHOWN = 0.26;

/** Ends of the teeth of x - round(x). */
function teeth(): [number, number][] {
  return Array.from({ length: 2 * REACH - 1 }, (_, i) => [i - REACH + 1 - SHOWN, i - REACH + 1 + SHOWN]);
}

/** Coefficients before and after the polynomial: measured on the ciphertexts, or another degree's polynomial at the same places. */
function onCurve(state: State, folded: boolean): [number, number, boolean][] {
  const before = viewOf(state, 'coeffs_to_slots');
  const after = viewOf(state, 'eval_mod');
  const values = state.drawn?.degree === state.own?.degree ? after?.data : state.atPoints;
  if (!before || !after || !values) return [];
  const stride = Math.max(1, Math.ceil(before.data.length / DOTS));
  const out: [number, number, boolean][] = [];
  for (let i = 0; i < before.data.length; i += stride) {
    const x = before.data[i] ?? 0;
    const tooth = Math.round(x);
    const [at, y] = [folded ? x - tooth : x, values[i] ?? 0];
    // What lies outside a magnified drawing is left out.
    if (!folded || Math.abs(at) <= 0.5 / 2 ** state.zoom) out.push([at, y, tooth === 0]);
  }
  return out;
}

function polynomialSentence(state: State): string {
  const { own, drawn } = state;
  if (!own || !drawn) return '';
  const what = `Degree ${drawn.degree}, then the angle is doubled ${['never', 'once', 'twice'][drawn.doubleAngles] ?? `${drawn.doubleAngles} times`}${drawn.arcsineDegree ? `, then an arcsine of degree ${drawn.arcsineDegree}` : ''}. Together that takes ${plural(drawn.levels, 'level')} and ${plural(drawn.keySwitches, 'key switch')}; ${drawn.kind === 'harmonics' ? `near the integers x − round(x) is right to ${scientific(drawn.fitError)}` : `the cosine is right to ${scientific(drawn.fitError)}`}.`;
  const [before, after] = [viewOf(state, 'coeffs_to_slots'), viewOf(state, 'eval_mod')];
  if (!before || !after) return what;
  if (drawn.degree === own.degree) return `${what} In this run coefficients were then off by at most ${scientific(after.maxError / after.unit)}, for messages up to 1.`;
  const points = state.atPoints;
  if (!points) return what;
  const off = points.reduce((worst, y, i) => Math.max(worst, Math.abs(y - (after.expected[i] ?? 0))), 0);
  return `${what} At the coefficients of this run it would be off by up to ${scientific(off / after.unit)}, for messages up to 1.`;
}
