import type { ServerPreset } from 'refloat/client';
import { bytes, decimal, plural } from '../format.js';
import { html, type Html, type Part } from '../html.js';
import { QUESTIONS } from './questions.js';
import { chosen, nameOf, refusal, type Answer, type State } from './state.js';
import { isMarked, outcome } from './words.js';

/** The way of the numbers, in the server's stages; what several of them make is one step here. */
const WAY: readonly { readonly title: string; readonly words: string; readonly stages: readonly string[] }[] = [
  { title: 'Score', words: 'sums and products of slots', stages: ['arithmetic'] },
  { title: 'Leave the slots', words: 'coefficients, then LWE samples', stages: ['slots_to_coeffs', 'to_gates'] },
  { title: 'Compare', words: 'every pair, a gate each', stages: ['compare'] },
  { title: 'Look up', words: 'ranks become bits', stages: ['look_up'] },
  { title: 'Come back', words: 'pack, raise, read bits', stages: ['to_slots', 'mod_raise', 'coeffs_to_slots', 'eval_mod'] },
];

/** The answer that is shown, unless a run is under way. */
export function shown(state: State): Answer | undefined {
  return state.busy === 'run' ? undefined : state.answers[state.question];
}

/** Names of what is compared, or will be. */
export function names(state: State): string[] {
  const answer = shown(state);
  if (answer) return answer.entries.map(({ name }) => name);
  return state.question === 'urgent' ? chosen(state).map(nameOf) : state.chosen.map((_, i) => `${i + 1}`);
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
      ${state.question === 'nearest' ? html`<label>Patient <select data-input="patient" ${off}>${state.chosen.map((_, i) => html`<option value="${i}" ${i === state.patient ? 'selected' : ''}>${nameOf(i)}</option>`)}</select></label>` : ''}
      ${busy
        ? html`<button type="button" class="secondary" data-act="cancel">Cancel</button>`
        : html`<button type="button" class="primary small" data-act="run" ${set && !refused ? '' : 'disabled'}>Encrypt and ask</button>`}
      ${set && sets && sets.length > 1 ? html`<label>Set <select data-input="set" ${off}>${sets.map(({ name }) => html`<option value="${name}" ${name === set.name ? 'selected' : ''}>${name}</option>`)}</select></label>` : ''}
    </div>
    ${progress(state, set)}
    ${refused ? html`<p class="hint">${refused}</p>` : ''}
    ${!sets ? html`<p class="hint">Looking for a server…</p>` : !set ? html`<p class="hint">This page needs a server with sets that compare: <code>npm start</code> starts one.</p>` : ''}
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}`;
}

function progress(state: State, set: ServerPreset | undefined): Part {
  const [done, total] = state.progress;
  if (state.busy === 'keys') return html`<p class="hint">Making and sending evaluation keys: ${bytes(done)} of ${bytes(total || (set?.keyBytes ?? 0))}</p><progress max="${total || 1}" value="${done}" aria-label="Keys"></progress>`;
  if (state.busy !== 'run') return '';
  const [pairs, all] = state.run.pairs;
  const comparing = state.run.under === 'compare' && all > 0;
  const step = WAY.find(({ stages }) => stages.includes(state.run.under))?.title ?? 'Score';
  return html`<p class="hint">${comparing ? `Compared ${pairs} of ${all}, all encrypted` : `At work: ${step.toLowerCase()}`}</p><progress max="${comparing ? all : 1}" ${comparing ? html`value="${pairs}"` : ''} aria-label="Run"></progress>`;
}

/** Who may be ticked, the steps of the way, and what the marked one went through. */
export function story(state: State): Html {
  const answer = shown(state);
  const entry = answer?.entries[state.marked];
  const off = state.busy ? 'disabled' : '';
  return html`${answer?.recorded ? html`<p class="recorded"><strong>A recorded run</strong> on real ciphertexts, ${answer.recorded}.${state.sets?.some(({ name }) => name === state.set) ? ' Press the button to make your own.' : ''}</p>` : ''}
    <ol class="triage-way" aria-label="The way of the numbers">${WAY.map(({ title, words, stages }) => {
      const now = state.busy === 'run' && stages.includes(state.run.under);
      return html`<li class="${now ? 'now' : ''}" ${now ? html`aria-current="step"` : ''}><b>${title}</b><small>${words}</small></li>`;
    })}</ol>
    ${state.question === 'urgent'
      ? html`<fieldset class="triage-ticks framed"><legend>Patients, ${chosen(state).length} of ${state.chosen.length} ticked</legend>${state.chosen.map(
          (ticked, i) => html`<button type="button" data-act="tick:${i}" aria-pressed="${String(ticked)}" ${off}>${nameOf(i)}</button>`,
        )}</fieldset>`
      : html`<p class="hint">The ${state.chosen.length} cases and their diagnoses are public and go to the server in the clear; the patient goes encrypted, once beside every case.</p>`}
    ${answer ? html`<label class="digits-follow">Follow <input type="range" data-input="marked" min="0" max="${answer.entries.length - 1}" step="1" value="${state.marked}"> <output>${entry?.name ?? ''}: ${decimal(entry?.number, 4)}, rank ${decimal(entry && Math.round(entry.rank), 0)}</output></label>` : ''}`;
}

/** What came back, in words and as a table. */
export function result(state: State): Html {
  const answer = shown(state);
  if (!answer) return html`<p class="empty">The answer appears here, decrypted.</p>`;
  const isNear = answer.question === 'nearest';
  const [sent, back] = answer.levels;
  const kind = QUESTIONS[answer.question].number;
  const order = [...answer.entries].sort((a, b) => b.rank - a.rank);
  return html`<p id="outcome">${outcome(answer)}</p>
    <p class="hint">${decimal(answer.seconds, 1)} s from sending a ciphertext of ${bytes(answer.sent)} to reading the answer, with ${answer.set}. It was sent at level ${sent}; flags and ranks came back at level ${back}.${isNear ? ' The three flags are slots again: multiplied by the diagnoses and added up, they are compared with zero once more, and one bit comes back.' : ''}</p>
    <div class="table-scroll" tabindex="0" role="region" aria-label="Order"><table><thead><tr><th scope="col">${isNear ? 'Case' : 'Patient'}</th><th scope="col">Rank</th><th scope="col">Flag</th><th scope="col">${kind}, computed</th><th scope="col">${kind}, in the clear</th><th scope="col">Diagnosis</th></tr></thead>
    <tbody>${order.map((entry) => html`<tr class="${isMarked(entry) ? 'first' : ''}"><th scope="row">${entry.name}</th><td>${decimal(entry.rank, 4)}</td><td>${decimal(entry.flag, 4)}</td><td>${decimal(entry.number, 5)}</td><td>${decimal(entry.clear, 5)}</td><td>${entry.malignant ? 'malignant' : 'benign'}</td></tr>`)}</tbody></table></div>`;
}

/** The set, and what it promises. */
export function setting(state: State): Html {
  const set = state.sets?.find(({ name }) => name === state.set);
  if (!set) return html``;
  return html`<p class="conv-set"><span class="badge ${set.secure ? 'badge-secure' : 'badge-insecure'}">${set.name}${set.secure ? '' : ' · insecure demonstration parameters'}</span>
    <span class="hint">${plural(set.slots, 'slot')}, N = 2<sup>${set.logN}</sup>, ${bytes(set.keyBytes)} of evaluation keys to send; ${set.facts?.map(({ label, value }) => `${label}: ${value}`).join('; ') ?? ''}.</span></p>`;
}

