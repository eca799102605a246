import type { IntegerView } from 'refloat';
import { again } from '../contact.js';
import { bytes, count, decimal } from '../format.js';
import { html, type Html } from '../html.js';
import { levelsOf } from '../levels.js';
import { UNPACKING, question } from '../sending.js';
import { stageRow } from '../staged.js';
import { figure } from '../views/figure.js';
import { badge, progressOf, recordedBy, ring, standing } from '../views/making.js';
import { drawing, n } from '../views/svg.js';
import { drawn, PICTURES, type State } from './state.js';

/** The picture, and what to do with it. */
export function controls(state: State): Html {
  const { busy, preset } = state;
  return html`<div class="conv-controls">
      <label>Integers to encrypt <select data-input="picture" ${busy ? 'disabled' : ''}>${Object.entries(PICTURES).map(([kind, words]) => html`<option value="${kind}" ${kind === state.picture ? 'selected' : ''}>${words}</option>`)}</select></label>
      ${state.offers.length > 0 ? html`<label>Where it runs <select data-input="there" ${busy ? 'disabled' : ''}><option value="" ${state.there ? '' : 'selected'}>in this tab, at demonstration size</option>${state.offers.map((set) => html`<option value="${set}" ${set === state.there ? 'selected' : ''}>on the server, ${set}</option>`)}</select></label>` : ''}
      ${busy
        ? html`${busy === 'run' && !state.there ? html`<button type="button" class="secondary" data-act="${state.paused ? 'resume' : 'pause'}">${state.paused ? 'Go on' : 'Pause'}</button><button type="button" class="secondary" data-act="step">Run one stage</button>` : ''}${busy === 'set' ? '' : html`<button type="button" class="secondary" data-act="cancel">Cancel</button>`}`
        : state.confirming ? '' : html`<button type="button" class="primary small" data-heir data-act="run" ${preset && state.input ? '' : 'disabled'}>Encrypt and bootstrap</button>`}
    </div>
    ${state.confirming && preset ? question(preset) : ''}
    ${recordedBy(state.recorded, busy)}
    ${busy === 'set' ? html`<p class="hint">Loading the set…</p>` : ''}
    ${busy === 'run' ? html`<p class="hint" id="under">${state.retrying ? again(state.retrying) : state.there && !state.under ? UNPACKING : standing(state, state.exits.length)}</p>` : ''}
    ${progressOf(state, state.there ? preset : undefined)}`;
}

/** The set that the page computes with. */
export function setLine({ preset, keys, problem, offers, there }: Pick<State, 'preset' | 'keys' | 'problem' | 'offers' | 'there'>): Html {
  if (!preset) return problem ? html`` : html`<p class="conv-set hint">Loading…</p>`;
  return html`<p class="conv-set">${badge(preset)} <span class="hint">${count(preset.slots)} integers modulo ${preset.modulus} ${ring(preset)}. ${keys ? (there ? html`${decimal(keys.megabytes, 0)} MB of keys were made in this tab and sent to the server in ${decimal(keys.seconds, 1)} s; the secret key stays in this tab` : html`The keys were made in this tab in ${decimal(keys.seconds, 1)} s and take ${decimal(keys.megabytes, 0)} MB of memory`) : html`The first run makes ${bytes(preset.keyBytes)} of keys${there ? ' and sends them to the server' : ''}`}.${preset.secure ? '' : html` The set <code>bgv15</code>, of 32,768 integers, has 128-bit security and runs on a server${offers.length > 0 ? '' : html`; <code>npm start</code> starts one`}.`}</span></p>`;
}

/** The stages, with the low digits of each ciphertext. */
export function stages(state: State): Html {
  if (!state.preset) return html``;
  const digits = (view: IntegerView | undefined): string | Html => {
    if (!view) return state.there ? 'noise to the server' : 'not decrypted yet';
    const far = view.low.reduce((far, digit) => Math.max(far, Math.abs(digit)), 0);
    return far === 0 ? 'no low digit' : `low digits up to ±${far}`;
  };
  return html`${stageRow(state, digits)}
  <p class="hint">The bar of a stage shows how much modulus there is. Digits can be seen only with the secret key, which this tab has${state.there ? ' and the server has not' : ''}.</p>`;
}

/** Input, output, and whether they are the same. */
export function result(state: State, width: number): Html {
  const { input, output, square, preset } = state;
  const slots = input?.length ?? 0;
  const wrong = input && output ? output.filter((value, i) => value !== input[i]).length : 0;
  const p = BigInt(preset?.modulus ?? 1);
  const wrongSquares = input && square ? square.filter((value, i) => BigInt(value) !== (BigInt(input[i] ?? 0) * BigInt(input[i] ?? 0)) % p).length : 0;
  const sentence =
    input && output
      ? `${wrong === 0 ? `All ${count(slots)} integers` : `${count(slots - wrong)} of ${count(slots)} integers`} came back exactly as they were.${square ? ` Squared afterwards under encryption, ${wrongSquares === 0 ? 'every one of them is right' : `${count(slots - wrongSquares)} are right`} modulo ${p}.` : ''}`
      : 'The result appears here, decrypted.';
  const { columns, slots: pixels } = drawn(Math.max(1, slots));
  const rows = pixels.length / columns;
  const side = Math.min(220, (width - 24) / 2);
  const cell = side / columns;
  const white = (preset?.modulus ?? 2) - 1;
  const picture = (values: Uint32Array | undefined, name: string): Html =>
    html`<div>${drawing(side, cell * rows, name, 'exact-picture', values ? html`<g shape-rendering="crispEdges">${pixels.map((slot, i) => {
      const grey = Math.round(((values[slot] ?? 0) / white) * 255);
      return html`<rect x="${n((i % columns) * cell)}" y="${n(Math.floor(i / columns) * cell)}" width="${n(cell + 0.3)}" height="${n(cell + 0.3)}" fill="rgb(${grey},${grey},${grey})"/>`;
    })}</g>` : html`<rect class="exact-frame" x="0" y="0" width="${n(side)}" height="${n(cell * rows)}"/>`)}<p class="hint">${name}</p></div>`;
  const given = state.views.length === 0 ? 'To be encrypted' : state.recorded ? 'What was encrypted' : 'What you encrypted';
  return figure(state, {
    id: 'result',
    title: 'Before and after',
    drawing: html`<div class="exact-pair">${picture(input, given)}${picture(output, output ? `Refreshed, then decrypted with ${state.recorded ? 'its' : 'your'} key` : 'Refreshed: not computed yet')}</div>`,
    caption: html`<span id="outcome">${sentence}</span> <span class="unit">${preset ? `The refreshed ciphertext has ${levelsOf(preset.outputLevel, preset.inputLevel)}.` : ''}</span>`,
    table: {
      columns: ['Slot', 'Before', 'After', 'Squared afterwards'],
      rows: input && output ? Array.from(input.slice(0, 64), (value, i) => [i, value, output[i] ?? '–', square?.[i] ?? '–']) : [],
    },
  });
}
