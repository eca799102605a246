/*
 * One coefficient of the reader's own: m and I are dragged, or moved with the arrow keys; x = m/q0 + I and the polynomial's value at x
 * follow. The drawn polynomial is evaluated at all such x, so the values shown are those of the set's own.
 */
import { count, decimal, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { label, n } from '../views/svg.js';
import { CURVE, REACH, unitOf, type State } from './state.js';

/** What can be moved. */
export type Handle = 'm' | 'I';

/** How far both go: m in steps that double it, the last a quarter of q0; I to the last tooth that the curve shows whole. */
const MOST: Readonly<Record<Handle, number>> = { m: 12, I: REACH - 1 };

/** log2 of q0/m at step 0, extrapolated from the doubling steps. */
const LOG_STEPS = MOST.m + 2;

/** The coefficient: m in steps, and I. `FIRST` is where it starts, with an m as messages of the page's sets have. */
export type Mine = Readonly<Record<Handle, number>>;
export const FIRST: Mine = { m: 4, I: -3 };

/** Empty space at both ends of the axes. */
const MARGIN = 26;

/** m over q0. */
export function quotientOf({ m }: Pick<Mine, 'm'>): number {
  return m === 0 ? 0 : Math.sign(m) * 2 ** (Math.abs(m) - LOG_STEPS);
}

/** The coefficient's place, in units of q0. */
export function placeOf(mine: Mine): number {
  return mine.I + quotientOf(mine);
}

/** The step of a quotient; a fraction if it lies between two steps. */
function stepOf(quotient: number): number {
  const size = Math.abs(quotient) * 2 ** LOG_STEPS;
  return Math.sign(quotient) * Math.min(MOST.m + 0.5, size < 2 ? size / 2 : Math.log2(size));
}

const upTo = (most: number): number[] => Array.from({ length: 2 * most + 1 }, (_, i) => i - most);

/** All places that the coefficient can have. */
export const PLACES = Float64Array.from(upTo(MOST.I).flatMap((I) => upTo(MOST.m).map((m) => placeOf({ m, I }))));

/** The drawn polynomial's value at the coefficient: its values at the places follow those of the curve. */
export function valueAt({ drawn }: Pick<State, 'drawn'>, { m, I }: Mine): number | undefined {
  return drawn?.values[CURVE.length + (I + MOST.I) * (2 * MOST.m + 1) + m + MOST.m];
}

/** The coefficient with one handle dragged to the pixel `at`, counted from the left end of a drawing `width` wide. */
export function dragged(mine: Mine, handle: Handle, at: number, width: number): Mine {
  const share = (at - MARGIN) / (width - 2 * MARGIN);
  return moved(mine, handle, (2 * share - 1) * MOST[handle]);
}

/** The coefficient after a key is pressed on a handle; nothing if the key does nothing there. */
export function keyed(mine: Mine, handle: Handle, key: string): Mine | undefined {
  const to: Readonly<Record<string, number>> = {
    ArrowRight: mine[handle] + 1,
    ArrowUp: mine[handle] + 1,
    ArrowLeft: mine[handle] - 1,
    ArrowDown: mine[handle] - 1,
    Home: -MOST[handle],
    End: MOST[handle],
  };
  const value = Object.hasOwn(to, key) ? to[key] : undefined;
  return value === undefined ? undefined : moved(mine, handle, value);
}

function moved(mine: Mine, handle: Handle, value: number): Mine {
  const whole = Math.round(Math.max(-MOST[handle], Math.min(MOST[handle], value)));
  return { ...mine, [handle]: whole || 0 };
}

/** The drawing: I on its axis, x on the same axis below it, and m with the value that comes back, magnified. */
export function mine(state: State, width: number): Html {
  const { m, I } = state.mine;
  const place = placeOf(state.mine);
  const back = valueAt(state, state.mine);
  const across = (value: number, most: number): number => MARGIN + ((value / most + 1) / 2) * (width - 2 * MARGIN);
  const [onTeeth, onM] = [(value: number) => across(value, MOST.I), (step: number) => across(step, MOST.m)];
  const largest = stepOf(unitOf(state) ?? 0);
  const [rowI, rowX, rowM, height] = [44, 108, 188, 236];
  const teeth = upTo(MOST.I);
  const numbers = width < 420 ? teeth.filter((tooth) => tooth % 2 === 0) : teeth;
  const content = html`
    ${teeth.map((tooth) => html`<line class="grid" x1="${n(onTeeth(tooth))}" x2="${n(onTeeth(tooth))}" y1="${rowI - 16}" y2="${rowX + 12}"/>`)}
    ${numbers.map((tooth) => label(onTeeth(tooth), rowX + 28, decimal(tooth, 0), 'tick'))}
    <line class="conv-rail" x1="${MARGIN}" x2="${n(width - MARGIN)}" y1="${rowI}" y2="${rowI}"/>
    <line class="conv-rail" x1="${MARGIN}" x2="${n(width - MARGIN)}" y1="${rowX}" y2="${rowX}"/>
    <line class="conv-way-i" x1="${n(onTeeth(0))}" x2="${n(onTeeth(I))}" y1="${rowX}" y2="${rowX}"/>
    <line class="conv-way-m" x1="${n(onTeeth(I))}" x2="${n(onTeeth(place))}" y1="${rowX}" y2="${rowX}"/>
    <circle class="conv-x" cx="${n(onTeeth(place))}" cy="${rowX}" r="5"/>${label(onTeeth(place), rowX - 14, 'x', 'tick')}
    <rect class="conv-tooth" x="${n(onM(-largest))}" y="${rowM - 18}" width="${n(onM(largest) - onM(-largest))}" height="36"/>
    <line class="conv-rail" x1="${MARGIN}" x2="${n(width - MARGIN)}" y1="${rowM}" y2="${rowM}"/>
    ${[...new Set([-MOST.m, -largest, 0, largest, MOST.m])].map((tick) => html`<line class="grid" x1="${n(onM(tick))}" x2="${n(onM(tick))}" y1="${rowM - 18}" y2="${rowM + 18}"/>${label(onM(tick), rowM + 36, inQ0(tick), 'tick')}`)}
    ${back === undefined ? '' : html`<circle class="conv-back" cx="${n(onM(stepOf(back)))}" cy="${rowM}" r="15"/>`}
    ${grip('I', onTeeth(I), rowI, I, decimal(I, 0))}
    ${grip('m', onM(m), rowM, m, inQ0(m))}`;
  return figure(state, {
    id: 'mine',
    title: 'Drag m and I',
    drawing: html`<svg class="conv-mine" viewBox="0 0 ${n(width)} ${height}" width="${n(width)}" height="${height}" role="group" aria-label="A coefficient of your own">${content}</svg>`,
    caption: html`<span id="mine-told">${told(state.mine, back)}</span> <span class="unit">At the top I, below it x = m/q₀ + I. At the bottom m, magnified: a step doubles it${largest > 0 ? ', and coefficients of messages lie in the shaded part' : ''}. The ring is what the polynomial makes of x.</span>`,
    table: {
      columns: ['I', 'x', 'Polynomial of x'],
      rows: teeth.map((tooth): [string, string, string] => {
        const one = { m, I: tooth };
        return [decimal(tooth, 0), decimal(placeOf(one), 6), decimal(valueAt(state, one), 6)];
      }),
    },
  });
}

function grip(handle: Handle, x: number, y: number, value: number, words: string): Html {
  return html`<g class="conv-grip" role="slider" tabindex="0" data-drag="${handle}" aria-label="${handle}" aria-valuemin="${-MOST[handle]}" aria-valuemax="${MOST[handle]}" aria-valuenow="${value}" aria-valuetext="${words}" style="transform:translate(${n(x)}px,${y}px)"><circle class="conv-touch" r="22"/><circle r="11"/><text text-anchor="middle" y="4">${handle}</text></g>`;
}

/** A step of m as a fraction of q0. */
function inQ0(step: number): string {
  return step === 0 ? '0' : `${step < 0 ? '−' : ''}q₀/${count(2 ** (LOG_STEPS - Math.abs(step)))}`;
}

function told(mine: Mine, back: number | undefined): string {
  const quotient = quotientOf(mine);
  const sum = `m = ${inQ0(mine.m)} and I = ${decimal(mine.I, 0)} make x = ${decimal(placeOf(mine), 6)}.`;
  if (back === undefined) return `${sum} The polynomial is being fitted.`;
  const off = Math.abs(back - quotient);
  const verdict = off < 1e-3 * Math.max(Math.abs(quotient), quotientOf({ m: 1 })) ? 'm/q₀ is back' : 'too far from m/q₀, as the curve bends where m is this large';
  return `${sum} The polynomial makes ${decimal(back, 6)} of it, ${scientific(off)} away from m/q₀ = ${decimal(quotient, 6)}: ${verdict}, whatever I is.`;
}
