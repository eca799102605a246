/*
 * One coefficient of the reader's own: m and I are dragged, or moved with the arrow keys, and x = m/q0 + I with what the polynomial
 * makes of it follow. All x lie on the curve that is drawn, so its values are those of the set's own polynomial.
 */
import { decimal, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { label, n } from '../views/svg.js';
import { REACH, type State } from './state.js';

/** What can be moved. */
export type Handle = 'm' | 'I';

/** Steps of m to a q0: those of the curve. */
const STEPS = 32;

/** How far both go: m to a quarter of q0, I to the last tooth that the curve has whole. */
const MOST: Readonly<Record<Handle, number>> = { m: STEPS / 4, I: REACH - 1 };

/** The coefficient: m in steps, and I. */
export type Mine = Readonly<Record<Handle, number>>;
export const FIRST: Mine = { m: 2, I: -3 };

/** Empty space at both ends of the axes. */
const MARGIN = 26;

/** Where it lies, in units of q0. */
export function placeOf({ m, I }: Mine): number {
  return I + m / STEPS;
}

/** What the polynomial that is drawn makes of a place. */
export function valueAt({ drawn }: Pick<State, 'drawn'>, place: number): number | undefined {
  return drawn?.values[Math.round((place + REACH) * STEPS)];
}

/** The coefficient with one handle at a share of its axis, counted from the left end of a drawing of a width. */
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

/** The drawing: I on its axis, x on the same below it, and m with what comes back, magnified. */
export function mine(state: State, width: number): Html {
  const { m, I } = state.mine;
  const place = placeOf(state.mine);
  const back = valueAt(state, place);
  const across = (value: number, most: number): number => MARGIN + ((value / most + 1) / 2) * (width - 2 * MARGIN);
  const [onTeeth, onM] = [(value: number) => across(value, MOST.I), (value: number) => across(value, MOST.m / STEPS)];
  const [rowI, rowX, rowM, height] = [44, 108, 188, 236];
  const teeth = Array.from({ length: 2 * MOST.I + 1 }, (_, i) => i - MOST.I);
  const numbers = width < 420 ? teeth.filter((tooth) => tooth % 2 === 0) : teeth;
  const content = html`
    ${teeth.map((tooth) => html`<line class="grid" x1="${n(onTeeth(tooth))}" x2="${n(onTeeth(tooth))}" y1="${rowI - 16}" y2="${rowX + 12}"/>`)}
    ${numbers.map((tooth) => label(onTeeth(tooth), rowX + 28, decimal(tooth, 0), 'tick'))}
    <line class="conv-rail" x1="${MARGIN}" x2="${n(width - MARGIN)}" y1="${rowI}" y2="${rowI}"/>
    <line class="conv-rail" x1="${MARGIN}" x2="${n(width - MARGIN)}" y1="${rowX}" y2="${rowX}"/>
    <line class="conv-way-i" x1="${n(onTeeth(0))}" x2="${n(onTeeth(I))}" y1="${rowX}" y2="${rowX}"/>
    <line class="conv-way-m" x1="${n(onTeeth(I))}" x2="${n(onTeeth(place))}" y1="${rowX}" y2="${rowX}"/>
    <circle class="conv-x" cx="${n(onTeeth(place))}" cy="${rowX}" r="5"/>${label(onTeeth(place), rowX - 14, 'x', 'tick')}
    <line class="conv-rail" x1="${MARGIN}" x2="${n(width - MARGIN)}" y1="${rowM}" y2="${rowM}"/>
    ${[-0.25, 0, 0.25].map((tick) => html`<line class="grid" x1="${n(onM(tick))}" x2="${n(onM(tick))}" y1="${rowM - 18}" y2="${rowM + 18}"/>${label(onM(tick), rowM + 36, tick === 0 ? '0' : tick > 0 ? 'q₀/4' : '−q₀/4', 'tick')}`)}
    ${back === undefined ? '' : html`<circle class="conv-back" cx="${n(onM(Math.max(-0.27, Math.min(0.27, back))))}" cy="${rowM}" r="15"/>`}
    ${grip('I', onTeeth(I), rowI, I, `${decimal(I, 0)}`)}
    ${grip('m', onM(m / STEPS), rowM, m, `${decimal(m, 0)} of ${STEPS} parts of q₀`)}`;
  return figure(state, {
    id: 'mine',
    title: 'm and I, to be dragged',
    drawing: html`<svg class="conv-mine" viewBox="0 0 ${n(width)} ${height}" width="${n(width)}" height="${height}" role="group" aria-label="A coefficient of your own">${content}</svg>`,
    caption: html`<span id="mine-told">${told(state.mine, back)}</span> <span class="unit">Above: I, and x below it. At the bottom, magnified: m, and in the ring what the polynomial makes of x.</span>`,
    table: {
      columns: ['I', 'x', 'Polynomial of x'],
      rows: teeth.map((tooth): [string, string, string] => {
        const at = placeOf({ m, I: tooth });
        return [decimal(tooth, 0), decimal(at, 5), valueAt(state, at)?.toFixed(6).replace('-', '−') ?? '–'];
      }),
    },
  });
}

function grip(handle: Handle, x: number, y: number, value: number, words: string): Html {
  return html`<g class="conv-grip" role="slider" tabindex="0" data-drag="${handle}" aria-label="${handle}" aria-valuemin="${-MOST[handle]}" aria-valuemax="${MOST[handle]}" aria-valuenow="${value}" aria-valuetext="${words}" style="transform:translate(${n(x)}px,${y}px)"><circle class="conv-touch" r="22"/><circle r="11"/><text text-anchor="middle" y="4">${handle}</text></g>`;
}

function told(mine: Mine, back: number | undefined): string {
  const place = placeOf(mine);
  const sum = `m/q₀ = ${decimal(mine.m / STEPS, 5)} and I = ${decimal(mine.I, 0)} make x = ${decimal(place, 5)}.`;
  if (back === undefined) return `${sum} The polynomial is being fitted.`;
  const off = Math.abs(back - mine.m / STEPS);
  const verdict = off < 1e-3 ? 'which is m/q₀ again' : 'too far from m/q₀, as the curve bends where a message is this large';
  return `${sum} The polynomial makes ${decimal(back, 5)} of it, off by ${scientific(off)}: ${verdict}, whatever I is.`;
}
