import { duration, plural } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { GATES, MOST_GATES, MOST_INPUTS, STARTERS, choices, levels, nameOf, outputs, titleOf, type Drawn, type Wire } from './circuit.js';
import { small, type Seen } from './figures.js';
import { tableOfCircuit } from './tables.js';
import { cancelButton } from './views.js';

/** What is known of an evaluated gate. */
export interface Evaluated {
  readonly seen: Seen;
  /** What its result decrypts to, once there is one. */
  readonly value?: boolean;
  /** Why it took no full bootstrapping. */
  readonly free?: string;
}

/** What the builder shows. */
export interface BuilderState {
  readonly circuit: Drawn;
  /** By position of the gates; those not begun have none. */
  readonly done: readonly Evaluated[];
  readonly busy: string | undefined;
  /** Is this the part that keeps the page busy? */
  readonly running: boolean;
  readonly problem: string | undefined;
  /** Figures that are shown as tables. */
  readonly tables: Set<string>;
}

/** The circuit: its inputs, its wiring, its gates, and its results. */
export function builder(state: BuilderState): Html {
  const { circuit, done, busy } = state;
  const off = busy ? 'disabled' : '';
  const finished = done.length > 0 && done.length === circuit.gates.length && done.every(({ value }) => value !== undefined);
  const total = done.reduce((sum, { seen }) => sum + (seen.ms ?? 0), 0);
  return html`
    <div class="gates-choice"><label>Start from <select name="starter" ${off}><option value="">…</option>${Object.keys(STARTERS).map((name) => html`<option value="${name}">${name}</option>`)}</select></label></div>
    <div class="gates-numbers"><div role="group" aria-label="Inputs"><span class="gates-name">Inputs</span>${circuit.inputs.map(
      (bit, i) => html`<button type="button" class="gates-bit" aria-pressed="${String(bit)}" data-act="input:${i}" ${off}>${nameOf(`i${i}`)} = ${Number(bit)}</button>`,
    )}<button type="button" class="quiet" data-act="inputs:1" ${busy || circuit.inputs.length >= MOST_INPUTS ? 'disabled' : ''}>Add an input</button>
      <button type="button" class="quiet" data-act="inputs:-1" ${busy || circuit.inputs.length <= 1 ? 'disabled' : ''}>Remove the last input</button></div></div>
    <div class="gates-build">${figure(state, { id: 'wiring', title: 'The circuit', drawing: wiring(state), table: tableOfCircuit(state) })}
      <div><ol class="gates-rows" aria-label="The gates">${circuit.gates.map((_, place) => row(state, place))}</ol>
      <button type="button" class="quiet" data-act="place" ${busy || circuit.gates.length >= MOST_GATES ? 'disabled' : ''}>Add a gate</button></div></div>
    <p class="buttons">${state.running ? cancelButton() : html`<button type="button" class="primary small" data-heir data-act="evaluate" ${busy || circuit.gates.length === 0 ? 'disabled' : ''}>Encrypt and evaluate</button>`}
      <span class="hint">${busy ?? ''}</span></p>
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}
    <p class="gates-sum">${
      finished
        ? html`<span id="outputs">${outputs(circuit).map((gate, i) => html`${i ? ', ' : ''}${nameOf(`g${gate}`)} = ${Number(done[gate]?.value)}`)}</span> <span class="hint">decrypted; ${plural(circuit.gates.length, 'gate')} in ${duration(total)} of work</span>`
        : html`<span class="hint">The results of the last gates, which feed no other, appear here, decrypted.</span>`
    }</p>`;
}

