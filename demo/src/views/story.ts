import { decimal, duration } from '../format.js';
import { html, type Html } from '../html.js';
import { JOURNEY, STATIONS } from '../stages.js';
import type { State } from '../store.js';
import { markOf, partsOf, stageMs, standingAt, type Voyage } from '../voyage.js';
import { progressOf } from './words.js';

/** What happens at the selected station, and its figures. */
export function story(state: State, voyage: Voyage | undefined): Html {
  const name = JOURNEY[state.at.station] ?? 'encrypt';
  const text = STATIONS[name];
  const mark = voyage && markOf(voyage, name);
  const at = voyage && standingAt(voyage, name);
  const water = at?.water;
  const ms = name === 'encrypt' ? voyage?.timings.encryptMs : name === 'decrypt' ? voyage?.timings.decryptMs : stageMs(mark);
  const parts = voyage ? partsOf(voyage.preset, name) : 0;
  return html`<div class="story-inner">
    <p class="story-count">${state.at.station + 1}<span> of ${JOURNEY.length}</span></p>
    <h3 id="story-title">${text.title}</h3>
    <p class="formula">${text.formula}</p>
    <p class="story-body">${text.body}</p>
    ${voyage && at?.underway && html`<p class="story-underway">${progressOf(voyage, at.underway)}; level and modulus are those at its beginning.</p>`}
    <dl class="facts">
      <div><dt>Level</dt><dd>${water ? html`${water.level}<span> of ${voyage?.preset.maxLevel ?? ''}</span>` : '–'}</dd></div>
      <div><dt>Modulus</dt><dd>${decimal(water?.logQ)}<span> bits</span></dd></div>
      ${parts > 0 && html`<div><dt>${name === 'blind_rotate' ? 'Tracks' : 'Products'}</dt><dd>${state.at.part}<span> of ${parts}</span></dd></div>`}
      ${ms !== undefined && html`<div><dt>Time</dt><dd>${duration(ms)}</dd></div>`}
    </dl>
  </div>`;
}
