import { again } from '../contact.js';
import { bytes, count, decimal, duration } from '../format.js';
import { html, type Html } from '../html.js';
import { gridFor } from '../input/source.js';
import { question, sending } from '../sending.js';
import { chosenPreset, DEMONSTRATION, FULL_SIZE, type Busy, type State } from '../store.js';
import type { Preset } from '../types.js';
import { bootstrapMs, type Place } from '../voyage.js';
import { problem } from './problem.js';
import { statement } from './words.js';

const WORDS: Record<NonNullable<State['busy']>['what'], string> = {
  keys: 'Making keys',
  encrypt: 'Encrypting',
  upload: 'Uploading keys',
  bootstrap: 'Bootstrapping',
  decrypt: 'Decrypting',
};

/** The main action and its progress, and the choice of place. */
export function controls(state: State): Html {
  const asked = state.confirming ? chosenPreset(state) : undefined;
  return html`
    ${asked ? question(asked) : action(state)}
    ${problem(state, 'action')}
    <fieldset class="places"${state.busy ? html` disabled` : ''}>
      <legend>Where should it be refloated?</legend>
      ${place(state, 'page', 'In this page', demonstrationNote(state))}
      ${place(state, 'page-full', 'In this page, full size', fullSizeNote(state))}
      ${place(state, 'server', 'On the server', serverNote(state))}
      ${choice(state)}
    </fieldset>
    ${security(chosenPreset(state))}`;
}

/** The security of a set. If a second attack counts besides those of the lattice estimator, says which figure is which. */
function security(preset: Preset | undefined): Html | null {
  if (!preset) return null;
  const both = preset.secure && preset.securityStatement.includes(';');
  return html`<p class="hint statement">${statement(preset.securityStatement)}${both && ' The second figure is for another kind of attack, combinatorial search for the sparse key, which the estimator does not cover. If you count both kinds, take the smaller one.'}</p>`;
}

/** A card of the choice: the page has two, one for insecure sets and one for secure ones. */
type Card = Place | 'page-full';

/** The card that the next voyage belongs to. */
function cardOf(state: State): Card {
  return state.place === 'page' && setOf(state, 'page')?.secure ? 'page-full' : state.place;
}

function place(state: State, card: Card, title: string, note: Html): Html {
  const chosen = cardOf(state) === card;
  const preset = chosen || card === 'server' ? setOf(state, state.place === 'page' && card !== 'server' ? 'page' : 'server') : offer(state, card);
  const disabled = card === 'server' && preset === undefined;
  return html`<div class="place${chosen ? ' chosen' : ''}${disabled ? ' off' : ''}">
    <label><input type="radio" name="place" value="${card}" data-input="place"${chosen ? html` checked` : ''}${disabled ? html` disabled` : ''}>
      <span class="place-title">${title}</span>
      ${preset && html`<span class="tag ${preset.secure ? 'tag-secure' : 'tag-insecure'}">${preset.secure ? `${Math.floor(preset.securityBits)}-bit security` : 'insecure demonstration'}</span>`}
      <span class="place-note">${note}</span>
    </label>
    ${card === 'server' && state.server.state === 'absent' && html`<button type="button" class="quiet" data-act="find-server">Look again</button>`}
  </div>`;
}

/** log2 of the largest ring that a page has the memory for. */
const MOST_LOG_N = 13;

/** The set a card of the page begins with. */
function offer(state: State, card: Card): Preset | undefined {
  return state.presets.find((p) => p.name === (card === 'page-full' ? FULL_SIZE : DEMONSTRATION));
}

function choice(state: State): Html | null {
  const card = cardOf(state);
  const offered = card === 'server' ? (state.server.state === 'present' ? state.server.presets.filter((p) => p.mode === 'real') : []) : state.presets.filter((p) => p.logN <= MOST_LOG_N && !p.name.endsWith('he2018') && p.secure === (card === 'page-full'));
  if (offered.length < 2) return null;
  const chosen = card === 'server' ? state.serverPreset : state.pagePreset;
  return html`<label class="set">Parameter set <select data-input="set-${state.place}">${offered.map(
    (p) => html`<option value="${p.name}"${p.name === chosen ? html` selected` : ''}>${p.name} · ${count(p.slots)} ${p.mode === 'bits' ? 'bits' : 'slots'}${p.secure ? '' : ' · insecure'}</option>`,
  )}</select></label>`;
}

function setOf(state: State, where: Place): Preset | undefined {
  if (where === 'page') return state.presets.find((p) => p.name === state.pagePreset);
  return state.server.state === 'present' ? state.server.presets.find((p) => p.name === state.serverPreset) : undefined;
}

function demonstrationNote(state: State): Html {
  const preset = cardOf(state) === 'page' ? setOf(state, 'page') : offer(state, 'page');
  if (!preset) return html`Demonstration size; every stage can be looked into.`;
  const { width, height } = gridFor(preset.slots);
  return html`${width} × ${height} = ${count(preset.slots)} numbers. Makes ${bytes(preset.keyBytes)} of keys; every stage can be looked into.`;
}

