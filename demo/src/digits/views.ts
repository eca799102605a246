import { bytes, count, decimal, duration, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, label, n } from '../views/svg.js';
import { SHOWN, type Pass } from './passes.js';
import { digitsOf, grid, LARGEST, READINGS, readingOf, valueOf, type Reading } from './readings.js';
import { placeOf, reached, type Seen, type State } from './state.js';

const TITLES: Record<(typeof SHOWN)[number], string> = { coeffs_to_slots: 'Wind up', eval_exp: 'On the circle', look_up: 'Look up' };

/** What to read, and of what. */
export function controls(state: State): Html {
  const { busy, preset, keys, seen } = state;
  const reading = readingOf(state.reading);
  const off = busy ? 'disabled' : '';
  return html`<div class="digits-controls">
      <label>Your number <input type="text" inputmode="decimal" autocomplete="off" spellcheck="false" data-input="number" value="${state.number}" ${off}></label>
      <label>Read <select data-input="reading" ${off}>${Object.entries(READINGS).map(([name, { words }]) => html`<option value="${name}" ${name === state.reading ? 'selected' : ''}>${words}</option>`)}</select></label>
      ${reading.table ? sliders(state.table, off) : ''}
      ${busy
        ? html`<button type="button" class="secondary" data-act="cancel">Cancel</button>`
        : html`<button type="button" class="primary small" data-act="run" ${preset ? '' : 'disabled'}>Encrypt and read</button>`}
    </div>
    ${busy === 'keys' ? html`<p class="hint">Making keys: ${bytes(state.progress[0])} of ${bytes(state.progress[1])}</p><progress max="${state.progress[1] || 1}" value="${state.progress[0]}" aria-label="Keys"></progress>` : ''}
    ${busy === 'run' && seen ? html`<p class="hint">${underway(state, seen)}</p><progress max="${seen.passes.length * SHOWN.length}" value="${reached(state)}" aria-label="Digits"></progress>` : ''}
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}
    <details class="digits-set"><summary>The other slots, and the set</summary>
      <label>The other numbers are up to <input type="range" data-input="range" min="0" max="20" step="1" value="${state.range}" aria-valuetext="2 to the power of ${state.range}" ${off}> <output>2<sup>${state.range}</sup></output></label>
      <p class="hint">${preset ? html`<span class="badge ${preset.secure ? 'badge-secure' : 'badge-insecure'}">${preset.name}${preset.secure ? '' : ' · insecure demonstration parameters'}</span> ${preset.slots} slots, N = 2<sup>${preset.logN}</sup>, log₂ QP = ${decimal(preset.logQP, 0)}; ${keys ? html`keys made here in ${decimal(keys.seconds, 1)} s, ${decimal(keys.megabytes, 0)} MB in memory` : html`${bytes(preset.keyBytes)} of keys are made with the first run`}.` : 'Loading…'}</p>
    </details>`;
}

function sliders(table: readonly number[], off: string): Html {
  return html`<fieldset class="digits-table framed"><legend>Your table, for x modulo 1 in eighths</legend>${table.map(
    (value, j) => html`<label><span class="visually-hidden">From ${j}/8 on</span><input type="range" min="0" max="9" step="1" value="${value}" data-input="table:${j}" ${off}><output>${value}</output></label>`,
  )}</fieldset>`;
}

function underway(state: State, seen: Seen): string {
  const { pass } = placeOf(reached(state));
  const stage = state.preset?.stages.find(({ id }) => id === state.under)?.title ?? 'Encrypting';
  return `Digit ${Math.min(pass + 1, seen.passes.length)} of ${seen.passes.length}: ${stage.toLowerCase()}`;
}

/** The number with the digits that have come off, the steps, and what the one shown does. */
export function story(state: State): Html {
  const { seen } = state;
  if (!seen) return html`<p class="empty">Loading a recorded run.</p>`;
  const reading = readingOf(seen.reading);
  const { pass } = placeOf(state.at);
  return html`${seen.recorded ? html`<p class="recorded"><strong>A recorded run</strong> on real ciphertexts, ${seen.recorded}. Press the button to make your own.</p>` : ''}
    ${tableau(state, seen, reading)}
    <ol class="digits-steps choices" aria-label="Steps">${seen.passes.flatMap((_, p) =>
      SHOWN.map((stage, s) => {
        const at = p * SHOWN.length + s;
        return html`<li${s === 0 ? html` class="first"` : ''}><button type="button" data-act="at:${at}" aria-pressed="${String(state.at === at)}" ${at < reached(state) ? '' : 'disabled'}><b>${p + 1}</b> ${TITLES[stage]}</button></li>`;
      }),
    )}</ol>
    <div class="digits-words" data-key="${state.at}"><h2>${heading(state, seen, pass)}</h2>${words(state, seen, reading)}
      <div class="buttons"><button type="button" class="secondary" data-act="at:${state.at - 1}" ${state.at > 0 ? '' : 'disabled'}>Back</button><button type="button" class="secondary" data-act="at:${state.at + 1}" ${state.at + 1 < reached(state) ? '' : 'disabled'}>Next step</button></div>
      <label class="digits-follow">Follow slot <input type="range" data-input="slot" min="0" max="${seen.numbers.length - 1}" step="1" value="${state.slot}"> <output>${state.slot}: ${shortly(seen.numbers[state.slot] ?? 0)}</output></label>
    </div>`;
}

