import type { ServerPreset } from 'refloat/client';
import { again } from '../contact.js';
import { bytes, decimal, plural } from '../format.js';
import { html, type Html, type Part } from '../html.js';
import { UNPACKING, question, sending } from '../sending.js';
import { badge } from '../views/making.js';
import { QUESTIONS } from './questions.js';
import { chosen, isOther, nameOf, refusal, type Answer, type State } from './state.js';
import { isMarked, kindOf, outcome } from './words.js';

/** The way of the numbers through the server's stages; several of these may be one step here. */
const WAY: readonly { readonly title: string; readonly words: string; readonly stages: readonly string[] }[] = [
  { title: 'Score', words: 'sums and products, for all patients at once', stages: ['arithmetic'] },
  { title: 'Take apart', words: 'a small ciphertext for each number', stages: ['slots_to_coeffs', 'to_gates'] },
  { title: 'Compare', words: 'every pair, by one gate each', stages: ['compare'] },
  { title: 'Look up', words: 'a table turns ranks into marks', stages: ['look_up'] },
  { title: 'Come back', words: 'marks are packed into one ciphertext', stages: ['to_slots', 'mod_raise', 'coeffs_to_slots', 'eval_mod'] },
];

/** The answer that is shown, unless a run is under way. */
export function shown(state: State): Answer | undefined {
  return state.busy === 'run' ? undefined : state.answers[state.question];
}

/** Names of what is compared, or would be. */
export function names(state: State): string[] {
  const answer = shown(state);
  if (answer) return answer.entries.map(({ name }) => name);
  return state.question === 'urgent' ? chosen(state).map(nameOf) : state.chosen.map((_, i) => `${i + 1}`);
}

/** The question as a heading. */
export function heading({ question }: State): Html {
  return html`${QUESTIONS[question].words}`;
}

/** What the server does to answer it. */
export function lead({ question }: State): Html {
  return html`${QUESTIONS[question].lead}`;
}

/** The question, the set, and what to do. */
export function controls(state: State): Html {
  const { sets, busy } = state;
  const set = sets?.find(({ name }) => name === state.set);
  const off = busy ? 'disabled' : '';
  const refused = refusal(state);
  return html`<div class="triage-tabs choices" role="group" aria-label="Question">${Object.entries(QUESTIONS).map(
      ([name, { words }]) => html`<button type="button" data-act="ask:${name}" aria-pressed="${String(name === state.question)}" ${off}>${words}</button>`,
    )}</div>
    <div class="conv-controls">
      ${state.question === 'nearest' ? html`<label>Nearest to patient <select data-input="patient" ${off}>${state.chosen.map((_, i) => html`<option value="${i}" ${i === state.patient ? 'selected' : ''}>${nameOf(i)}</option>`)}</select></label>` : ''}
      ${busy
        ? html`<button type="button" class="secondary" data-heir data-act="cancel">Cancel</button>`
        : state.confirming ? '' : html`<button type="button" class="primary small" data-heir data-act="run" ${set && !refused ? '' : 'disabled'}>Encrypt and ask the server</button>`}
      ${set && sets && sets.length > 1 ? html`<label>Run with <select data-input="set" ${off}>${sets.map(({ name }) => html`<option value="${name}" ${name === set.name ? 'selected' : ''}>${name}</option>`)}</select></label>` : ''}
    </div>
    ${state.confirming && set ? question(set) : ''}
    ${progress(state, set)}
    ${refused ? html`<p class="hint">${refused}</p>` : ''}
    ${!sets ? html`<p class="hint">Looking for a server…</p>` : !set ? html`<p class="hint">This page needs a server with sets that compare: <code>npm start</code> starts one.</p>` : ''}
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}`;
}

function progress(state: State, set: ServerPreset | undefined): Part {
  const [done, total] = state.progress;
  const lost = state.retrying && again(state.retrying);
  if (state.busy === 'keys' && set) return html`<p class="hint">${lost ?? sending(state.progress, set)}</p><progress max="${total || 1}" value="${done}" aria-label="Keys"></progress>`;
  if (state.busy !== 'run') return '';
  const [pairs, all] = state.run.pairs;
  const comparing = state.run.under === 'compare' && all > 0;
  const step = WAY.find(({ stages }) => stages.includes(state.run.under));
  return html`<p class="hint">${lost ?? (comparing ? `Compared ${pairs} of ${all} pairs, all encrypted` : step ? `At work: ${step.title.toLowerCase()}` : UNPACKING)}</p><progress max="${comparing ? all : 1}" ${comparing ? html`value="${pairs}"` : ''} aria-label="Run"></progress>`;
}