function row({ circuit, done, busy }: BuilderState, place: number): Html {
  const { gate, from } = circuit.gates[place] as Drawn['gates'][number];
  const name = nameOf(`g${place}`);
  const off = busy ? 'disabled' : '';
  const { seen, value, free } = done[place] ?? { seen: {} };
  return html`<li class="gates-row ${value === undefined ? '' : 'lit'}">
    <div class="gates-formula"><b>${name}</b> <select name="kind:${place}" aria-label="Gate ${name}" ${off}>${Object.keys(GATES).map((kind) => html`<option value="${kind}" ${kind === gate ? 'selected' : ''}>${titleOf(kind)}</option>`)}</select>
      ${from.map((wire, i) => html`<select name="wire:${place}:${i}" aria-label="Operand ${i + 1} of ${name}" ${off}>${choices(circuit, place).map((choice) => html`<option value="${choice}" ${choice === wire ? 'selected' : ''}>${nameOf(choice)}</option>`)}</select>`)}
      <button type="button" class="quiet" data-act="remove:${place}" aria-label="Remove ${name}" ${off}>✕</button></div>
    <div class="gates-small">${small(name, seen)}<span class="gates-time">${free ?? (seen.ms === undefined ? '·' : `${seen.ms.toFixed(1)} ms`)}${value === undefined ? '' : html` <b>${Number(value)}</b>`}</span></div></li>`;
}

const [WIDE, STEP, HIGH] = [360, 66, 30];

/** The circuit as a drawing: inputs above, gates by level. */
function wiring({ circuit, done }: BuilderState): Html {
  const level = levels(circuit);
  const rows = Math.max(0, ...level) + 1;
  const members = Array.from({ length: rows }, (_, row) => level.flatMap((l, i) => (l === row ? [i] : [])));
  const place = (wire: Wire): { x: number; y: number; width: number } => {
    const at = Number(wire.slice(1));
    const row = wire.startsWith('i') ? 0 : (level[at] ?? 1);
    const [count, order] = row === 0 ? [circuit.inputs.length, at] : [members[row]?.length ?? 1, members[row]?.indexOf(at) ?? 0];
    return { x: ((order + 0.5) * WIDE) / count, y: 24 + row * STEP, width: Math.min(row === 0 ? 34 : 66, WIDE / count - 6) };
  };
  const value = (wire: Wire): boolean | undefined => (wire.startsWith('i') ? (done.length ? circuit.inputs[Number(wire.slice(1))] : undefined) : done[Number(wire.slice(1))]?.value);
  const shade = (bit: boolean | undefined): string => (bit === undefined ? '' : bit ? 'one' : 'zero');
  const node = (wire: Wire, text: string, under = ''): Html => {
    const { x, y, width } = place(wire);
    return html`<g class="gates-node ${shade(value(wire))}"><rect x="${(x - width / 2).toFixed(1)}" y="${y - HIGH / 2}" width="${width.toFixed(1)}" height="${HIGH}" rx="7"/><text x="${x.toFixed(1)}" y="${under ? y - 1 : y + 4}" text-anchor="middle">${text}</text>${under ? html`<text class="gates-under" x="${x.toFixed(1)}" y="${y + 11}" text-anchor="middle">${under}</text>` : ''}</g>`;
  };
  const link = (from: Wire, gate: number, operand: number, of: number): Html => {
    const [a, b] = [place(from), place(`g${gate}`)];
    const x = b.x + ((operand + 0.5) / of - 0.5) * b.width * 0.7;
    const [start, end] = [a.y + HIGH / 2, b.y - HIGH / 2];
    const bend = Math.max(16, (end - start) / 2);
    return html`<path class="gates-wire ${shade(value(from))}" d="M${a.x.toFixed(1)} ${start}C${a.x.toFixed(1)} ${start + bend} ${x.toFixed(1)} ${end - bend} ${x.toFixed(1)} ${end}"/>`;
  };
  const words = circuit.gates.map(({ gate, from }, i) => `${nameOf(`g${i}`)} is ${titleOf(gate)} of ${from.map(nameOf).join(', ')}`);
  return html`<svg class="gates-wiring" viewBox="0 0 ${WIDE} ${48 + (rows - 1) * STEP}" role="img" aria-label="Wiring: ${words.join('; ') || 'no gates'}">
    ${circuit.gates.map(({ from }, gate) => from.map((wire, i) => link(wire, gate, i, from.length)))}
    ${circuit.inputs.map((bit, i) => node(`i${i}`, `${nameOf(`i${i}`)}=${Number(bit)}`))}
    ${circuit.gates.map(({ gate }, i) => node(`g${i}`, titleOf(gate), `${nameOf(`g${i}`)}${done[i]?.value === undefined ? '' : `=${Number(done[i]?.value)}`}`))}</svg>`;
}
