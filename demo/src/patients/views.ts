import type { Preset, ServerPreset } from 'refloat/client';
import { bytes, decimal, plural, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import type { Made } from '../keys.js';
import type { Making } from '../shell.js';
import { figure } from '../views/figure.js';
import { drawing, label, n } from '../views/svg.js';
import type { Standings } from './graph.js';
import type { Journey, Point } from './journey.js';
import type { Model } from './model.js';
import { batch } from './program.js';

/** A set, and where the program runs with it. */
export interface Choice {
  readonly set: Preset | ServerPreset;
  readonly where: 'server' | 'tab';
}

/** What a choice is called in the list. */
export const valueOf = ({ set, where }: Choice): string => `${set.name}@${where}`;

/** What the page knows. */
export interface State extends Making {
  /** Conventional sets of the server, and toys that this tab can hold the keys of. */
  choices: readonly Choice[] | undefined;
  /** Whether a server answers, whatever sets it has. */
  answers: boolean;
  /** The value of the chosen one. */
  choice: string;
  busy: 'keys' | 'run' | undefined;
  /** The keys that this tab holds. */
  held: (Made & { readonly name: string }) | undefined;
  /** The way through the program, as far as it is known. */
  journey: Journey | undefined;
  /** Where its values stood, when it was over. */
  standings: Standings;
  /** By what the run that is shown was made, unless it was the reader. */
  recorded: string | undefined;
  rows: readonly { readonly malignant: boolean; readonly encrypted: number; readonly clear: number; readonly exact: number }[];
  seconds: number;
  /** Bytes of the encrypted measurements. */
  sent: number;
}

/** Rows of the table at most. */
const SHOWN = 64;

/** The set, and what to do with it. */
export function controls(state: State, model: Model, test: number): Html {
  const { choices, busy } = state;
  if (!choices) return html`<p class="hint">Looking for a server…</p>`;
  const choice = choices.find((choice) => valueOf(choice) === state.choice);
  if (!choice) return html`<p class="hint">There is no set here to run the program with.</p>${problem(state)}`;
  const { set, where } = choice;
  const [here, served] = [where === 'tab', choices.some(({ where }) => where === 'server')];
  const [done, total] = state.progress;
  return html`<div class="conv-controls">
      <label>Set <select data-input="set" ${busy ? 'disabled' : ''}>${choices.map((one) => html`<option value="${valueOf(one)}" ${one === choice ? 'selected' : ''}>${one.set.name} · ${one.where === 'tab' ? 'this tab' : 'server'}</option>`)}</select></label>
      ${busy ? html`<button type="button" class="secondary" data-act="cancel">Cancel</button>` : html`<button type="button" class="primary small" data-act="run">Encrypt and score</button>`}
    </div>
    ${served ? '' : html`<p class="hint">${state.answers ? 'The server here has none of the sets that this program runs with, those of conventional CKKS, so this tab runs it itself.' : html`No server answers here, so this tab runs the program itself; <code>npm start</code> starts one.`}</p>`}
    ${busy === 'keys' ? html`<p class="hint">Making ${here ? '' : 'and sending '}evaluation keys: ${bytes(done)} of ${bytes(total || set.keyBytes)}</p>` : ''}
    ${busy === 'run' ? html`<p class="hint">${here ? 'This tab' : 'The server'} is at step ${done} of ${total || '…'}, after ${plural(state.journey?.bootstraps.length ?? 0, 'bootstrap')}</p>` : ''}
    ${busy ? html`<progress max="${total || 1}" value="${done}" aria-label="Progress"></progress>` : ''}
    ${problem(state)}
    <p class="conv-set"><span class="badge ${set.secure ? 'badge-secure' : 'badge-insecure'}">${set.name}${set.secure ? '' : ' · insecure demonstration parameters'}</span>
      <span class="hint">${Math.min(batch(set), test)} patients in one ciphertext; ${keysOf(state, choice)}; a bootstrap leaves ${plural(set.outputLevel - set.inputLevel, 'product')}. The sigmoid is a polynomial of degree ${model.sigmoid.length - 1} on [−${decimal(model.range)}, ${decimal(model.range)}].</span></p>`;
}

/** How many keys a run takes, and where they are. */
function keysOf({ held }: State, { set, where }: Choice): string {
  if (where === 'server') return `${bytes(set.keyBytes)} of evaluation keys to send`;
  return held?.name === set.name ? `evaluation keys made here in ${decimal(held.seconds, 1)} s, ${decimal(held.megabytes, 0)} MB in memory` : `${bytes(set.keyBytes)} of evaluation keys are made with the first run`;
}

/** Pixels that the number of a bootstrap takes. */
const NUMBER = 14;

/** The way through the program: the modulus at every step, and the bootstraps where they were put in. */
export function way(state: State, width: number): Html {
  const { journey, recorded } = state;
  const points = journey?.points ?? [];
  const height = 230;
  const [left, top, bottom] = [34, 30, height - 38];
  const total = Math.max(1, journey?.total ?? 1, journey?.steps ?? 1);
  const most = Math.max(64, ...points.map(({ logQ }) => logQ));
  const x = (step: number): number => left + (step / total) * (width - left - 6);
  const y = (bits: number): number => bottom - (bits / most) * (bottom - top);
  const line = points.map(({ step, logQ }, i) => `${i ? 'L' : 'M'}${n(x(step))} ${n(y(logQ))}`).join('');
  const bootstraps = journey?.bootstraps ?? [];
  // Numbers stand over their bootstraps, or beside the number before.
  const numbers = bootstraps.reduce<number[]>((at, step) => [...at, Math.max(x(step + 0.5), (at.at(-1) ?? -Infinity) + NUMBER)], []);
  // Between two bootstraps only the ends are known.
  const inside = ({ step }: Point): boolean => bootstraps.some((begun) => step > begun && step <= begun + 1);
  const parts = (measured: boolean): string =>
    points.map((point, i) => {
      const before = points[i - 1];
      return before && inside(point) === measured ? `M${n(x(before.step))} ${n(y(before.logQ))}L${n(x(point.step))} ${n(y(point.logQ))}` : '';
    }).join('');
  const sentence = journey
    ? `${plural(journey.steps, 'step')}${state.busy ? ` of ${journey.total || '…'}` : ''}, ${plural(bootstraps.length, 'bootstrap')} put in where the levels ran out.`
    : 'The way of the ciphertext appears here.';
  const every = most > 400 ? 250 : 100;
  const ticks = Array.from({ length: Math.floor(most / every) + 1 }, (_, i) => i * every);
  return figure(state, {
    id: 'way',
    title: 'Modulus on the way',
    drawing: drawing(width, height, `log₂ of the modulus by step of the program. ${sentence}`, 'patients-way', html`
      ${ticks.map((bits) => html`<line class="grid" x1="${left}" x2="${n(width)}" y1="${n(y(bits))}" y2="${n(y(bits))}"/>${label(left - 6, y(bits) + 4, bits, 'tick', 'end')}`)}
      ${bootstraps.map((step, i) => html`<rect class="patients-bootstrap" x="${n(x(step))}" y="${top}" width="${n(Math.max(3, x(step + 1) - x(step)))}" height="${bottom - top}"/>${label(numbers[i] ?? 0, top - 8, i + 1, 'tick')}`)}
      ${points.length > 1 ? html`<path class="patients-water" d="${line}V${bottom}H${n(x(0))}Z"/><path class="patients-line" d="${parts(true)}"/><path class="patients-line between" d="${parts(false)}"/>` : ''}
      ${label((left + width) / 2, height - 12, 'steps of the program', 'axis')}${label(left - 6, 14, 'bits', 'tick', 'end')}`),
    caption: html`${recorded ? html`<strong class="patients-recorded">A recorded run</strong>, ${recorded}. ` : ''}${sentence} <span class="unit">Each bootstrap raises the modulus and spends most of it on itself; what is left is for the next products. Dashed: only the ends are known.</span>`,
    table: { columns: ['Step', 'Level', 'log₂ Q', 'log₂ scale'], rows: points.map(({ step, level, logQ, logScale }) => [decimal(step, 2), level, decimal(logQ, 0), decimal(logScale, 1)]) },
  });
}

/** The scores, encrypted and clear. */
export function scores(state: State): Html {
  const { rows } = state;
  if (rows.length === 0) return html`<p class="hint">Scores appear here, decrypted.</p>`;
  const most = rows.reduce((most, row) => Math.max(most, Math.abs(row.encrypted - row.clear)), 0);
  const isRight = (row: State['rows'][number]): boolean => row.encrypted > 0.5 === row.malignant;
  const right = rows.filter(isRight).length;
  const off = rows.reduce((most, row) => Math.max(most, Math.abs(row.clear - row.exact)), 0);
  const beyond = rows.filter(({ encrypted }) => encrypted > 1 || encrypted < 0).length;
  return html`<p id="outcome">${plural(rows.length, 'patient')} scored, ${right} of them correctly, with ${plural(state.journey?.bootstraps.length ?? 0, 'bootstrap')} put in. No score differs from the clear one by more than ${scientific(most)}.</p>
    <p class="hint">${beyond > 0 ? `${plural(beyond, 'score')} ${beyond === 1 ? 'is' : 'are'} below 0 or above 1: the sigmoid is a polynomial, which swings about the exact curve by up to ${scientific(off)} on these rows. ` : ''}${decimal(state.seconds, 1)} s from a ciphertext of ${bytes(state.sent)} to reading the scores, which includes bringing back the ciphertexts of all values on the way.${rows.length > SHOWN ? ` The table has the first ${SHOWN} patients.` : ''}</p>
    <div class="table-scroll" tabindex="0" role="region" aria-label="Scores"><table><thead><tr><th scope="col">Patient</th><th scope="col">Encrypted</th><th scope="col">In the clear</th><th scope="col">Exact sigmoid</th><th scope="col">Diagnosis</th></tr></thead>
    <tbody>${rows.slice(0, SHOWN).map((row, i) => html`<tr class="${isRight(row) ? '' : 'wrong'}"><th scope="row">${i + 1}</th><td>${row.encrypted.toFixed(6)}</td><td>${row.clear.toFixed(6)}</td><td>${row.exact.toFixed(6)}</td><td>${row.malignant ? 'malignant' : 'benign'}${isRight(row) ? '' : html` <b>scored wrongly</b>`}</td></tr>`)}</tbody></table></div>`;
}

function problem(state: State): Html {
  return state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : html``;
}
