import type { CircuitInfo } from 'refloat';
import { duration, plural } from '../format.js';
import { html, type Html } from '../html.js';
import { BIT_TICKS, accumulator, circle, type Seen } from './figures.js';

/** The gates a reader can look into. */
export const CLOSE_GATES = ['nand', 'and', 'or', 'nor', 'xor', 'xnor'] as const;
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
  problem: string | undefined;
  keys: Made | undefined;
  circuit: CircuitInfo | undefined;
  numbers: [number, number];
  /** Milliseconds of each gate that is finished. */
  times: number[];
  /** Milliseconds from the first gate to the last, on how many threads. */
  total: number;
  threads: number;
  sum: number | undefined;
  gate: CloseGate;
  operands: [boolean, boolean];
  seen: Seen;
  /** What the gate's result decrypts to. */
  result: boolean | undefined;
}

export const WIDTH = 8;

/** The numbers, the circuit and the sum. */
export function adder(state: State): Html {
  const { circuit, times, busy, total, threads } = state;
  return html`
    <div class="gates-numbers">${state.numbers.map(
      (value, i) => html`<div role="group" aria-label="Number ${'ab'[i]}"><span class="gates-name">${'ab'[i]} = <output>${value}</output></span>${bitsOf(value)
        .map((bit, at) => html`<button type="button" class="gates-bit" aria-pressed="${String(bit)}" data-act="bit:${i}:${at}" ${busy ? 'disabled' : ''}>${Number(bit)}<span class="visually-hidden"> bit ${at} of ${'ab'[i]}</span></button>`)
        .reverse()}</div>`,
    )}</div>
    <p class="buttons"><button type="button" class="primary" data-act="add" ${busy ? 'disabled' : ''}>Encrypt and add</button>
      <span class="hint">${status(state)}</span></p>
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}
    <ol class="gates-columns" aria-label="The circuit, bit by bit">${
      circuit ? Array.from({ length: circuit.depth }, (_, level) => column(state, circuit, level)) : ''
    }</ol>
    <p class="gates-sum">${
      state.sum === undefined
        ? html`<span class="hint">The sum appears here, decrypted.</span>`
        : html`${state.numbers[0]} + ${state.numbers[1]} = <strong id="sum">${state.sum}</strong> <span class="hint">${times.length} gates in ${duration(total)} on ${plural(threads, 'thread')}</span>`
    }</p>`;
}

function status({ keys, set, busy }: State): Html | string {
  if (busy) return busy;
  if (!keys) return html`${set}: keys are made with the first addition`;
  const wrong = html`a wrong gate once in 2<sup>${-keys.logFailure}</sup>`;
  return html`${set}${keys.secure ? ', 128 bits' : ', INSECURE demonstration size'}; keys made here in ${keys.seconds.toFixed(2)} s, ${keys.megabytes.toFixed(1)} MB; ${wrong}`;
}

function column({ times, numbers }: State, circuit: CircuitInfo, level: number): Html {
  const gates = circuit.gates.map((gate, index) => ({ ...gate, index })).filter((gate) => gate.level === level);
  const bit = (value: number): number => (value >> level) & 1;
  return html`<li><span class="gates-in">bit ${level}: ${bit(numbers[0])}, ${bit(numbers[1])}</span>${gates.map(
    ({ gate, index }) => html`<span class="gates-gate ${times[index] === undefined ? '' : 'lit'}">${/^(maj|and)/.test(gate) ? 'carry' : 'sum'} <b>${gate.toUpperCase()}</b><small>${times[index] === undefined ? '·' : `${times[index].toFixed(1)} ms`}</small></span>`,
  )}</li>`;
}

/** One gate's bootstrapping: choice of gate and bits, and what was seen. */
export function close(state: State): Html {
  const { seen, busy } = state;
  return html`
    <div class="gates-choice"><label>Gate <select name="gate" data-act="gate" ${busy ? 'disabled' : ''}>${CLOSE_GATES.map((gate) => html`<option value="${gate}" ${gate === state.gate ? 'selected' : ''}>${gate.toUpperCase()}</option>`)}</select></label>
      ${state.operands.map((bit, i) => html`<button type="button" class="gates-bit" aria-pressed="${String(bit)}" data-act="operand:${i}" ${busy ? 'disabled' : ''}>${Number(bit)}<span class="visually-hidden"> operand ${'xy'[i]}</span></button>`)}
      <button type="button" class="secondary" data-act="look" ${busy ? 'disabled' : ''}>Bootstrap and look</button>
      <span id="close-result" class="hint">${state.result === undefined ? '' : `decrypts to ${Number(state.result)}`}</span></div>
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}
    <div class="gates-figures">
      ${circle('Sum of the operands', 'bit', seen.before, seen.rounded)}
      ${accumulator(seen.accumulator, 0.125, BIT_TICKS)}
      ${circle('Result', 'bit', seen.after)}
    </div>`;
}

/** Bits of a number, the lowest first. */
export function bitsOf(value: number): boolean[] {
  return Array.from({ length: WIDTH }, (_, i) => ((value >> i) & 1) === 1);
}