/** The number, and a box for each digit: the lowest on the right, as it is written. */
function tableau(state: State, seen: Seen, reading: Reading): Html {
  const number = seen.numbers[state.slot] ?? 0;
  const exact = digitsOf(number, reading);
  const found = seen.passes.map((pass, i) => (i * SHOWN.length + 2 <= state.at ? pass.digits?.[state.slot] : undefined));
  const boxes = seen.passes.map((pass, i) => ({ pass, i, digit: found[i] })).reverse();
  return html`<div class="digits-tableau" role="group" aria-label="Digits of ${shortly(number)}"><span class="digits-number">${shortly(number)}</span><span aria-hidden="true">→</span>${boxes.map(
    ({ pass, i, digit }) => html`<span class="digits-box${i === placeOf(state.at).pass ? ' now' : ''}${digit === undefined ? '' : ' read'}"><b>${digit === undefined ? '·' : digit}</b><small>${placeName(reading, pass, i)}</small></span>`,
  )}<span class="visually-hidden">exactly ${[...exact].reverse().join(', ')}</span></div>`;
}

/** What a digit counts. */
function placeName(reading: Reading, { factor, base }: Pass, i: number): string {
  const unit = reading.modulus / (factor * base);
  if (reading.table) return i === 0 ? 'guard' : 'eighths';
  if (unit >= 1) return unit === 1 ? 'ones' : `${unit}s`;
  return `1/${factor * base}`;
}

function heading(state: State, seen: Seen, pass: number): string {
  const { stage } = placeOf(state.at);
  const which = ['First', 'Second', 'Third'][pass] ?? `${pass + 1}th`;
  if (stage === 'coeffs_to_slots') return `${which} digit: wind the number up`;
  return stage === 'eval_exp' ? 'Into the exponent: whole turns vanish' : `Look it up: ${seen.passes[pass]?.digits?.[state.slot] ?? ''}`;
}

/** What the step shown does to the slot that is followed. */
function words(state: State, seen: Seen, reading: Reading): Html {
  const { pass: p, stage } = placeOf(state.at);
  const pass = seen.passes[p];
  if (!pass?.steps) return html`<p>Not reached yet.</p>`;
  const number = seen.numbers[state.slot] ?? 0;
  const { base, factor } = pass;
  const step = pass.steps[state.slot] ?? 0;
  const turns = Math.floor(step / base);
  const j = step - turns * base;
  if (stage === 'coeffs_to_slots') {
    return html`<p>${p === 0
      ? html`${shortly(number)} over ${reading.modulus} is ${decimal(number / reading.modulus, 3)}: modulo q<sub>0</sub> only what is beside whole numbers is left of it.${reading.whole ? '' : ` It is rounded to a multiple of 1/${grid(reading)} first.`}`
      : html`${p === 1 ? 'The digit that was read has been subtracted' : `The ${p} digits that were read have been subtracted`}: now the next one is the lowest.`} Multiplied by k = ${factor}, its lowest digit alone lies beside whole turns: ${j}/${base} of a turn. Raising the modulus adds I, which nobody chose; all in all ${decimal(turns, 0)} ${Math.abs(turns) === 1 ? 'turn' : 'turns'} and ${j}/${base}.</p>`;
  }
  if (stage === 'eval_exp') {
    return html`<p>e<sup>2πix</sup>, a polynomial of degree 31 squared three times, is the same for x and for x + I. The slot lies on point ${j} of ${base}, and every other slot on a point of its own digit. What is left is noise: magnify a point and it is a cloud.</p>`;
  }
  const last = p + 1 === seen.passes.length;
  return html`<p>${reading.table && last
    ? html`A polynomial of degree ${2 * base - 1} through your table takes point ${j} to ${seen.table[j] ?? 0}.`
    : html`A polynomial of degree ${2 * base - 1} takes point ${j} to the digit ${pass.digits?.[state.slot] ?? j}.`} Its slope at the ${base} points is zero, so it takes the noise to its square, and the cloud shrinks to a point.${last ? ' That was the last digit.' : ' The digit goes back into coefficients and is subtracted; the number moves right by one place.'}</p>`;
}