function fullSizeNote(state: State): Html {
  const preset = cardOf(state) === 'page-full' ? setOf(state, 'page') : offer(state, 'page-full');
  if (!preset) return html`Parameters as they would be used.`;
  const { width, height } = gridFor(preset.slots);
  const threads = state.about?.threads ?? 1;
  return html`${width} × ${height} = ${count(preset.slots)} ${preset.mode === 'bits' ? 'bits' : 'numbers'}. Makes ${bytes(preset.keyBytes)} of keys track by track and drops them${threads > 1 && html`, on ${threads} cores`}.`;
}

function serverNote(state: State): Html {
  if (state.server.state === 'absent') return html`No server answers at this address. The page works without one; start one with <code>npm start</code>.`;
  const preset = setOf(state, 'server');
  if (!preset && state.server.state === 'present') return html`The server at this address offers no set that this page knows; it may be of another version.`;
  if (!preset) return html`Looking for the server …`;
  const { width, height } = gridFor(preset.slots);
  return html`${width} × ${height} = ${count(preset.slots)} numbers. Uploads ${bytes(preset.keyBytes)} of keys; the secret one stays here.`;
}

/** After this long, an operation without progress says how long it has taken. */
const LONG_MS = 2000;

/** Without progress for this long, or for four times as long as usual, nothing is promised any more. */
const STALL_MS = 4000;

/** What a long operation can say about time: how much is left, or for how long nothing has arrived. */
export function timeOf(busy: Busy, now: number): { left: number } | { stalled: number } | undefined {
  const { first, movedAt, bytes: sent = 0, totalBytes = 0 } = busy;
  if (busy.what !== 'upload' || busy.paused || !first || movedAt === undefined || isSent(busy)) return undefined;
  const idle = now - movedAt;
  const seen = sent - first.bytes;
  const each = busy.done ? (movedAt - first.at) / busy.done : 0;
  if (idle > Math.max(STALL_MS, 4 * each)) return { stalled: idle };
  // The rate of this upload alone: what the server already had took no time.
  if (seen < 0.03 * (totalBytes - first.bytes)) return undefined;
  return { left: Math.max(0, ((totalBytes - sent) * (movedAt - first.at)) / seen - idle) };
}

/** Has everything been sent, so that the server is at work? */
function isSent({ what, bytes: sent = 0, totalBytes = 0 }: Busy): boolean {
  return what === 'upload' && totalBytes > 0 && sent >= totalBytes;
}

/** What is under way, in words, or that nothing arrives. */
function underway(busy: Busy, now: number): string {
  if (busy.retrying) return again(busy.retrying);
  if (isSent(busy)) return `${sending([busy.bytes ?? 0, busy.totalBytes ?? 0], { keyBytes: 0 })}.`;
  const time = timeOf(busy, now);
  return time && 'stalled' in time ? `Nothing has arrived at the server for ${roughly(time.stalled)}. Still trying.` : busy.label;
}

/** A remaining time, no more precise than it is known. */
function roughly(ms: number): string {
  return ms < 90_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`;
}

/** Where to look once a voyage is back. */
function outcome(state: State): Html | null {
  const voyage = state.voyages[state.shown];
  if (state.said) return html`<p class="hint">${state.said}</p>`;
  const ms = voyage && bootstrapMs(voyage);
  if (!voyage?.result || ms === undefined) return null;
  return html`<p class="hint afloat">Afloat again in ${duration(ms)}, worst slot right to ${decimal(voyage.result.quality.bitsMax)} bits. <a href="#voyage" data-act="station:0">See the voyage from its start</a></p>`;
}

function action(state: State): Html {
  const { busy } = state;
  if (!busy) {
    const ready = state.library === 'ready' && chosenPreset(state) !== undefined && !state.unreadable;
    return html`<div class="action" data-key="action">
      <button type="button" class="primary" data-heir data-act="refloat"${ready ? '' : html` disabled`}>Refloat</button>
      ${state.library === 'loading' ? html`<p class="hint">Loading the library …</p>` : state.unreadable ? html`<p class="hint">The numbers cannot be encrypted yet.</p>` : outcome(state)}
    </div>`;
  }
  const fraction = busy.totalBytes ? (busy.bytes ?? 0) / busy.totalBytes : busy.total ? (busy.done ?? 0) / busy.total : undefined;
  const now = performance.now();
  const time = busy.retrying ? undefined : timeOf(busy, now);
  return html`<div class="action running" data-key="running">
    <div class="progress-head"><span class="progress-what">${WORDS[busy.what]}${busy.paused ? ' (paused)' : ''}</span><span class="progress-figure">${
      busy.totalBytes ? html`${bytes(busy.bytes ?? 0)} of ${bytes(busy.totalBytes)}` : busy.total ? html`${busy.done ?? 0} of ${busy.total}` : now - busy.startedAt > LONG_MS ? `${roughly(now - busy.startedAt)} so far` : ''
    }${time && 'left' in time && html` · about ${roughly(time.left)} left`}</span></div>
    <progress aria-label="${WORDS[busy.what]}"${fraction === undefined ? '' : html` value="${fraction.toFixed(4)}" max="1"`}></progress>
    <p class="progress-label">${underway(busy, now)}</p>
    <button type="button" class="secondary" data-heir data-act="cancel">Cancel</button>
  </div>`;
}
