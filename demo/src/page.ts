import { html, morph, type Html } from './html.js';
import type { InputKind } from './input/source.js';
import { shownVoyage, type State } from './store.js';
import { breaking } from './views/breaking.js';
import { paint } from './views/canvas.js';
import { flame, keys, work } from './views/cost.js';
import { gauge } from './views/gauge.js';
import { controls } from './views/hero.js';
import { inputs } from './views/inputs.js';
import { circle, lens } from './views/lens.js';
import { precision } from './views/precision.js';
import { problem } from './views/problem.js';
import { again, result } from './views/result.js';
import { slot } from './views/slot.js';
import { story } from './views/story.js';
import { badge, strip } from './views/strip.js';
import { tide } from './views/tide.js';
import { tree } from './views/tree.js';
import type { Place } from './voyage.js';

/** Inner widths of the drawings, by region. */
export type Widths = (region: string) => number;

/** Every region of the page that follows the state, by the id of its element. */
export function regions(state: State, tab: InputKind, width: Widths, remoteKeys: boolean): Record<string, Html> {
  const voyage = shownVoyage(state);
  return {
    inputs: inputs(state, tab),
    controls: controls(state),
    gauge: gauge(state, voyage, width('gauge')),
    badge: badge(state),
    strip: strip(state),
    switch: runSwitch(state),
    story: story(state, voyage),
    'view-slot': slot(state, voyage),
    'view-tide': tide(state, voyage, width('view-tide')),
    'view-precision': precision(state, voyage, width('view-precision')),
    'view-lens': lens(state, voyage),
    'view-circle': circle(state, voyage),
    'view-tree': tree(state, voyage, width('view-tree')),
    'view-result': result(state, voyage),
    'view-again': again(state, voyage),
    'view-break': breaking(state, width('view-break')),
    'view-flame': flame(state, width('view-flame')),
    'view-work': work(state, width('view-work')),
    'view-keys': keys(state, width('view-keys')),
    about: about(state, remoteKeys),
  };
}

/** Regions drawn into the page at build time that are not part of the recorded voyage: they have their size from the start. */
export const OPENED = ['inputs', 'controls'] as const;

/** Regions drawn into the page at build time from a recorded voyage. */
export const PRERENDERED = ['badge', 'strip', 'switch', 'story', 'gauge', 'view-slot', 'view-tide', 'view-precision', 'view-tree', 'view-flame', 'view-work'] as const;

/** What each region was last given. */
const drawn = new Map<string, string>();

/**
 * Brings the document up to date with the state. Until it is known whether there is a recorded voyage (`settled`), regions drawn at build
 * time stay as they are.
 */
export function render(state: State, tab: InputKind, remoteKeys: boolean, settled: boolean): void {
  const width: Widths = (region) => Math.max(240, Math.floor(document.getElementById(region)?.clientWidth ?? 800));
  for (const [id, markup] of Object.entries(regions(state, tab, width, remoteKeys))) {
    const el = document.getElementById(id);
    if (!el || drawn.get(id) === markup.text || (!settled && (PRERENDERED as readonly string[]).includes(id))) continue;
    drawn.set(id, markup.text);
    morph(el, markup);
  }
  document.body.dataset['finished'] = String(state.finished);
  paint(document, state);
}

function runSwitch(state: State): Html {
  const places = (['page', 'server'] as const).filter((p: Place) => state.voyages[p]);
  const voyage = shownVoyage(state);
  if (places.length < 2) {
    return voyage?.recorded ? html`<p class="recorded"><strong>A recorded voyage</strong> of ${voyage.label}, ${voyage.recorded}. Press Refloat to make your own.</p>` : html``;
  }
  return html`<div class="segments" role="group" aria-label="Which run to show">${places.map(
    (p) => html`<button type="button" aria-pressed="${state.shown === p ? 'true' : 'false'}" data-act="show:${p}">${p === 'page' ? 'Run in this page' : 'Run on the server'}</button>`,
  )}</div>`;
}

function about(state: State, remoteKeys: boolean): Html {
  const a = state.about;
  const s = state.server;
  return html`<p>${a ? html`refloat ${a.version} · in this page: ${a.backend}${a.threads > 1 ? html`, ${a.threads} threads` : ', one thread'}` : 'refloat'}${
    s.state === 'present' && s.backend ? html` · on the server: ${s.backend}, ${s.threads ?? 1} ${s.threads === 1 ? 'thread' : 'threads'}` : ''
  }</p>${remoteKeys ? html`<button type="button" class="quiet" data-act="delete-keys">Delete my keys from the server</button>` : state.deleted ? html`<p>Your evaluation keys have been deleted from the server.</p>` : ''}${problem(state, 'keys')}`;
}
