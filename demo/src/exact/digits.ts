import type { IntegerView } from 'refloat';
import { count, decimal, plural } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, label, n } from '../views/svg.js';
import { pointsOf, powers } from './arithmetic.js';
import { drawn, grid, shown, type State } from './state.js';

/** What can be seen after a stage. */
const WORDS: Record<string, (state: State) => string> = {
  input: ({ preset, views }) => `${count(preset?.slots ?? 0)} integers modulo ${preset?.modulus ?? 'p'}, one in each slot. ${views.length === 0 ? 'Nothing has been encrypted yet.' : `The ciphertext is exhausted: no level is left for products, only the ${preset?.inputLevel ?? 0} of the next stage.`}`,
  slots_to_coeffs: () => 'A linear transform has turned the slots into the coefficients of a polynomial. It is exact: the picture cannot be recognised, but nothing is lost.',
  prepare: () => 'Put under a sparse secret key and multiplied by p². Without reduction modulo q₀, every coefficient is now p m + q₀ I. The integer I, small because the key is sparse, is what has to go.',
  mod_raise: () => 'Read modulo a large Q, every coefficient is I + p y modulo p². In base p that is a number of two digits: y, the message, and I below it.',
  coeffs_to_slots: () => 'The same numbers, back in slots: the picture, and beside it one small digit in every pixel.',
  digit_removal: ({ preset }) => `A polynomial D finds the low digit of x = I + p y, and x − D(x) = p y is left: every low digit is 0. Read modulo p that is y, the picture, with ${plural((preset?.outputLevel ?? 0) - (preset?.inputLevel ?? 0), 'level')} for products again.`,
};

/** Shown in place of a view that nobody can have, or that does not exist yet. */
function nothingToSee(state: State): Html {
  return html`<p class="empty">${state.views.length > 0 ? 'There is nothing to draw here: a server sees noise, as it has no secret key.' : 'The picture is being read.'}</p>`;
}

/** Both digits of every number: the message, and the digit below it. */
export function digits(state: State, width: number): Html {
  const view = shown(state);
  if (!view) return nothingToSee(state);
  const { every, columns, slots: pixels } = drawn(view.high.length);
  const rows = pixels.length / columns;
  const gap = width < 560 ? 14 : 40;
  const side = Math.min(300, (width - gap) / 2);
  const [cell, top] = [side / columns, 22];
  const tall = cell * rows;
  const white = (state.preset?.modulus ?? 65537) - 1;
  const most = Math.max(1, state.removal?.bound ?? 1);
  const left = Math.max(0, (width - 2 * side - gap) / 2);
  const pixel = (i: number, at: number, attributes: Html): Html =>
    html`<rect x="${n(at + (i % columns) * cell)}" y="${n(top + Math.floor(i / columns) * cell)}" width="${n(cell)}" height="${n(cell)}" ${attributes}/>`;
  const high = pixels.map((slot, i) => {
    const grey = Math.round(((view.high[slot] ?? 0) / white) * 255);
    return pixel(i, left, html`fill="rgb(${grey},${grey},${grey})"`);
  });
  const other = left + side + gap;
  const low = pixels.map((slot, i) => {
    const value = view.low[slot] ?? 0;
    return value === 0 ? '' : pixel(i, other, html`class="${value > 0 ? 'exact-up' : 'exact-down'}" fill-opacity="${n(0.15 + (0.85 * Math.abs(value)) / most)}"`);
  });
  const slot = Math.min(state.slot, view.high.length - 1);
  const all = grid(view.high.length).width;
  const [column, row] = [Math.floor((slot % all) / every), Math.floor(slot / all / every)];
  const ring = [left, other].map(
    (at) => html`<rect class="exact-ring" x="${n(at + column * cell - 2)}" y="${n(top + row * cell - 2)}" width="${n(cell + 4)}" height="${n(cell + 4)}"/>`,
  );
  const sentence = WORDS[view.stage]?.(state) ?? view.stage;
  const place = view.place === 'slots' ? 'slot' : 'coefficient';
  const [m, digit] = [view.high[slot] ?? 0, view.low[slot] ?? 0];
  return figure(state, {
    id: 'digits',
    title: state.views.length === 0 ? 'To be encrypted' : `Decrypted: what is in the ${place}s`,
    drawing: html`${drawing(
      width,
      top + tall + 6,
      sentence,
      'exact-digits',
      html`${label(left + side / 2, 14, 'the message', 'axis')}${label(other + side / 2, 14, 'the low digit', 'axis')}
        <g shape-rendering="crispEdges">${high}</g>
        <rect class="exact-frame" x="${n(other)}" y="${top}" width="${n(side)}" height="${n(tall)}"/><g shape-rendering="crispEdges">${low}</g>${ring}`,
    )}
      <div class="conv-sliders"><label>Number to follow <input type="range" data-input="slot" min="0" max="${view.high.length - 1}" step="1" value="${slot}" aria-valuetext="${place} ${slot}"> <output id="followed">${place} ${slot}: message ${m}, low digit ${decimal(digit, 0)}</output></label></div>`,
    caption: html`<span id="told">${sentence}</span> <span class="unit">Low digits above 0 are orange, those below 0 blue, the stronger the farther from 0.${every > 1 ? ` One pixel in ${every * every} is drawn.` : ''}</span>`,
    table: {
      columns: [place === 'slot' ? 'Slot' : 'Coefficient', 'Message', 'Low digit'],
      rows: Array.from(view.high.slice(0, 64), (value, i) => [i, value, decimal(view.low[i] ?? 0, 0)]),
    },
  });
}

