import { bytes, count, decimal } from '../format.js';
import { html, type Html } from '../html.js';
import { JOURNEY, STATIONS } from '../stages.js';
import { shownVoyage, type State } from '../store.js';
import { moments, partsOf, standingAt, waterAt, type Voyage } from '../voyage.js';
import { n } from './svg.js';
import { statement } from './words.js';

/** The security of the shown set, always in sight; beside a toy's, figures for full size. */
export function badge(state: State): Html {
  const voyage = shownVoyage(state);
  const preset = voyage?.preset ?? state.presets.find((p) => p.name === state.pagePreset);
  if (!preset) return html`<span class="badge badge-waiting">parameters follow</span>`;
  if (preset.secure) return html`<span class="badge badge-secure">${preset.name} · ${Math.floor(preset.securityBits)}-bit security</span><span class="badge-full">${statement(preset.securityStatement)}</span>`;
  const full = [...(state.server.state === 'present' ? state.server.presets : []), ...state.presets].find((p) => p.name === 'ship13');
  return html`<span class="badge badge-insecure">${preset.name} · insecure<span class="long"> demonstration parameters</span></span>${
    full && html`<span class="badge-full">full size: ${full.name}, ${Math.floor(full.securityBits)}-bit security, N = 2<sup>${full.logN}</sup>, ${count(full.slots)} slots, ${bytes(full.keyBytes)} of keys</span>`
  }`;
}

/** The bar that stays in sight: the waterfall as a list of stations, and the player. */
export function strip(state: State): Html {
  const voyage = shownVoyage(state);
  const deepest = voyage ? Math.max(64, ...JOURNEY.map((s) => waterAt(voyage, s)?.logQ ?? 0)) : 64;
  return html`<div class="strip-inner">
    <ul class="stations" role="listbox" aria-label="Stations of the voyage" aria-orientation="horizontal" aria-describedby="stations-help">
      ${JOURNEY.map((name, i) => {
        const at = voyage && standingAt(voyage, name);
        const water = at?.water;
        const selected = state.at.station === i;
        const height = water ? Math.max(3, (water.logQ / deepest) * 100) : 0;
        return html`<li role="option" id="station-${name}" class="${at?.underway ? 'underway' : water ? 'reached' : 'ahead'}" aria-selected="${selected ? 'true' : 'false'}" tabindex="${selected ? 0 : -1}" data-act="station:${i}" aria-label="${i + 1} ${STATIONS[name].short}${water ? `${at?.underway ? ', begun' : ''}, ${decimal(water.logQ, 0)} bits, level ${water.level}` : ', not reached'}">
          <span class="well" aria-hidden="true"><span class="well-water" style="height:${n(height)}%"></span></span>
          <span class="station-number" aria-hidden="true">${i + 1}</span><span class="station-name" aria-hidden="true">${STATIONS[name].short}</span>
        </li>`;
      })}
    </ul>
    ${player(state, voyage)}
    <p id="stations-help" class="visually-hidden">Arrow keys choose a station, Home and End the first and the last, space plays and pauses.</p>
  </div>`;
}

function player(state: State, voyage: Voyage | undefined): Html {
  const running = voyage?.state === 'running' && state.busy?.what === 'bootstrap';
  const all = voyage ? moments(voyage) : [];
  const position = all.findIndex((m) => m.station === state.at.station && m.part === state.at.part);
  const live = running && state.busy?.paused !== true;
  const playing = state.playing || live;
  const parts = partsOf(voyage?.preset ?? EMPTY, JOURNEY[state.at.station]);
  return html`<div class="player${all.length === 0 ? ' idle' : ''}" role="group" aria-label="Player">
    <button type="button" class="icon" data-act="back" aria-label="One step back"${position <= 0 ? html` disabled` : ''}>${icon('back')}</button>
    <button type="button" class="icon play" data-act="play" aria-label="${playing ? 'Pause' : 'Play'}"${all.length === 0 ? html` disabled` : ''}>${icon(playing ? 'pause' : 'play')}</button>
    <button type="button" class="icon" data-act="step" aria-label="One step forward"${all.length === 0 || (!running && position >= all.length - 1) ? html` disabled` : ''}>${icon('step')}</button>
    <button type="button" class="icon" data-act="replay" aria-label="Replay from the start"${all.length === 0 || running ? html` disabled` : ''}>${icon('replay')}</button>
    <label class="speed"><span class="visually-hidden">Speed</span><select data-input="speed">${[0.5, 1, 2, 4].map((s) => html`<option value="${s}"${state.speed === s ? html` selected` : ''}>${s}×</option>`)}</select></label>
    <span class="part">${parts > 0 && voyage ? html`${state.at.part}<span class="of"> / ${parts}</span>` : ''}</span>
  </div>`;
}

const EMPTY = { tracks: 0, treeLevels: 0 } as Voyage['preset'];

const SHAPES = {
  back: 'M12.5 4.5v11l-7-5.5zM4 4.5v11',
  play: 'M6 3.8v12.4l10-6.2z',
  pause: 'M5.5 4h3v12h-3zM11.5 4h3v12h-3z',
  step: 'M7.5 4.5v11l7-5.5zM16 4.5v11',
  replay: 'M4 10a6 6 0 1 0 2-4.5M6.3 2v3.8h3.8',
} as const;

function icon(name: keyof typeof SHAPES): Html {
  return html`<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" class="i-${name}"><path d="${SHAPES[name]}"/></svg>`;
}
