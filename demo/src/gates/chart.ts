import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { accumulator, circle, type Seen } from './figures.js';
import { tableOfBootstrap } from './tables.js';
import { cancelButton } from './views.js';

/** What the look-up view shows. */
export interface ChartState {
  /** f: one entry for each integer below the table's length. */
  readonly table: readonly number[];
  /** The bar that the keyboard is on. */
  readonly active: number;
  /** The integer to encrypt. */
  readonly x: number;
  readonly seen: Seen;
  /** Decrypted inputs and outputs of successive look-ups. */
  readonly path: readonly number[];
  /** Whether the last result can be looked up again. */
  readonly again: boolean;
  readonly set: string;
  readonly keys: { readonly seconds: number; readonly megabytes: number; readonly secure: boolean } | undefined;
  readonly busy: string | undefined;
  /** Is this the part that keeps the page busy? */
  readonly running: boolean;
  readonly problem: string | undefined;
  /** Figures that are shown as tables. */
  readonly tables: Set<string>;
}

/** Functions to begin with. */
export const FUNCTIONS: Readonly<Record<string, (m: number, messages: number) => number>> = {
  'x² modulo the size': (m, t) => (m * m) % t,
  'x': (m) => m,
  'the other way round': (m, t) => t - 1 - m,
  'is x odd?': (m) => m % 2,
  'at least half?': (m, t) => Number(m >= t / 2),
  'a hill': (m, t) => Math.min(m, t - 1 - m) * 2,
  'x + 1, and then 0': (m, t) => (m + 1) % t,
};

/** The bars, the integer that is looked up, and what was seen. */
export function chart(state: ChartState): Html {
  const { table, active, x, seen, path, busy } = state;
  const messages = table.length;
  const off = busy ? 'disabled' : '';
  return html`
    <div class="gates-choice"><label>Integers <select name="size" ${off}>${[8, 16].map((size) => html`<option value="${size}" ${size === messages ? 'selected' : ''}>0 to ${size - 1}</option>`)}</select></label>
      <label>Start from <select name="function" ${off}><option value="">…</option>${Object.keys(FUNCTIONS).map((name) => html`<option value="${name}">${name}</option>`)}</select></label></div>
    <p class="hint" id="draw-how">Draw f by dragging over the bars, or with the arrow keys: up and down change f(x), left and right go to another x.</p>
    <div class="gates-axis above" aria-hidden="true">${table.map((value) => html`<span>${value}</span>`)}</div>
    <div class="gates-chart" data-chart role="group" aria-label="f, as bars" aria-describedby="draw-how">${table.map(
      (value, m) => html`<div class="gates-bar ${m === path.at(-2) ? 'lit' : ''}" role="slider" tabindex="${m === active ? 0 : -1}" data-bar="${m}" aria-label="f of ${m}" aria-orientation="vertical" aria-valuemin="0" aria-valuemax="${messages - 1}" aria-valuenow="${value}" ${busy ? 'aria-disabled=true' : ''}><svg viewBox="0 0 10 ${messages}" preserveAspectRatio="none" aria-hidden="true"><rect x="0.6" width="8.8" y="${messages - value - 0.85}" height="${value + 0.85}"/></svg></div>`,
    )}</div>
    <div class="gates-axis" aria-hidden="true">${table.map((_, m) => html`<span>${m}</span>`)}</div>
    <div class="gates-choice"><label class="gates-x">x = <output>${x}</output> <input type="range" name="x" min="0" max="${messages - 1}" value="${x}" ${off}></label>
      ${state.running ? cancelButton() : html`<button type="button" class="primary small" data-heir data-act="lookup" ${off}>Encrypt x and look up</button>`}
      <button type="button" class="secondary" data-act="again" ${busy || !state.again ? 'disabled' : ''}>Look the result up again</button></div>
    <p class="hint">${status(state)}</p>
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}
    <p class="gates-sum">${
      path.length < 2
        ? html`<span class="hint">f(x) appears here, decrypted in this tab.</span>`
        : html`<strong id="looked-up">${path.join(' → ')}</strong> <span class="hint">${seen.ms === undefined ? '' : `the last look-up took ${seen.ms.toFixed(1)} ms`}</span>`
    }</p>
    ${figure(state, {
      id: 'look-up',
      title: 'Before, during and after',
      drawing: html`<div class="gates-figures">
        ${circle('Input', { messages, shifted: true }, seen.before, seen.rounded)}
        ${accumulator(seen, 0.25, [0, 0.25, 0.5].map((at) => ({ at, label: String(at * 2 * messages) })))}
        ${circle('Result', { messages }, seen.after)}
      </div>`,
      table: tableOfBootstrap(seen),
    })}`;
}

function status({ busy, set, keys }: ChartState): Html | string {
  if (busy) return busy;
  if (!keys) return html`${set}: keys are made with the first look-up`;
  return html`${set}${keys.secure ? ', 128 bits' : ', INSECURE demonstration size'}; keys made here in ${keys.seconds.toFixed(2)} s, ${keys.megabytes.toFixed(0)} MB`;
}

/** The bar and the value under a point of the chart, given as fractions of its width and height from the lower left. */
export function barAt(x: number, y: number, messages: number): { bar: number; value: number } {
  const inside = (part: number): number => Math.min(messages - 1, Math.max(0, Math.floor(part * messages)));
  return { bar: inside(x), value: inside(y) };
}

/** The table after a stroke from one bar to another, both included. */
export function stroke(table: readonly number[], from: { bar: number; value: number }, to: { bar: number; value: number }): number[] {
  const drawn = [...table];
  const steps = Math.abs(to.bar - from.bar);
  for (let i = 0; i <= steps; i++) {
    const part = steps === 0 ? 1 : i / steps;
    drawn[from.bar + Math.sign(to.bar - from.bar) * i] = Math.round(from.value + (to.value - from.value) * part);
  }
  return drawn;
}

/** What a key does on a bar: another value or another bar; `undefined` if nothing. */
export function keyed(key: string, bar: number, table: readonly number[]): { bar: number; value?: number } | undefined {
  const last = table.length - 1;
  const value = table[bar] ?? 0;
  const clamp = (n: number): number => Math.min(last, Math.max(0, n));
  const values: Record<string, number> = { ArrowUp: value + 1, ArrowDown: value - 1, PageUp: value + 4, PageDown: value - 4, Home: 0, End: last };
  if (values[key] !== undefined) return { bar, value: clamp(values[key]) };
  if (key === 'ArrowRight' || key === 'ArrowLeft') return { bar: clamp(bar + (key === 'ArrowRight' ? 1 : -1)) };
  return undefined;
}