/** Half the width of a tick's label, which stays at least this far from the edge. */
const EDGE = 12;

/** How often each low digit occurs: in the view that is shown, or in the last one that has any. */
export function lowDigitHistogram(state: State, width: number): Html {
  const has = (one: Pick<IntegerView, 'low'> | undefined): boolean => one?.low.some((digit) => digit !== 0) ?? false;
  const now = shown(state);
  const view = has(now) ? now : ([...state.views].reverse().find(has) ?? now);
  const bound = state.removal?.bound;
  if (!view || bound === undefined || (state.there && state.views.length > 0)) return nothingToSee(state);
  const stage = state.preset?.stages.find(({ id }) => id === view.stage)?.title;
  const all = Array.from({ length: 2 * bound + 1 }, (_, i) => i - bound);
  const counts = new Map(all.map((digit) => [digit, 0]));
  for (const digit of view.low) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const [height, top] = [240, 26];
  const bottom = height - 44;
  const step = width / all.length;
  const most = Math.max(...counts.values());
  const far = view.low.reduce((far, digit) => Math.max(far, Math.abs(digit)), 0);
  const narrow = width < 560;
  const bars = all.map((digit, i) => {
    const share = (counts.get(digit) ?? 0) / most;
    const tall = share * (bottom - top);
    return html`<line class="grid" x1="${n((i + 0.5) * step)}" x2="${n((i + 0.5) * step)}" y1="${top}" y2="${bottom}"/><rect class="${digit === 0 ? 'exact-zero' : digit > 0 ? 'exact-up' : 'exact-down'}" x="${n((i + 0.12) * step)}" y="${n(bottom - tall)}" width="${n(step * 0.76)}" height="${n(tall)}"/>${digit % (narrow ? 5 : 1) === 0 ? label(Math.max(EDGE, Math.min(width - EDGE, (i + 0.5) * step)), bottom + 20, decimal(digit, 0), 'tick') : ''}`;
  });
  const sentence =
    far === 0
      ? `All ${count(view.low.length)} low digits are 0${state.views.length === 0 ? ': the modulus has not been raised yet' : ''}.`
      : `${count(view.low.length)} low digits, none beyond ±${far}. The polynomial takes off those from ${decimal(-bound, 0)} to ${bound}, ${2 * bound + 1} of the ${count(state.preset?.modulus ?? 0)} values that a digit can have.`;
  return figure(state, {
    id: 'comb',
    title: `How often each low digit occurs${stage ? ` after “${stage}”` : ''}`,
    drawing: drawing(width, height, sentence, 'exact-comb', html`${bars}${label(width / 2, height - 6, 'low digit I', 'axis')}`),
    caption: html`${sentence} ${state.preset ? html`<span class="unit">A digit beyond ±${bound}, which would spoil its number, comes up in one of 2<sup>${decimal(-state.preset.logFailure, 0)}</sup> bootstraps at most.</span>` : ''}`,
    table: { columns: ['Low digit', 'Times'], rows: all.map((digit) => [decimal(digit, 0), counts.get(digit) ?? 0]) },
  });
}

/** Digits drawn on either side of 0, and the values of y with which I + p y is tried. */
const REACH = 24;
const MULTIPLES = [0, 1, 2, 777, 20_011, 32_768, 50_000, 65_536];

