import type { CircuitInfo, GateView } from 'refloat';
import { html, type Html } from '../html.js';

/** The gates a reader can look into. */
export const CLOSE_GATES = ['nand', 'and', 'or', 'nor', 'xor', 'xnor'] as const;
export type CloseGate = (typeof CLOSE_GATES)[number];

/** What the page knows. */
export interface State {
  /** Name of the set. */
  set: string;
  /** What keeps the page busy, if anything. */
  busy: string | undefined;
  problem: string | undefined;
  keys: { readonly seconds: number; readonly megabytes: number; readonly secure: boolean; readonly logFailure: number } | undefined;
  circuit: CircuitInfo | undefined;
  numbers: [number, number];
  /** Milliseconds of each gate that is finished. */
  times: number[];
  sum: number | undefined;
  gate: CloseGate;
  operands: [boolean, boolean];
  views: readonly GateView[];
  /** What the gate's result decrypts to. */
  result: boolean | undefined;
}

export const WIDTH = 8;

/** The numbers, the circuit and the sum. */
export function adder(state: State): Html {
  const { circuit, times, busy } = state;
  const total = times.reduce((sum, ms) => sum + ms, 0);
  return html`
    <div class="gates-numbers">${state.numbers.map(
      (value, i) => html`<div role="group" aria-label="Number ${'ab'[i]}"><span class="gates-name">${'ab'[i]} = <output>${value}</output></span>${bitsOf(value)
        .map((bit, at) => html`<button type="button" class="gates-bit" aria-pressed="${String(bit)}" data-act="bit:${i}:${at}" ${busy ? 'disabled' : ''}>${Number(bit)}<span class="visually-hidden"> bit ${at} of ${'ab'[i]}</span></button>`)
        .reverse()}</div>`,
    )}</div>
    <p class="buttons"><button type="button" class="primary" data-act="add" ${busy ? 'disabled' : ''}>Encrypt and add</button>
      <span class="hint">${status(state)}</span></p>
    ${state.problem ? html`<p class="problem" role="alert">${state.problem}</p>` : ''}
    <ol class="gates-columns" aria-label="The circuit, bit by bit">${
      circuit ? Array.from({ length: circuit.depth }, (_, level) => column(state, circuit, level)) : ''
    }</ol>
    <p class="gates-sum">${
      state.sum === undefined
        ? html`<span class="hint">The sum appears here, decrypted.</span>`
        : html`${state.numbers[0]} + ${state.numbers[1]} = <strong id="sum">${state.sum}</strong> <span class="hint">${times.length} gates in ${(total / 1000).toFixed(2)} s, ${(total / times.length).toFixed(1)} ms each</span>`
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
  const { views, busy } = state;
  const before = views.find((view) => view.stage === 'input');
  const rounded = views.find((view) => view.stage === 'mod_switch');
  const turning = views.filter((view) => view.form === 'polynomial').at(-1);
  const after = views.find((view) => view.stage === 'sample_extract');
  return html`
    <div class="gates-choice"><label>Gate <select name="gate" data-act="gate" ${busy ? 'disabled' : ''}>${CLOSE_GATES.map((gate) => html`<option value="${gate}" ${gate === state.gate ? 'selected' : ''}>${gate.toUpperCase()}</option>`)}</select></label>
      ${state.operands.map((bit, i) => html`<button type="button" class="gates-bit" aria-pressed="${String(bit)}" data-act="operand:${i}" ${busy ? 'disabled' : ''}>${Number(bit)}<span class="visually-hidden"> operand ${'xy'[i]}</span></button>`)}
      <button type="button" class="secondary" data-act="look" ${busy ? 'disabled' : ''}>Bootstrap and look</button>
      <span id="close-result" class="hint">${state.result === undefined ? '' : `decrypts to ${Number(state.result)}`}</span></div>
    <div class="gates-figures">
      ${circle('Sum of the operands', before?.data[0], 'after rounding', rounded?.data[0])}
      ${accumulator(turning)}
      ${circle('Result', after?.data[0])}
    </div>`;
}

/** A phase on the circle; the second one, if there is one, is drawn hollow. */
function circle(title: string, phase: number | undefined, other = '', second?: number): Html {
  const at = (turns: number, r: number): [string, string] => [(Math.cos(2 * Math.PI * turns) * r).toFixed(2), (-Math.sin(2 * Math.PI * turns) * r).toFixed(2)];
  const place = (turns: number | undefined, kind: string): Html | string => {
    if (turns === undefined) return '';
    const [x, y] = at(turns, 80);
    return html`<line class="gates-hand ${kind}" x1="0" y1="0" x2="${x}" y2="${y}"/><circle class="gates-dot ${kind}" cx="${x}" cy="${y}" r="6"/>`;
  };
  const words = phase === undefined ? 'not computed yet' : `${phase.toFixed(4)} of a turn${second === undefined ? '' : `, ${other} ${second.toFixed(4)}`}`;
  return html`<figure><svg viewBox="-112 -104 224 208" role="img" aria-label="${title}: ${words}">
    <path class="gates-half one" d="M-80 0A80 80 0 0 1 80 0Z"/><path class="gates-half zero" d="M-80 0A80 80 0 0 0 80 0Z"/>
    ${[-3, -1, 1, 3].map((eighths) => {
      const [x, y] = at(eighths / 8, 97);
      return html`<text x="${x}" y="${y}" text-anchor="middle" dominant-baseline="middle">${eighths}/8</text>`;
    })}
    <text x="0" y="-34" text-anchor="middle">1</text><text x="0" y="42" text-anchor="middle">0</text>
    ${place(second, 'second')}${place(phase, 'first')}</svg>
    <figcaption>${title}: ${words}</figcaption></figure>`;
}

/** The accumulator's coefficients, decrypted. */
function accumulator(view: GateView | undefined): Html {
  const data = view?.data ?? new Float64Array(0);
  const step = Math.max(1, Math.floor(data.length / 256));
  const points = Array.from({ length: Math.floor(data.length / step) }, (_, i) => {
    const y = -(data[i * step] ?? 0) * 320;
    return `${((i * step * 224) / data.length).toFixed(1)},${y.toFixed(1)}`;
  });
  return html`<figure><svg viewBox="-34 -104 262 208" role="img" aria-label="Coefficients of the accumulator, in turns">
    ${[-0.125, 0, 0.125].map((turns) => html`<line class="grid" x1="0" x2="224" y1="${-turns * 320}" y2="${-turns * 320}"/><text x="-6" y="${4 - turns * 320}" text-anchor="end">${turns === 0 ? '0' : turns > 0 ? '1/8' : '-1/8'}</text>`)}
    ${points.length ? html`<polyline class="gates-line" points="${points.join(' ')}"/><circle class="gates-dot first" cx="0" cy="${-(data[0] ?? 0) * 320}" r="6"/>` : ''}</svg>
    <figcaption>Accumulator: ${data.length ? html`${data.length} coefficients; the first is the result` : 'not computed yet'}</figcaption></figure>`;
}

/** Bits of a number, the lowest first. */
export function bitsOf(value: number): boolean[] {
  return Array.from({ length: WIDTH }, (_, i) => ((value >> i) & 1) === 1);
}
