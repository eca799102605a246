import type { CircuitInfo } from 'refloat';
import { duration, plural } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { n } from '../views/svg.js';
import { tableOfAdder } from './tables.js';
import { cancelButton, WIDTH, bitsOf, type State } from './views.js';

/** A column for each bit of the sum, the highest on the left, as the numbers are written. */
const COLUMNS = WIDTH + 1;
/** Heights in the drawing: the carry gates, the sum gates, and the end of the wires. */
const CARRY = 76;
const SUM = 176;
const END = 232;
const GATE = 44;

/** The two numbers as bits, the circuit below them, and the sum below that: one column for each bit. */
export function adder(state: State, width: number): Html {
  const { circuit, times, busy, total, threads, sum } = state;
  const column = width / COLUMNS;
  const drawing = html`<div class="gates-sheet">
      ${state.numbers.map((value, i) => number(value, i, busy !== undefined))}
      <div class="gates-circuit" style="height:${END}px" role="group" aria-label="The circuit: ${plural(circuit?.gates.length ?? 0, 'gate')}, ${times.length} finished">${circuit ? [wires(state, circuit, column), circuit.gates.map((_, gate) => button(state, circuit, gate))] : ''}</div>
      <div class="gates-bits" aria-hidden="true">${Array.from({ length: COLUMNS }, (_, i) => html`<b class="gates-sum-bit">${sum === undefined ? '·' : (sum >> (WIDTH - i)) & 1}</b>`)}</div>
    </div>`;
  const table = tableOfAdder({ ...state, width: WIDTH }, isCarry, (gate) => resultOf(state, gate));
  const caption = html`<p class="gates-sum">${
      sum === undefined
        ? html`<span class="hint">${busy === undefined ? 'The sum appears below its columns, decrypted.' : `${plural(times.length, 'gate')} finished`}</span>`
        : html`${state.numbers[0]} + ${state.numbers[1]} = <strong id="sum">${sum}</strong> <span class="hint">${times.length} gates in ${duration(total)} on ${plural(threads, 'thread')}${state.recorded ? html`: <span class="gates-recorded">a recorded run, ${state.recorded}</span>` : ''}</span>`
    }</p>`;
  return html`
    ${figure(state, { id: 'adder', title: 'Two numbers, bit by bit', drawing, caption, table })}
    <div class="buttons gates-action">${state.at === 'gates-adder' && busy ? cancelButton() : html`<button type="button" class="primary" data-heir data-act="add" ${busy ? 'disabled' : ''}>Encrypt and add</button>`}
      <span class="hint">${status(state)}</span></div>
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}`;
}

/** A number: its name, and its bits to press; the column of the carry is empty. */
function number(value: number, i: number, off: boolean): Html {
  return html`<div class="gates-bits" role="group" aria-label="Number ${'ab'[i]}"><span class="gates-name">${'ab'[i]} = <output>${value}</output></span>${bitsOf(value)
    .map((bit, at) => html`<button type="button" class="gates-bit" aria-pressed="${String(bit)}" data-act="bit:${i}:${at}" ${off ? 'disabled' : ''}>${Number(bit)}<span class="visually-hidden"> bit ${at} of ${'ab'[i]}</span></button>`)
    .reverse()}</div>`;
}

function status({ keys, set, busy }: State): Html | string {
  if (busy) return busy;
  if (!keys) return html`${set}: keys are made in this tab with the first addition`;
  const wrong = html`one gate in 2<sup>${-keys.logFailure}</sup> gives a wrong bit`;
  return html`${set}${keys.secure ? ', 128 bits' : ', INSECURE demonstration size'}; keys made here in ${keys.seconds.toFixed(2)} s, ${keys.megabytes.toFixed(1)} MB; ${wrong}`;
}

/** Does the gate compute a carry rather than a bit of the sum? */
export function isCarry({ gate }: { readonly gate: string }): boolean {
  return /^(maj|and)/.test(gate);
}

/** The operands of a gate in the clear: what the owner of the numbers knows without the server. */
export function operandsOf({ numbers }: Pick<State, 'numbers'>, circuit: CircuitInfo, gate: number): boolean[] {
  const { operands = [], level = 0 } = circuit.gates[gate] ?? {};
  return operands.map(({ wire, inverted }) => {
    const [a, b] = numbers;
    const bit = wire < WIDTH ? (a >> wire) & 1 : wire < 2 * WIDTH ? (b >> (wire - WIDTH)) & 1 : ((a + b) ^ a ^ b) >> level & 1;
    return (bit === 1) !== inverted;
  });
}

