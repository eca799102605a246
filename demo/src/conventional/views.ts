import { bytes, decimal, duration, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, n } from '../views/svg.js';
import { MESSAGES, reached, type State } from './state.js';

/** The message, and what to do with it. */
export function controls(state: State): Html {
  const { busy, preset } = state;
  return html`<div class="conv-controls">
      <label>Message <select data-input="message" ${busy ? 'disabled' : ''}>${Object.entries(MESSAGES).map(([kind, words]) => html`<option value="${kind}" ${kind === state.message ? 'selected' : ''}>${words}</option>`)}</select></label>
      ${busy
        ? html`${busy === 'run' ? html`<button type="button" class="secondary" data-act="${state.paused ? 'resume' : 'pause'}">${state.paused ? 'Go on' : 'Pause'}</button><button type="button" class="secondary" data-act="step">One stage</button>` : ''}<button type="button" class="secondary" data-act="cancel">Cancel</button>`
        : html`<button type="button" class="primary small" data-act="run" ${preset ? '' : 'disabled'}>Encrypt and bootstrap</button>`}
    </div>
    ${busy === 'keys' ? html`<p class="hint">Making keys: ${bytes(state.progress[0])} of ${bytes(state.progress[1])}</p><progress max="${state.progress[1] || 1}" value="${state.progress[0]}" aria-label="Keys"></progress>` : ''}
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}`;
}

/** By what the run that is shown was made, unless it was the reader. */
export function recorded(state: State): Html {
  return state.recorded ? html`<p class="recorded"><strong>A recorded run</strong> on real ciphertexts, ${state.recorded}. Press the button to make your own.</p>` : html``;
}

/** The set that is computed with. */
export function setLine(state: State): Html {
  const { preset, keys } = state;
  return html`<p class="conv-set">${
      preset
        ? html`<span class="badge ${preset.secure ? 'badge-secure' : 'badge-insecure'}">${preset.name}${preset.secure ? '' : ' · insecure demonstration parameters'}</span> <span class="hint">${preset.slots} slots, N = 2<sup>${preset.logN}</sup>, log₂ QP = ${decimal(preset.logQP, 0)}; ${keys ? html`keys made here in ${decimal(keys.seconds, 1)} s, ${decimal(keys.megabytes, 0)} MB in memory` : html`${bytes(preset.keyBytes)} of keys are made with the first run`}. Full size: <code>n15</code> and <code>n16</code>, 128 bits, on a server.</span>`
        : state.problem ? '' : html`<span class="hint">Loading…</span>`
    }</p>`;
}

/** The stages as a row of buttons, the modulus as water in each. */
export function stages(state: State): Html {
  const { preset, views, exits } = state;
  if (!preset) return html``;
  const first = views[0];
  const highest = preset.logQP;
  const titles = [['input', 'Exhausted'] as const, ...preset.stages.map((stage) => [stage.id, stage.title] as const)];
  return html`<ol class="conv-stages" aria-label="Stages">${titles.map(([id, title], i) => {
    const exit = exits[i - 1];
    const view = views[i];
    const done = reached(state, i);
    const logQ = i === 0 ? (first ? state.inputLogQ : 0) : (exit?.logQ ?? 0);
    const level = i === 0 ? preset.inputLevel : exit?.level;
    const words = state.under === id && !done ? 'under way' : done ? html`level ${level}, ${decimal(logQ, 0)} bits${view ? html`<br>right to ${decimal(view.bitsMax)} bits` : ''}${exit ? html`<br>${duration(spent(state, i - 1))}` : ''}` : 'not reached';
    return html`<li><button type="button" data-act="at:${i}" aria-pressed="${state.at === i && done ? 'true' : 'false'}" ${done ? '' : 'disabled'}><span class="conv-well" aria-hidden="true"><span style="height:${n((100 * logQ) / highest)}%"></span></span><b>${title}</b><small>${words}</small></button></li>`;
  })}</ol>`;
}

