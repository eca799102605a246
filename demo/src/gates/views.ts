import type { CircuitInfo } from 'refloat';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { BIT_TICKS, accumulator, circle, type Seen } from './figures.js';
import { tableOfBootstrap } from './tables.js';

/** The gates a reader can look into. */
export const CLOSE_GATES = ['nand', 'and', 'or', 'nor', 'xor', 'xnor', 'xor3', 'maj3'] as const;
export type CloseGate = (typeof CLOSE_GATES)[number];

/** Keys that were made in this tab. */
export interface Made {
  readonly seconds: number;
  readonly megabytes: number;
  readonly secure: boolean;
  readonly logFailure: number;
}

/** What the adder and the single gate show. */
export interface State {
  /** Name of the set. */
  set: string;
  /** What keeps the page busy, if anything. */
  busy: string | undefined;
  paused: boolean;
  readonly tables: Set<string>;
  problem: string | undefined;
  /** The part of the page that keeps it busy, or that has a problem to show. */
  at: string;
  /** What made the addition that is shown, unless it was the reader. */
  recorded: string | undefined;
  keys: Made | undefined;
  circuit: CircuitInfo | undefined;
  numbers: [number, number];
  /** Milliseconds of each gate that is finished. */
  times: number[];
  /** Milliseconds from the first gate to the last, and the number of threads. */
  total: number;
  threads: number;
  sum: number | undefined;
  gate: CloseGate;
  /** One bit for each operand of the gate. */
  operands: boolean[];
  seen: Seen;
  /** What the gate's result decrypts to. */
  result: boolean | undefined;
}

export const WIDTH = 8;

/** The button that cancels what keeps the page busy. */
export function cancelButton(): Html {
  return html`<button type="button" class="secondary" data-heir data-act="cancel">Cancel</button>`;
}

/** One gate's bootstrapping: choice of gate and bits, and what was seen. */
export function close(state: State): Html {
  const { seen, busy } = state;
  return html`
    <div class="gates-choice"><label>Gate <select name="gate" data-act="gate" ${busy ? 'disabled' : ''}>${CLOSE_GATES.map((gate) => html`<option value="${gate}" ${gate === state.gate ? 'selected' : ''}>${gate.toUpperCase()}</option>`)}</select></label>
      ${state.operands.map((bit, i) => html`<button type="button" class="gates-bit wide" aria-pressed="${String(bit)}" data-act="operand:${i}" ${busy ? 'disabled' : ''}><span class="visually-hidden">operand </span>${'xyz'[i]} = ${Number(bit)}</button>`)}
      ${state.at === 'gates-close' && busy ? cancelButton() : html`<button type="button" class="secondary" data-heir data-act="look" ${busy ? 'disabled' : ''}>Run this gate</button>`}
      <span id="close-result" class="hint">${state.result === undefined ? '' : `decrypts to ${Number(state.result)}${seen.recorded ? ', in a recorded run' : ''}`}</span></div>
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}
    ${figure(state, {
      id: 'bootstrap',
      title: 'Before, during and after',
      drawing: html`<div class="gates-figures">
        ${circle('Sum of the operands', 'bit', seen.before, seen.rounded)}
        ${accumulator(seen, 0.125, BIT_TICKS)}
        ${circle('Result', 'bit', seen.after)}
      </div>`,
      table: tableOfBootstrap(seen),
    })}`;
}

/** Bits of a number, the lowest first. */
export function bitsOf(value: number): boolean[] {
  return Array.from({ length: WIDTH }, (_, i) => ((value >> i) & 1) === 1);
}
