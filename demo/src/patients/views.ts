import type { Preset, ServerPreset } from 'refloat/client';
import { again } from '../contact.js';
import { bytes, decimal, plural, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import type { Made } from '../keys.js';
import { UNPACKING, question, sending } from '../sending.js';
import type { Making } from '../shell.js';
import { figure } from '../views/figure.js';
import { badge } from '../views/making.js';
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

/** The run that is shown. */
export interface Ran {
  readonly set: string;
  /** Where the reader had it run, or what made it, if it is a recording. */
  readonly by: string;
  readonly recorded: boolean;
}

/** What the page knows. */
export interface State extends Making {
  /** Conventional sets of the server, and toy sets whose keys this tab can hold. */
  choices: readonly Choice[] | undefined;
  /** Whether a server answers, whatever sets it offers. */
  answers: boolean;
  /** The chosen entry of `choices`, as `valueOf` names it. */
  choice: string;
  busy: 'keys' | 'run' | undefined;
  /** Sets whose keys have been sent to the server. */
  readonly sentKeys: Set<string>;
  /** The keys that this tab holds. */
  held: (Made & { readonly name: string }) | undefined;
  /** The run through the program, as far as it is known. */
  journey: Journey | undefined;
  /** Level, modulus and scale of its values, once the run is finished. */
  standings: Standings;
  ran: Ran | undefined;
  rows: readonly { readonly malignant: boolean; readonly encrypted: number; readonly clear: number; readonly exact: number }[];
  seconds: number;
  /** Bytes of the encrypted measurements. */
  sent: number;
}

/** Most rows of the table. */
const SHOWN = 64;

/** The set, and what to do with it. */
export function controls(state: State): Html {
  const { choices, busy } = state;
  if (!choices) return html`<p class="hint">Looking for a server…</p>`;
  const choice = choices.find((choice) => valueOf(choice) === state.choice);
  if (!choice) return html`<p class="hint">There is no set here to run the program with.</p>${problem(state)}`;
  const { set } = choice;
  const served = choices.some(({ where }) => where === 'server');
  const [done, total] = state.progress;
  return html`<div class="conv-controls">
      <label>Run with <select data-input="set" ${busy ? 'disabled' : ''}>${choices.map((one) => html`<option value="${valueOf(one)}" ${one === choice ? 'selected' : ''}>${one.set.name} · ${one.where === 'tab' ? 'this tab' : 'server'}</option>`)}</select></label>
      ${busy ? html`<button type="button" class="secondary" data-heir data-act="cancel">Cancel</button>` : state.confirming ? '' : html`<button type="button" class="primary small" data-heir data-act="run">Encrypt and score</button>`}
    </div>
    ${state.confirming ? question(set) : ''}
    ${served ? '' : html`<p class="hint">${state.answers ? 'The server here has none of the sets that this program runs with, those of conventional CKKS, so this tab runs it itself.' : html`No server answers here, so this tab runs the program itself; <code>npm start</code> starts one.`}</p>`}
    ${busy ? html`<p class="hint">${busyWords(state, choice)}</p><progress max="${total || 1}" ${total ? html`value="${done}"` : ''} aria-label="Progress"></progress>` : ''}
    ${problem(state)}
    <p class="conv-set">${badge(set)}
      <span class="hint">${keysOf(state, choice)}</span></p>`;
}

/** How the program runs with the chosen set. */
export function programWith({ choices, choice }: State, model: Model, test: number): Html {
  const set = choices?.find((one) => valueOf(one) === choice)?.set;
  return html`<p class="hint">${set ? `With ${set.name}: ${Math.min(batch(set), test)} patients in one ciphertext, and ${plural(set.outputLevel - set.inputLevel, 'product')} in a row after each bootstrap. ` : ''}In place of the sigmoid the program computes a polynomial of degree ${model.sigmoid.length - 1}, which is close to it on [−${decimal(model.range)}, ${decimal(model.range)}].</p>`;
}

/** What is going on at the moment. */
function busyWords({ busy, progress: [done, total], journey, retrying }: State, { set, where }: Choice): string {
  if (retrying) return again(retrying);
  const here = where === 'tab';
  if (busy === 'keys') return here ? `Making evaluation keys: ${bytes(done)} of ${bytes(total || set.keyBytes)}` : sending([done, total], set);
  if (!total && !here) return UNPACKING;
  return `${here ? 'This tab' : 'The server'} is at step ${done} of ${total || '…'}, after ${plural(journey?.bootstraps.length ?? 0, 'bootstrap')}`;
}

/** Size of the keys that a run takes, and where they are. */
function keysOf({ held, sentKeys }: State, { set, where }: Choice): string {
  if (where === 'server') return `${bytes(set.keyBytes)} of evaluation keys ${sentKeys.has(set.name) ? 'are on the server' : 'are made and sent to the server'}`;
  return held?.name === set.name ? `evaluation keys made here in ${decimal(held.seconds, 1)} s, ${decimal(held.megabytes, 0)} MB in memory` : `${bytes(set.keyBytes)} of evaluation keys are made with the first run`;
}

/** Width in pixels of a bootstrap's number. */
const NUMBER = 14;

/** The run through the program: the modulus at every step, and the bootstraps where they were inserted. */
export function way(state: State, width: number): Html {
  const { journey } = state;
  const points = journey?.points ?? [];
  const height = 230;
  const [left, top, bottom] = [34, 30, height - 38];
  const total = Math.max(1, journey?.total ?? 1, journey?.steps ?? 1);
  const most = Math.max(64, ...points.map(({ logQ }) => logQ));
  const x = (step: number): number => left + (step / total) * (width - left - 6);
  const y = (bits: number): number => bottom - (bits / most) * (bottom - top);
  const line = points.map(({ step, logQ }, i) => `${i ? 'L' : 'M'}${n(x(step))} ${n(y(logQ))}`).join('');
  const bootstraps = journey?.bootstraps ?? [];
  // Numbers stand over their bootstraps, or right of the number before.
  const numbers = bootstraps.reduce<number[]>((at, step) => [...at, Math.max(x(step + 0.5), (at.at(-1) ?? -Infinity) + NUMBER)], []);
  // Between two bootstraps only the ends are known.
  const inside = ({ step }: Point): boolean => bootstraps.some((begun) => step > begun && step <= begun + 1);
  const parts = (measured: boolean): string =>
    points.map((point, i) => {
      const before = points[i - 1];
      return before && inside(point) === measured ? `M${n(x(before.step))} ${n(y(before.logQ))}L${n(x(point.step))} ${n(y(point.logQ))}` : '';
    }).join('');
  const sentence = journey?.steps
    ? `${plural(journey.steps, 'step')}${state.busy === 'run' ? ` of ${journey.total || '…'}` : ''}, ${bootstraps.length} of them ${bootstraps.length === 1 ? 'a bootstrap' : 'bootstraps'}.`
    : 'The modulus of the ciphertext appears here, step by step.';
  const every = most > 400 ? 250 : 100;
  const ticks = Array.from({ length: Math.floor(most / every) + 1 }, (_, i) => i * every);
  return html`${ranWords(state)}${figure(state, {
    id: 'way',
    title: 'The modulus, step by step',
    drawing: drawing(width, height, `log₂ of the modulus by step of the program. ${sentence}`, 'patients-way', html`
      ${ticks.map((bits) => html`<line class="grid" x1="${left}" x2="${n(width)}" y1="${n(y(bits))}" y2="${n(y(bits))}"/>${label(left - 6, y(bits) + 4, bits, 'tick', 'end')}`)}
      ${bootstraps.map((step, i) => html`<rect class="patients-bootstrap" x="${n(x(step))}" y="${top}" width="${n(Math.max(3, x(step + 1) - x(step)))}" height="${bottom - top}"/>${label(numbers[i] ?? 0, top - 8, i + 1, 'tick')}`)}
      ${points.length > 1 ? html`<path class="patients-water" d="${line}V${bottom}H${n(x(0))}Z"/><path class="patients-line" d="${parts(true)}"/><path class="patients-line between" d="${parts(false)}"/>` : ''}
      ${label((left + width) / 2, height - 12, 'steps of the program', 'axis')}${label(left - 6, 14, 'bits', 'tick', 'end')}`),
    caption: sentence,
    table: { columns: ['Step', 'Level', 'log₂ Q', 'log₂ scale'], rows: points.map(({ step, level, logQ, logScale }) => [decimal(step, 2), level, decimal(logQ, 0), decimal(logScale, 1)]) },
  })}`;
}

/** Which run is shown, and whether it was made with the chosen set. */
function ranWords({ ran, busy, choices, choice }: State): Html {
  const chosen = choices?.find((one) => valueOf(one) === choice)?.set.name;
  const other = ran && chosen && !busy && chosen !== ran.set ? html` <b>${chosen}, chosen above, is not what it shows.</b>` : '';
  return html`<p class="recorded">${ran ? html`<strong class="${ran.recorded ? 'patients-recorded' : ''}">${ran.recorded ? 'A recorded run' : 'Your run'}</strong>, ${ran.by}, with ${ran.set}.${other}` : 'The recorded run is on its way.'}</p>`;
}

/** The scores, encrypted and in the clear. */
export function scores(state: State): Html {
  const { rows } = state;
  if (rows.length === 0) return html`<p class="hint">The scores appear here, decrypted in this tab.</p>`;
  const most = rows.reduce((most, row) => Math.max(most, Math.abs(row.encrypted - row.clear)), 0);
  const isRight = (row: State['rows'][number]): boolean => row.encrypted > 0.5 === row.malignant;
  const right = rows.filter(isRight).length;
  const off = rows.reduce((most, row) => Math.max(most, Math.abs(row.clear - row.exact)), 0);
  const beyond = rows.filter(({ encrypted }) => encrypted > 1 || encrypted < 0).length;
  return html`<p id="outcome">${plural(rows.length, 'patient')} scored with ${state.ran?.set}, ${right} of them correctly, with ${plural(state.journey?.bootstraps.length ?? 0, 'bootstrap')} on the way. Computing on encrypted data changed no score by more than ${scientific(most)}.</p>
    <p class="hint">${beyond > 0 ? `${plural(beyond, 'score')} ${beyond === 1 ? 'is' : 'are'} below 0 or above 1: the program computes a polynomial in place of the sigmoid, and over all patients the two differ by up to ${scientific(off)}. ` : ''}${state.ran?.by === 'in this tab' ? `It took ${decimal(state.seconds, 1)} s in this tab, from a ciphertext of ${bytes(state.sent)} to the scores.` : `It took ${decimal(state.seconds, 1)} s from sending a ciphertext of ${bytes(state.sent)} to reading the scores. In that time the ciphertexts of all values on the way came back too, for the levels in the drawing.`}${rows.length > SHOWN ? ` The table has the first ${SHOWN} patients.` : ''}</p>
    <div class="table-scroll" tabindex="0" role="region" aria-label="Scores"><table><thead><tr>${['Patient', 'From encrypted data', 'From data in the clear', 'With the exact sigmoid', 'Diagnosis'].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${rows.slice(0, SHOWN).map((row, i) => html`<tr class="${isRight(row) ? '' : 'wrong'}"><th scope="row">${i + 1}</th>${[row.encrypted, row.clear, row.exact].map((x) => html`<td>${decimal(x, 6)}</td>`)}<td>${row.malignant ? 'malignant' : 'benign'}${isRight(row) ? '' : html` <b>scored wrongly</b>`}</td></tr>`)}</tbody></table></div>`;
}

function problem(state: State): Html {
  return state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : html``;
}