/** The result of a gate, once the sum has been decrypted. */
function resultOf({ numbers: [a, b], sum }: State, { gate, level }: CircuitInfo['gates'][number]): boolean | undefined {
  if (sum === undefined) return undefined;
  // A carry is the next bit of the sum without the bits of the numbers.
  return (isCarry({ gate }) ? ((sum ^ a ^ b) >> (level + 1)) & 1 : (sum >> level) & 1) === 1;
}

/** Middle of a bit's column, as a fraction of the width. */
function middle(bit: number): number {
  return (COLUMNS - bit - 0.5) / COLUMNS;
}

function button(state: State, circuit: CircuitInfo, index: number): Html {
  const gate = circuit.gates[index];
  if (!gate) return html``;
  const { times, busy } = state;
  const [what, top] = isCarry(gate) ? (['carry', CARRY] as const) : (['sum', SUM] as const);
  const ms = times[index];
  return html`<button type="button" class="gates-gate ${ms === undefined ? '' : 'lit'}" style="left:${(100 * middle(gate.level)).toFixed(2)}%;top:${top - GATE / 2}px" data-act="open:${index}" ${busy ? 'disabled' : ''}><span class="visually-hidden">Look into the ${what} of bit ${gate.level}: </span><b>${gate.gate.toUpperCase()}</b><small>${ms === undefined ? what : `${ms.toFixed(0)} ms`}</small></button>`;
}

/** The wires: bits come down, carries go to the left. */
function wires(state: State, circuit: CircuitInfo, column: number): Html {
  const inputs = circuit.inputs.length;
  const x = (bit: number): number => middle(bit) * column * COLUMNS;
  const shade = (bit: boolean | undefined): string => (bit === undefined ? '' : bit ? ' one' : ' zero');
  const [a, b] = state.numbers;
  const paths = circuit.gates.flatMap((gate) => {
    const y = isCarry(gate) ? CARRY : SUM;
    const [to, half] = [x(gate.level), Math.min(column * 0.44, 40)];
    return gate.operands.map(({ wire }) => {
      if (wire >= inputs) {
        // A carry, from the column to the right.
        const from = circuit.gates[wire - inputs];
        const start = x(from?.level ?? 0) - half;
        const value = from && resultOf(state, from);
        const bend = (start - to - half) / 2;
        return html`<path class="gates-wire${shade(value)}" d="M${n(start)} ${CARRY}C${n(start - bend)} ${CARRY} ${n(to + half + bend)} ${y} ${n(to + half)} ${y}"/>`;
      }
      const [side, value] = wire < WIDTH ? [-1, (a >> wire) & 1] : [1, (b >> (wire - WIDTH)) & 1];
      const at = to + side * column * 0.16;
      // To the sum, around the carry gate above it.
      const d = isCarry(gate) ? `M${n(at)} 0V${y - GATE / 2}` : `M${n(at)} 0C${n(at)} 24 ${n(to + side * column * 0.47)} 24 ${n(to + side * column * 0.47)} ${CARRY}V${CARRY + 30}C${n(to + side * column * 0.47)} ${y - 40} ${n(at)} ${y - 50} ${n(at)} ${y - GATE / 2}`;
      return html`<path class="gates-wire${shade(value === 1)}" d="${d}"/>`;
    });
  });
  const outs = circuit.gates.map((gate) => {
    const value = shade(resultOf(state, gate));
    if (!isCarry(gate)) return html`<path class="gates-wire${value}" d="M${n(x(gate.level))} ${SUM + GATE / 2}V${END}"/>`;
    // The last carry is the highest bit of the sum.
    return gate.level === WIDTH - 1 ? html`<path class="gates-wire${value}" d="M${n(x(gate.level))} ${CARRY}H${n(x(WIDTH) + 12)}Q${n(x(WIDTH))} ${CARRY} ${n(x(WIDTH))} ${CARRY + 12}V${END}"/>` : '';
  });
  return html`<svg class="gates-wires" viewBox="0 0 ${n(column * COLUMNS)} ${END}" preserveAspectRatio="none" aria-hidden="true">${outs}${paths}</svg>`;
}
