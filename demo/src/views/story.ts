import { decimal, duration } from '../format.js';
import { html, type Html } from '../html.js';
import { levelsOf } from '../levels.js';
import { isSpendable, JOURNEY, STATIONS, type Station } from '../stages.js';
import type { State } from '../store.js';
import { lastMomentOf, markOf, partsOf, reached, stageMs, standingAt, type Voyage } from '../voyage.js';
import { progressOf } from './words.js';

/** What happens at every station, and its figures, in steps; the selected one is marked. */
export function story(state: State, voyage: Voyage | undefined): Html {
  return html`<ol class="scroll-steps">${JOURNEY.map((name, i) => step(name, i, state, voyage))}</ol>`;
}

function step(name: Station, i: number, state: State, voyage: Voyage | undefined): Html {
  const here = state.at.station === i;
  const text = STATIONS[name];
  const mark = voyage && markOf(voyage, name);
  const at = voyage && standingAt(voyage, name);
  const water = at?.water;
  const ms = name === 'encrypt' ? voyage?.timings.encryptMs : name === 'decrypt' ? voyage?.timings.decryptMs : stageMs(mark);
  const parts = voyage ? partsOf(voyage.preset, name) : 0;
  // A server may report only the end of a stage.
  const whole = voyage && reached(voyage, name) && !mark?.parts.length;
  const done = whole ? parts : here || !voyage ? state.at.part : lastMomentOf(voyage, i).part;
  return html`<li class="story-inner" data-scroll-step${here ? html` aria-current="step"` : ''}>
    <p class="story-count">${i + 1}<span> of ${JOURNEY.length}</span></p>
    <h3${here ? html` id="story-title"` : ''}>${text.title}</h3>
    <p class="formula">${text.formula}</p>
    <p class="story-body">${text.body}</p>
    ${voyage && at?.underway && html`<p class="story-underway">${progressOf(voyage, at.underway)}; level and modulus are those at its beginning.</p>`}
    <dl class="facts">
      <div><dt>Level</dt><dd>${water ? html`${water.level}<span> of ${voyage?.preset.maxLevel ?? ''}</span>` : '–'}</dd>${voyage && water && isSpendable(name) && html`<dd class="hint">${levelsOf(water.level, voyage.preset.inputLevel)}</dd>`}</div>
      <div><dt>Modulus</dt><dd>${decimal(water?.logQ)}<span> bits</span></dd></div>
      ${parts > 0 && html`<div><dt>${name === 'blind_rotate' ? 'Tracks' : 'Products'}</dt><dd>${done}<span> of ${parts}</span></dd></div>`}
      ${ms !== undefined && html`<div><dt>Time</dt><dd>${duration(ms)}</dd></div>`}
    </dl>
  </li>`;
}