/** What came back in every slot, beside exact arithmetic. */
export function result(state: State, width: number): Html {
  const { seen } = state;
  const output = seen?.output;
  if (!seen || !output) return html`<p class="empty">The result appears here when the last digit has been read.</p>`;
  const reading = readingOf(seen.reading);
  const steps = grid(reading);
  // In the unit of the last digit, modulo the modulus; tables in theirs.
  const error = Array.from(output, (y, slot) => {
    const wanted = valueOf(seen.numbers[slot] ?? 0, reading, seen.table);
    if (reading.table) return y - wanted;
    const apart = (y - wanted) / reading.modulus;
    return (apart - Math.round(apart)) * steps;
  });
  const right = error.filter((e) => Math.abs(e) < 0.5).length;
  const deviation = Math.sqrt(error.reduce((s, e) => s + e * e, 0) / error.length);
  const farthest = error.reduce((m, e) => Math.max(m, Math.abs(e)), 0);
  const own = `${shortly(seen.numbers[state.slot] ?? 0)} came back as ${reading.whole ? count(Math.round(output[state.slot] ?? 0)) : shortly(rounded(output[state.slot] ?? 0))}.`;
  const all = reading.whole
    ? `${right} of ${error.length} slots round to the exact residue, none farther from it than ${scientific(farthest)}.`
    : reading.table
      ? `${right} of ${error.length} slots have the table’s value; others lie beside an end of a step, where rounding may choose the neighbour.`
      : `${error.length} slots came back, off by ${decimal(deviation, 2)} steps of 1/${steps} in the root mean square, the worst by ${decimal(farthest, 1)}. That is the rounding: as the key has 32 coefficients, each slot adds up 33 roundings to whole steps, √(33/12) = 1.66 in the root mean square. The worst slot is right to ${decimal(-Math.log2(farthest / steps), 1)} bits.`;
  const level = seen.outputLevel === undefined ? '' : ` The input was at level ${seen.level}, the result is at level ${seen.outputLevel}.`;
  const height = 180;
  const reach = reading.whole ? Math.max(farthest, 2 ** -60) : Math.max(6, Math.ceil(farthest));
  const bins = reading.whole ? 41 : Math.min(2 * reach + 1, 41);
  const counts = Array.from({ length: bins }, () => 0);
  for (const e of error) {
    const bin = Math.min(bins - 1, Math.max(0, Math.round(((e + reach) / (2 * reach)) * (bins - 1))));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const tallest = Math.max(...counts);
  const step = width / bins;
  const ticks = [-reach, 0, reach];
  const content = html`${counts.map((c, i) => html`<rect class="digits-bar" x="${n(i * step + step * 0.1)}" y="${n(20 + (height - 60) * (1 - c / tallest))}" width="${n(step * 0.8)}" height="${n(((height - 60) * c) / tallest)}"/>`)}
    <line class="grid" x1="0" x2="${n(width)}" y1="${height - 40}" y2="${height - 40}"/>
    ${ticks.map((t) => label(t < 0 ? 0 : t > 0 ? width : width / 2, height - 20, reading.whole ? scientific(t) : decimal(t, 0), 'tick', t < 0 ? 'start' : t > 0 ? 'end' : 'middle'))}`;
  return figure(state, {
    id: 'result',
    title: 'Error of every slot',
    drawing: drawing(width, height, all, 'digits-histogram', content),
    caption: html`<span id="outcome">${own} ${all}</span>${level} <span class="unit">Across: ${reading.table ? 'the result less the table’s value' : 'the result less the exact one, in steps of the last digit'}. Up: slots. ${seen.ms > 0 ? `All stages took ${duration(seen.ms)}.` : ''}</span>`,
    table: {
      columns: ['Slot', 'Number', 'Result', 'Exact'],
      rows: Array.from(output.slice(0, 64), (y, slot) => [slot, shortly(seen.numbers[slot] ?? 0), reading.whole ? y.toFixed(6) : y.toFixed(8), shortly(valueOf(seen.numbers[slot] ?? 0, reading, seen.table))]),
    },
  });
}

/** To four places, and 0 without a sign. */
function rounded(x: number): number {
  return Math.round(x * 1e4) / 1e4 + 0;
}

/** A number as a person would write it. */
export function shortly(x: number): string {
  return Number.isInteger(x) ? x.toLocaleString('en').replace('-', '−') : decimal(x, 4);
}

/** A number that a reader typed, or what is wrong with it. */
export function typed(text: string, reading: Reading): number | string {
  const plain = text.trim().replace(/[\s,_’']/g, '').replace('−', '-');
  const value = plain === '' ? NaN : Number(plain);
  if (!Number.isFinite(value)) return `“${text}” is no number: type one such as ${shortly(reading.number)}.`;
  if (reading.whole && !Number.isInteger(value)) return `${shortly(value)} is no integer, and digits of integers are read here: leave the fraction out, or read a fraction.`;
  if (Math.abs(value) > LARGEST) return `${shortly(value)} is too large: numbers are up to 2^20 = ${shortly(LARGEST)} on either side of 0.`;
  return value;
}