/** The low digits that the polynomial leaves when it is cut off after some powers. */
export function polynomial(state: State, width: number): Html {
  const { removal, terms } = state;
  if (!removal) return html`<p class="empty">Loading…</p>`;
  const occur = powers(removal);
  const points = pointsOf(removal, terms, REACH, MULTIPLES);
  const height = Math.min(360, Math.max(260, width * 0.45));
  const [top, bottom] = [16, height - 44];
  const half = removal.prime / 2;
  const x = (digit: number): number => ((digit + REACH + 0.5) / (2 * REACH + 1)) * width;
  const y = (left: number): number => (top + bottom) / 2 - (left / half) * ((bottom - top) / 2);
  const within = (digit: number): boolean => Math.abs(digit) <= removal.bound;
  const inside = points.filter((point) => within(point.digit));
  const numbers = inside.length * MULTIPLES.length;
  const exact = inside.reduce((sum, point) => sum + point.exact, 0);
  const last = occur[terms - 1] ?? 0;
  const all = terms === occur.length;
  const cut = all ? `All ${terms} powers, up to x${superscript(last)}` : `${plural(terms, 'power')} of ${occur.length}, up to x${superscript(last)}`;
  const sentence = `${cut}: of ${numbers} numbers I + p y with |I| ≤ ${removal.bound}, ${exact === numbers ? 'all become p y, low digit 0 and y untouched' : `${exact} ${exact === 1 ? 'becomes' : 'become'} p y`}${all ? '. Beyond ±' + String(removal.bound) + ' nothing is promised, and digits look random' : ''}.`;
  const ticks = [-REACH, -removal.bound, 0, removal.bound, REACH];
  return figure(state, {
    id: 'polynomial',
    title: 'What x − D(x) leaves, power by power',
    drawing: html`<div class="conv-sliders"><label>Powers that D adds up <input type="range" data-input="terms" min="1" max="${occur.length}" step="1" value="${terms}" aria-valuetext="${cut}"> <output id="cut">x${superscript(last)}</output></label></div>${drawing(
      width,
      height,
      sentence,
      'exact-polynomial',
      html`<rect class="exact-support" x="${n(x(-removal.bound - 0.5))}" y="${top}" width="${n(x(removal.bound + 0.5) - x(-removal.bound - 0.5))}" height="${n(bottom - top)}"/>
        ${[-half, 0, half].map((value) => html`<line class="grid" x1="0" x2="${n(width)}" y1="${n(y(value))}" y2="${n(y(value))}"/>`)}
        ${ticks.map((tick) => label(x(tick), bottom + 20, decimal(tick, 0), 'tick', tick === -REACH ? 'start' : tick === REACH ? 'end' : 'middle'))}
        ${label(width / 2, height - 6, 'I of x = I + p y', 'axis')}
        <g class="conv-dots">${points.map((point) => html`<circle class="${within(point.digit) ? 'away' : 'exact-outside'}" r="3" style="transform:translate(${n(x(point.digit))}px,${n(y(point.left))}px)"/>`)}</g>`,
    )}`,
    caption: html`<span id="left">${sentence}</span> <span class="unit">Across: the low digit I. Up: the low digit that is left, from −p/2 to p/2, the same for every y; eight y are tried. Shaded: the digits that the polynomial takes off.</span>`,
    table: {
      columns: ['Power of x', 'Coefficient modulo p²'],
      rows: occur.map((power) => [`x${superscript(power)}`, decimal(removal.coefficients[power] ?? 0, 0)]),
    },
  });
}

function superscript(power: number): string {
  return [...String(power)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? digit).join('');
}

/** What the polynomial is, and why it is so short. */
export function words({ removal }: Pick<State, 'removal'>): Html {
  if (!removal) return html``;
  const degree = removal.coefficients.length - 1;
  return html`The polynomial D gives the low digit: D(I\u00a0+\u00a0p\u00a0y)\u00a0=\u00a0I modulo p² for every y, as long as |I|\u00a0≤\u00a0${removal.bound}. Its degree can be low: N(x), the product of x\u00a0−\u00a0I over these ${2 * removal.bound + 1} digits, is a multiple of p at all such numbers, so that N(x)² is 0 there modulo p², and multiples of it may be subtracted. That brings the degree from p\u00a0=\u00a0${removal.prime} down to ${degree}, which takes ${plural(removal.levels, 'level')} and ${removal.keySwitches} key switches. Leave some of its powers out with the slider: what is left looks random until the last one is there.`;
}