/** Milliseconds of a stage. */
function spent(state: State, i: number): number {
  return (state.exits[i]?.atMs ?? 0) - (state.exits[i - 1]?.atMs ?? 0);
}

/** How the reduction of the set is made. */
export function words({ own }: Pick<State, 'own'>): Html {
  if (!own) return html``;
  return own.kind === 'harmonics'
    ? html`A polynomial in x gives e<sup>2πix</sup> with the angle divided by a power of two; each squaring doubles the angle, until w = e<sup>2πix</sup>, which is 1 at every integer. From w and w² come two harmonics, a₁\u00a0sin(2πx) + a₂\u00a0sin(4πx), with slope 1 at the integers and hardly any cubic term, so that the curve is straight over every message. Magnify, and it becomes the line on which x is its own remainder.`
    : html`A polynomial in x − 1/4 gives the cosine of the angle divided by a power of two; each c → 2c² − 1 doubles the angle. What comes of it is a sine with zeros at the integers, where it has slope 1${own.arcsineDegree ? '; then an arcsine, which makes it straight' : '. It bends: large coefficients, those of a constant or a picture, lose bits to it'}. Magnify, and it becomes the line on which x is its own remainder.`;
}

/** Input, output, and what is between them. */
export function result(state: State, width: number): Html {
  const { input, output } = state;
  const count = input?.length ?? 0;
  const errors = output && input ? output.map((x, i) => x - (input[i] ?? 0)) : undefined;
  const most = errors?.reduce((m, e) => Math.max(m, Math.abs(e)), 0) ?? 0;
  const rms = errors ? Math.sqrt(errors.reduce((s, e) => s + e * e, 0) / count) : 0;
  const sentence = errors
    ? `${count} slots came back: right to ${decimal(-Math.log2(most))} bits in the worst of them, ${decimal(-Math.log2(rms))} bits by the root mean square.`
    : 'The result appears here, decrypted.';
  const each = width < 560 ? width : (width - 32) / 2;
  const height = 190;
  const marks = (values: Float64Array | undefined, scale: number, className: string): Html | string =>
    values ? html`<g class="${className}">${Array.from(values, (v, i) => html`<rect x="${n((i / count) * each)}" y="${n(height / 2 - (v / scale) * height * 0.44 - 1)}" width="${n(Math.max(1.4, each / count))}" height="2"/>`)}</g>` : '';
  const axis = html`${[-1, 0, 1].map((v) => html`<line class="grid" x1="0" x2="${n(each)}" y1="${n(height / 2 - v * height * 0.44)}" y2="${n(height / 2 - v * height * 0.44)}"/>`)}`;
  return figure(state, {
    id: 'result',
    title: 'Before and after',
    drawing: html`<div class="conv-pair"><div>${drawing(each, height, 'Input and output, slot by slot', 'conv-slots', html`${axis}${marks(input, 1, 'conv-in')}${marks(output, 1, 'conv-out')}`)}<p class="hint">Input in blue, output over it in orange, from −1 to 1.</p></div>
      <div>${drawing(each, height, errors ? `Error of every slot, at most ${scientific(most)}` : 'Error of every slot: not computed yet', 'conv-slots', html`${axis}${marks(errors, most || 1, 'conv-error')}`)}<p class="hint">${errors ? `Output less input, from ${scientific(-most)} to ${scientific(most)}.` : 'Output less input appears here.'}</p></div></div>`,
    caption: html`<span id="outcome">${sentence}</span> <span class="unit">${state.preset ? `The set promises ${decimal(state.preset.promisedBits)} bits in the worst slot, for ${state.preset.promisedFor}.` : ''}</span>`,
    table: {
      columns: ['Slot', 'Input', 'Output', 'Error'],
      rows: input && output ? Array.from(input.slice(0, 64), (v, i) => [i, v.toFixed(8), (output[i] ?? 0).toFixed(8), scientific((output[i] ?? 0) - v)]) : [],
    },
  });
}
