import { bytes, count, decimal, duration, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { levelsOf } from '../levels.js';
import { figure } from '../views/figure.js';
import { badge, progressOf, recordedBy, ring } from '../views/making.js';
import { drawing, label, n } from '../views/svg.js';
import { SHOWN, type Pass } from './passes.js';
import { digitsOf, grid, LARGEST, levelsBefore, READINGS, readingOf, valueOf, type Reading } from './readings.js';
import { placeOf, reached, type Seen, type State } from './state.js';

const TITLES: Record<(typeof SHOWN)[number], string> = { coeffs_to_slots: 'Wind up', eval_exp: 'On the circle', look_up: 'Look up' };

/** What to read, and the number to read it from. */
export function controls(state: State): Html {
  const { busy, preset, keys } = state;
  const reading = readingOf(state.reading);
  const off = busy ? 'disabled' : '';
  return html`<div class="digits-controls">
      <label>Your number <input type="text" inputmode="decimal" autocomplete="off" spellcheck="false" data-input="number" value="${state.number}" ${off}></label>
      <label>What to read of it <select data-input="reading" ${off}>${Object.entries(READINGS).map(([name, { words }]) => html`<option value="${name}" ${name === state.reading ? 'selected' : ''}>${words}</option>`)}</select></label>
      ${reading.table ? sliders(state.table, off) : ''}
      ${busy
        ? html`<button type="button" class="secondary" data-act="cancel">Cancel</button>`
        : html`<button type="button" class="primary small" data-act="run" ${preset ? '' : 'disabled'}>Encrypt and read</button>`}
    </div>
    ${busy === 'run' ? underway(state, reading) : ''}
    ${progressOf(state)}
    <details class="digits-set"><summary>Numbers in the other slots, and the parameter set</summary>
      <label>Random numbers there go up to <input type="range" data-input="range" min="0" max="20" step="1" value="${state.range}" aria-valuetext="2 to the power of ${state.range}" ${off}> <output>±2<sup>${state.range}</sup></output></label>
      <p class="hint">${preset ? html`${badge(preset)} ${preset.slots} slots ${ring(preset)}. ${keys ? html`The keys were made in this tab in ${decimal(keys.seconds, 1)} s and take ${decimal(keys.megabytes, 0)} MB of memory` : html`The first run makes ${bytes(preset.keyBytes)} of keys`}.` : 'Loading…'}</p>
    </details>`;
}

function sliders(table: readonly number[], off: string): Html {
  return html`<fieldset class="digits-table framed"><legend>Your table: a value for each eighth from 0 to 1</legend>${table.map(
    (value, j) => html`<label><span class="visually-hidden">From ${j}/8 on</span><input type="range" min="0" max="9" step="1" value="${value}" data-input="table:${j}" ${off}><output>${value}</output></label>`,
  )}</fieldset>`;
}

function underway(state: State, { bases: { length } }: Reading): Html {
  const done = state.awaited ? 0 : reached(state);
  const stage = state.preset?.stages.find(({ id }) => id === state.under)?.title ?? 'Encrypting';
  return html`<p class="hint">Digit ${Math.min(placeOf(done).pass + 1, length)} of ${length}: ${stage.toLowerCase()}</p><progress max="${length * SHOWN.length}" value="${done}" aria-label="Digits"></progress>`;
}

/** The number with the digits found so far, the steps, and what the selected step does. */
export function story(state: State): Html {
  const { seen } = state;
  if (!seen) return html`<p class="empty">Loading a recorded run.</p>`;
  const reading = readingOf(seen.reading);
  const { pass } = placeOf(state.at);
  return html`${recordedBy(seen.recorded, state.busy)}
    ${tableau(state, seen, reading)}
    <ol class="digits-steps choices" data-steps aria-label="Steps">${seen.passes.flatMap((_, p) =>
      SHOWN.map((stage, s) => {
        const at = p * SHOWN.length + s;
        return html`<li${s === 0 ? html` class="first"` : ''}><button type="button" data-act="at:${at}" aria-pressed="${String(state.at === at)}" ${at < reached(state) ? '' : 'disabled'}><b>${p + 1}</b> ${TITLES[stage]}</button></li>`;
      }),
    )}</ol>
    <div class="digits-words" data-key="${state.at}"><h2>${heading(state, seen, pass)}</h2>${words(state, seen, reading)}
      <div class="buttons"><button type="button" class="secondary" data-act="at:${state.at - 1}" ${state.at > 0 ? '' : 'disabled'}>Back</button><button type="button" class="secondary" data-act="at:${state.at + 1}" ${state.at + 1 < reached(state) ? '' : 'disabled'}>Next step</button></div>
      <label class="digits-follow">Follow the number in slot <input type="range" data-input="slot" min="0" max="${seen.numbers.length - 1}" step="1" value="${state.slot}"> <output>${state.slot}: ${shortly(seen.numbers[state.slot] ?? 0)}</output></label>
    </div>`;
}

/** The number, and a box for each digit: the lowest on the right, as it is written. */
function tableau(state: State, seen: Seen, reading: Reading): Html {
  const number = seen.numbers[state.slot] ?? 0;
  const exact = digitsOf(number, reading);
  const found = seen.passes.map((pass, i) => (i * SHOWN.length + 2 <= state.at ? pass.digits?.[state.slot] : undefined));
  const boxes = seen.passes.map((pass, i) => ({ pass, i, digit: found[i] })).reverse();
  const about = (i: number): string => (reading.whole || i > 0 ? '' : '≈');
  return html`<div class="digits-tableau" role="group" aria-label="Digits of ${shortly(number)}"><span class="digits-number">${shortly(number)}</span><span aria-hidden="true">→</span>${boxes.map(
    ({ pass, i, digit }) => html`<span class="digits-box${i === placeOf(state.at).pass ? ' now' : ''}${digit === undefined ? '' : about(i) ? ' rough' : ' read'}"><b>${digit === undefined ? '·' : html`${about(i)}${digit}`}</b><small>${placeName(reading, pass, i)}</small></span>`,
  )}<span class="visually-hidden">exactly ${[...exact].reverse().join(', ')}</span></div>
    ${reading.whole ? '' : html`<p class="hint digits-rough">${roughly(state, seen, reading)}</p>`}`;
}

/** A note for rounded numbers, whose lowest digit is never exact: what stands for it until the last digit is read, and afterwards. */
function roughly(state: State, seen: Seen, reading: Reading): string {
  const number = shortly(seen.numbers[state.slot] ?? 0);
  const step = `1/${grid(reading)}`;
  if (!seen.output || state.at + 1 < seen.passes.length * SHOWN.length) return `Not final: ${number} is rounded to steps of ${step} under encryption, and its lowest digit, marked ≈, takes up what the rounding is off by.`;
  if (reading.table) return `The lowest digit took up the rounding to steps of ${step} and is discarded; the other one chooses the value of the table.`;
  const parts = seen.passes.map((pass) => `${pass.digits?.[state.slot] ?? ''}/${pass.factor * pass.base}`).reverse();
  return `Final: ${parts.join(' + ')} = ${decimal(seen.output[state.slot], 4)}, which is ${number} modulo 1, rounded under encryption.`;
}

/** The unit that a digit counts. */
function placeName(reading: Reading, { factor, base }: Pass, i: number): string {
  const unit = reading.modulus / (factor * base);
  if (reading.table) return i === 0 ? '1/256, guard' : 'eighths';
  if (unit >= 1) return unit === 1 ? 'ones' : `${unit}s`;
  return `× 1/${factor * base}`;
}

function heading(state: State, seen: Seen, pass: number): string {
  const { stage } = placeOf(state.at);
  const which = ['First', 'Second', 'Third'][pass] ?? `${pass + 1}th`;
  if (stage === 'coeffs_to_slots') return `${which} digit: wind the number up`;
  return stage === 'eval_exp' ? 'Into the exponent: whole turns vanish' : `Look it up: ${seen.passes[pass]?.digits?.[state.slot] ?? ''}`;
}

/** What the selected step does to the slot that is followed. */
function words(state: State, seen: Seen, reading: Reading): Html {
  const { pass: p, stage } = placeOf(state.at);
  const pass = seen.passes[p];
  if (!pass?.steps) return html`<p>The run has not come to this step yet.</p>`;
  const number = seen.numbers[state.slot] ?? 0;
  const { base, factor } = pass;
  const step = pass.steps[state.slot] ?? 0;
  const turns = Math.floor(step / base);
  const j = step - turns * base;
  if (stage === 'coeffs_to_slots') {
    return html`<p>${p === 0
      ? html`The slot holds ${reading.modulus === 1 ? shortly(number) : html`${shortly(number)}/${reading.modulus} = ${decimal(number / reading.modulus, 3)}`}, as turns of a circle.${reading.whole ? '' : ` It is rounded to a multiple of 1/${grid(reading)} first.`}`
      : html`${p === 1 ? 'The digit that was read has been subtracted' : `The ${p} digits that were read have been subtracted`}, so that the next one is the lowest.`} Multiplied by k\u00a0=\u00a0${factor}, everything above the lowest digit makes whole turns, and the digit alone makes ${j}/${base} of a turn. Raising the modulus adds I more whole turns, an unknown integer that may be negative. In all that makes ${decimal(turns, 0)} ${Math.abs(turns) === 1 ? 'turn' : 'turns'} and ${j}/${base}.</p>`;
  }
  if (stage === 'eval_exp') {
    return html`<p>From x, a polynomial of degree 31 and three squarings make e<sup>2πix</sup>, a point on the circle that is the same for x and for x + I. This slot lies on point ${j} of the ${base}, every other slot on the point of its own digit. Magnified, each point is a cloud, because of the noise.</p>`;
  }
  const last = p + 1 === seen.passes.length;
  return html`<p>${reading.table && last
    ? html`A polynomial of degree ${2 * base - 1}, made from your table, takes point ${j} to the value ${seen.table[j] ?? 0}.`
    : html`A polynomial of degree ${2 * base - 1} takes point ${j} to the digit ${pass.digits?.[state.slot] ?? j}.`} Its slope at the ${base} points is zero, so that an error of δ becomes one of about δ². What is left after it is noise of the look-up itself.${last ? ' That was the last digit.' : ' The digit is moved back into coefficients and subtracted, and the next one can be read.'}</p>`;
}

/** What came back in every slot, compared with exact arithmetic. */
export function result(state: State, width: number): Html {
  const { seen } = state;
  const output = seen?.output;
  if (!seen || !output) return html`<p class="empty">The result appears here when the last digit has been read.</p>`;
  const reading = readingOf(seen.reading);
  const steps = grid(reading);
  // In units of the last digit, modulo the modulus; for tables in units of their values.
  const error = Array.from(output, (y, slot) => {
    const wanted = valueOf(seen.numbers[slot] ?? 0, reading, seen.table);
    if (reading.table) return y - wanted;
    const apart = (y - wanted) / reading.modulus;
    return (apart - Math.round(apart)) * steps;
  });
  const right = error.filter((e) => Math.abs(e) < 0.5).length;
  const deviation = Math.sqrt(error.reduce((s, e) => s + e * e, 0) / error.length);
  const farthest = error.reduce((m, e) => Math.max(m, Math.abs(e)), 0);
  const own = `${reading.table ? '' : `Modulo ${reading.modulus}, `}${shortly(seen.numbers[state.slot] ?? 0)} came back as ${reading.whole ? count(Math.round(output[state.slot] ?? 0)) : shortly(rounded(output[state.slot] ?? 0))}.`;
  const all = reading.whole
    ? `${right} of ${error.length} slots round to the exact remainder; none is farther from it than ${scientific(farthest)}.`
    : reading.table
      ? `${right} of ${error.length} slots have the table’s value; in the others the number is so close to the next eighth that the rounding took it there.`
      : `${error.length} slots came back, off by ${decimal(deviation, 2)} steps of 1/${steps} in the root mean square, the worst by ${decimal(farthest, 1)}. That is due to the rounding to whole steps under encryption. Decryption adds up 33 rounded coefficients, as 32 of the key are not 0, which makes √(33/12) = 1.66 steps in the root mean square. The worst slot is right to ${decimal(-Math.log2(farthest / steps), 1)} bits.`;
  const kept = seen.level - levelsBefore(reading);
  const division = reading.whole ? `; the division by ${reading.modulus} spends the first of them` : '';
  const level = seen.outputLevel === undefined ? '' : ` The input had ${levelsOf(seen.level, kept)}${division}. The result has ${levelsOf(seen.outputLevel, kept)}.`;
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
    title: 'How far off the slots are',
    drawing: drawing(width, height, all, 'digits-histogram', content),
    caption: html`<span id="outcome">${own} ${all}</span>${level} <span class="unit">Across: ${reading.table ? 'the result less the table’s value' : 'the result less the exact one, in steps of the last digit'}. Up: in how many slots. ${seen.ms > 0 ? `All stages took ${duration(seen.ms)}.` : ''}</span>`,
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
  const written = text.trim().replace(/[\s_’']/g, '').replace('−', '-');
  if (written.includes(',') && !/^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(written)) {
    return `“${text}” has a comma, which stands between thousands here: write the fraction after a point, such as ${written.replace(',', '.').replaceAll(',', '')}.`;
  }
  const plain = written.replaceAll(',', '');
  const value = plain === '' ? NaN : Number(plain);
  if (!Number.isFinite(value)) return `“${text}” is not a number: type one such as ${shortly(reading.number)}.`;
  if (reading.whole && !Number.isInteger(value)) return `${shortly(value)} is not an integer, and digits of integers are read here: leave the fraction out, or read a fraction.`;
  if (Math.abs(value) > LARGEST) return `${shortly(value)} is too large: numbers are up to 2^20 = ${shortly(LARGEST)} on either side of 0.`;
  return value;
}
