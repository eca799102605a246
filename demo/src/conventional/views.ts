import { bytes, count, decimal, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { stageRow } from '../staged.js';
import { figure } from '../views/figure.js';
import { badge, progressOf, ring, standing } from '../views/making.js';
import { drawing, n } from '../views/svg.js';
import { MESSAGES, type State } from './state.js';

/** The message, and what to do with it. */
export function controls(state: State): Html {
  const { busy, preset } = state;
  return html`<div class="conv-controls">
      <label>Message to encrypt <select data-input="message" ${busy ? 'disabled' : ''}>${Object.entries(MESSAGES).map(([kind, words]) => html`<option value="${kind}" ${kind === state.message ? 'selected' : ''}>${words}</option>`)}</select></label>
      ${busy
        ? html`${busy === 'run' ? html`<button type="button" class="secondary" data-act="${state.paused ? 'resume' : 'pause'}">${state.paused ? 'Go on' : 'Pause'}</button><button type="button" class="secondary" data-act="step">Run one stage</button>` : ''}<button type="button" class="secondary" data-act="cancel">Cancel</button>`
        : html`<button type="button" class="primary small" data-act="run" ${preset ? '' : 'disabled'}>Encrypt and bootstrap</button>`}
    </div>
    ${busy === 'run' ? html`<p class="hint" id="under">${underWay(state)}</p>` : ''}
    ${progressOf(state)}`;
}

/** How far the run is, and what is shown in the meantime. */
function underWay(state: State): string {
  const { awaited, exits, views } = state;
  return `${standing(state, awaited ? 0 : exits.length)}${awaited && views.length > 0 ? ' Until its first stage is done, the drawings show the run before it.' : ''}`;
}

/** The set that the page computes with. */
export function setLine(state: State): Html {
  const { preset, keys } = state;
  return html`<p class="conv-set">${
      preset
        ? html`${badge(preset)} <span class="hint">${count(preset.slots)} slots ${ring(preset)}. ${keys ? html`The keys were made in this tab in ${decimal(keys.seconds, 1)} s and take ${decimal(keys.megabytes, 0)} MB of memory` : html`The first run makes ${bytes(preset.keyBytes)} of keys`}. The sets <code>n15</code> and <code>n16</code> have 128-bit security and run on a server.</span>`
        : state.problem ? '' : html`<span class="hint">Loading…</span>`
    }</p>`;
}

/** The stages, with how precise each ciphertext is. */
export function stages(state: State): Html {
  return stageRow(state, (view) => view && `right to ${decimal(view.bitsMax)} bits`, state.awaited);
}

/** How the set's reduction is computed. */
export function words({ own }: Pick<State, 'own'>): Html {
  if (!own) return html``;
  return own.kind === 'harmonics'
    ? html`What takes the integers away is a function that repeats at every integer. A polynomial in x gives e<sup>2πix/${2 ** own.doubleAngles}</sup>, a point on the unit circle; each squaring doubles its angle, up to w\u00a0=\u00a0e<sup>2πix</sup>, which is the same for x and for x\u00a0+\u00a01. The imaginary parts of w and w² are sin(2πx) and sin(4πx), and a₁\u00a0sin(2πx) + a₂\u00a0sin(4πx) is zero at every integer and rises from there in a line that is nearly straight, with slope\u00a01. Magnify the drawing about the integers: close to them the curve is x − round(x), the distance from the nearest integer.`
    : html`What takes the integers away is a function that repeats at every integer. A polynomial in x gives a cosine that repeats ${2 ** own.doubleAngles} times too slowly; each step from c to 2c²\u00a0−\u00a01 doubles its angle. The result is a sine that is zero at every integer and rises from there with slope\u00a01${own.arcsineDegree ? '; an arcsine makes the rise straight' : '. It bends: large coefficients, such as those of a constant or a picture, lose precision'}. Magnify the drawing about the integers: close to them the curve is nearly x − round(x), the distance from the nearest integer.`;
}

/** Input, output, and what is between them. */
export function result(state: State, width: number): Html {
  const { input, output } = state;
  const slots = input?.length ?? 0;
  const errors = output && input ? output.map((x, i) => x - (input[i] ?? 0)) : undefined;
  const most = errors?.reduce((m, e) => Math.max(m, Math.abs(e)), 0) ?? 0;
  const rms = errors ? Math.sqrt(errors.reduce((s, e) => s + e * e, 0) / slots) : 0;
  const sentence = errors
    ? `${count(slots)} slots came back: right to ${decimal(-Math.log2(most))} bits in the worst of them, ${decimal(-Math.log2(rms))} bits in the root mean square.`
    : 'The result appears here, decrypted.';
  const each = width < 560 ? width : (width - 32) / 2;
  const height = 190;
  const marks = (values: Float64Array | undefined, scale: number, className: string): Html | string =>
    values ? html`<g class="${className}">${Array.from(values, (v, i) => html`<rect x="${n((i / slots) * each)}" y="${n(height / 2 - (v / scale) * height * 0.44 - 1)}" width="${n(Math.max(1.4, each / slots))}" height="2"/>`)}</g>` : '';
  const axis = html`${[-1, 0, 1].map((v) => html`<line class="grid" x1="0" x2="${n(each)}" y1="${n(height / 2 - v * height * 0.44)}" y2="${n(height / 2 - v * height * 0.44)}"/>`)}`;
  return figure(state, {
    id: 'result',
    title: 'Before and after',
    drawing: html`<div class="conv-pair"><div>${drawing(each, height, 'Input and output, slot by slot', 'conv-slots', html`${axis}${marks(input, 1, 'conv-in')}${marks(output, 1, 'conv-out')}`)}<p class="hint">Slot by slot, from −1 to 1: what you encrypted in blue, and over it what came back in orange.</p></div>
      <div>${drawing(each, height, errors ? `Error of every slot, at most ${scientific(most)}` : 'Error of every slot: not computed yet', 'conv-slots', html`${axis}${marks(errors, most || 1, 'conv-error')}`)}<p class="hint">${errors ? `The difference of the two, from ${scientific(-most)} to ${scientific(most)}.` : 'The difference of the two appears here.'}</p></div></div>`,
    caption: html`<span id="outcome">${sentence}</span> <span class="unit">${state.preset ? `The parameter set promises ${decimal(state.preset.promisedBits)} bits in the worst slot, for ${state.preset.promisedFor}.` : ''}</span>`,
    table: {
      columns: ['Slot', 'Input', 'Output', 'Error'],
      rows: input && output ? Array.from(input.slice(0, 64), (v, i) => [i, v.toFixed(8), (output[i] ?? 0).toFixed(8), scientific((output[i] ?? 0) - v)]) : [],
    },
  });
}