/** The patients that can be ticked, the steps of the way, and what the marked entry went through. */
export function story(state: State): Html {
  const answer = shown(state);
  const entry = answer?.entries[state.marked];
  const off = state.busy ? 'disabled' : '';
  return html`${answer ? whose(answer, state) : ''}
    <ol class="triage-way" aria-label="The way of the numbers">${WAY.map(({ title, words, stages }) => {
      const now = state.busy === 'run' && stages.includes(state.run.under);
      return html`<li class="${now ? 'now' : ''}" ${now ? html`aria-current="step"` : ''}><b>${title}</b><small>${words}</small></li>`;
    })}</ol>
    ${state.question === 'urgent'
      ? html`<fieldset class="triage-ticks framed"><legend>Patients to rank: ${chosen(state).length} of ${state.chosen.length} ticked</legend>${state.chosen.map(
          (ticked, i) => html`<button type="button" data-act="tick:${i}" aria-pressed="${String(ticked)}" ${off}>${nameOf(i)}</button>`,
        )}</fieldset>`
      : html`<p class="hint">The ${state.chosen.length} known cases and their diagnoses are public: the server is given them as they are. The patient it is given encrypted.</p>`}
    ${answer ? html`<label class="digits-follow">Follow ${state.question === 'urgent' ? 'patient' : 'case'} <input type="range" data-input="marked" min="0" max="${answer.entries.length - 1}" step="1" value="${state.marked}"> <output>${entry?.name ?? ''}: rank ${decimal(entry && Math.round(entry.rank), 0)} of ${answer.entries.length - 1}</output></label>` : ''}`;
}

/** Whose run is shown, with which set, and whether it is about the current choice. */
function whose(answer: Answer, state: State): Html {
  const served = state.sets?.some(({ name }) => name === state.set);
  const other = isOther(answer, state) ? html` <b>What is chosen now has not been asked yet.</b>` : '';
  return answer.recorded
    ? html`<p class="recorded"><strong>A recorded run</strong> on real ciphertexts, ${answer.recorded}.${served ? ' Press the button to make your own.' : ''}${other}</p>`
    : html`<p class="hint"><strong>Your run</strong> with ${answer.set}.${other}</p>`;
}

/** What came back, in words and as a table. */
export function result(state: State): Html {
  const answer = shown(state);
  if (!answer) return html`<p class="empty">The answer appears here, decrypted in this tab.</p>`;
  const isNear = answer.question === 'nearest';
  const [sent, back] = answer.levels;
  const { number: kind, most } = QUESTIONS[answer.question];
  const order = [...answer.entries].sort((a, b) => b.rank - a.rank);
  return html`<p id="outcome">${outcome(answer)}</p>
    <p class="hint">${decimal(answer.seconds, 1)} s from sending a ciphertext of ${bytes(answer.sent)} to reading the answer, with ${answer.set}. It was sent at level ${sent}, and ranks and marks came back at level ${back}: a level is a product in a row that a ciphertext still allows.${isNear ? ' For the vote the server multiplied the marks by the known diagnoses, added them up and compared the sum with zero: one more encrypted bit.' : ''}</p>
    <div class="table-scroll" tabindex="0" role="region" aria-label="Order"><table><thead><tr>${[isNear ? 'Case' : 'Patient', `Rank, ${order.length - 1} is ${most}`, 'Mark', `${kind}, from encrypted data`, 'The same, in the clear', 'Diagnosis'].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${order.map((entry) => html`<tr class="${isMarked(entry) ? 'first' : ''}"><th scope="row">${entry.name}</th><td>${decimal(entry.rank, 4)}</td><td>${decimal(entry.flag, 4)}</td><td>${decimal(entry.number, 5)}</td><td>${decimal(entry.clear, 5)}</td><td>${kindOf(entry.malignant)}</td></tr>`)}</tbody></table></div>`;
}

/** The set, and what it promises. */
export function setting(state: State): Html {
  const set = state.sets?.find(({ name }) => name === state.set);
  if (!set) return html``;
  return html`<p class="conv-set">${badge(set)}
    <span class="hint">${plural(set.slots, 'slot')}, N = 2<sup>${set.logN}</sup>, ${bytes(set.keyBytes)} of evaluation keys to send; ${set.facts?.map(({ label, value }) => `${label}: ${value}`).join('; ') ?? ''}.</span></p>`;
}

