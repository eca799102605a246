import type { ServerPreset } from 'refloat/client';
import { bytes, decimal, plural, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import type { Model } from './model.js';
import { batch } from './program.js';

/** What the page knows. */
export interface State {
  /** Conventional sets of the server; empty if there is none. */
  sets: readonly ServerPreset[] | undefined;
  /** Name of the chosen one. */
  set: string;
  busy: 'keys' | 'run' | undefined;
  paused: boolean;
  readonly tables: Set<string>;
  /** Bytes of keys, or steps of the program: done and all. */
  progress: readonly [number, number];
  bootstraps: number;
  problem: string | undefined;
  rows: readonly { readonly malignant: boolean; readonly encrypted: number; readonly clear: number; readonly exact: number }[];
  seconds: number;
  /** Bytes of the ciphertext sent. */
  sent: number;
}

/** Rows of the table at most. */
const SHOWN = 64;

/** The set, and what to do with it. */
export function controls(state: State, model: Model, test: number): Html {
  const { sets, busy } = state;
  if (!sets) return html`<p class="hint">Looking for a server…</p>`;
  const set = sets.find((set) => set.name === state.set);
  if (!set) return html`<p class="hint">This page needs a server with conventional sets: <code>npm start</code> starts one.</p>${problem(state)}`;
  const [done, total] = state.progress;
  return html`<div class="conv-controls">
      <label>Set <select data-input="set" ${busy ? 'disabled' : ''}>${sets.map(({ name }) => html`<option value="${name}" ${name === set.name ? 'selected' : ''}>${name}</option>`)}</select></label>
      ${busy ? html`<button type="button" class="secondary" data-act="cancel">Cancel</button>` : html`<button type="button" class="primary small" data-act="run">Encrypt and score</button>`}
    </div>
    ${busy === 'keys' ? html`<p class="hint">Making and sending evaluation keys: ${bytes(done)} of ${bytes(total || set.keyBytes)}</p>` : ''}
    ${busy === 'run' ? html`<p class="hint">The server is at step ${done} of ${total || '…'}, after ${plural(state.bootstraps, 'bootstrap')}</p>` : ''}
    ${busy ? html`<progress max="${total || 1}" value="${done}" aria-label="Progress"></progress>` : ''}
    ${problem(state)}
    <p class="conv-set"><span class="badge ${set.secure ? 'badge-secure' : 'badge-insecure'}">${set.name}${set.secure ? '' : ' · insecure demonstration parameters'}</span>
      <span class="hint">${Math.min(batch(set), test)} patients in one ciphertext; ${bytes(set.keyBytes)} of evaluation keys to send; a bootstrap leaves ${plural(set.outputLevel - set.inputLevel, 'product')}. The sigmoid is a polynomial of degree ${model.sigmoid.length - 1} on [−${decimal(model.range)}, ${decimal(model.range)}].</span></p>`;
}

/** The scores, encrypted and clear. */
export function scores(state: State): Html {
  const { rows } = state;
  if (rows.length === 0) return html`<p class="hint">Scores appear here, decrypted.</p>`;
  const most = rows.reduce((most, row) => Math.max(most, Math.abs(row.encrypted - row.clear)), 0);
  const right = rows.filter((row) => row.encrypted > 0.5 === row.malignant).length;
  return html`<p id="outcome">${plural(rows.length, 'patient')} scored, ${right} of them rightly, with ${plural(state.bootstraps, 'bootstrap')} put in. No score differs from the clear one by more than ${scientific(most)}.</p>
    <p class="hint">${decimal(state.seconds, 1)} s from sending a ciphertext of ${bytes(state.sent)} to reading the scores.${rows.length > SHOWN ? ` The table has the first ${SHOWN} patients.` : ''}</p>
    <div class="table-scroll" tabindex="0" role="region" aria-label="Scores"><table><thead><tr><th scope="col">Patient</th><th scope="col">Encrypted</th><th scope="col">In the clear</th><th scope="col">Exact sigmoid</th><th scope="col">Diagnosis</th></tr></thead>
    <tbody>${rows.slice(0, SHOWN).map((row, i) => html`<tr><th scope="row">${i + 1}</th><td>${row.encrypted.toFixed(6)}</td><td>${row.clear.toFixed(6)}</td><td>${row.exact.toFixed(6)}</td><td>${row.malignant ? 'malignant' : 'benign'}</td></tr>`)}</tbody></table></div>`;
}

function problem(state: State): Html {
  return state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : html``;
}
