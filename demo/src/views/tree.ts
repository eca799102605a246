import { decimal, plural } from '../format.js';
import { html, type Html } from '../html.js';
import { JOURNEY, stationIndex } from '../stages.js';
import type { State } from '../store.js';
import { lastMomentOf, markOf, underway, type Voyage } from '../voyage.js';
import { figure, type Table } from './figure.js';
import { drawing, label, n } from './svg.js';

const ROTATE = stationIndex('blind_rotate');
const TREE = stationIndex('product_tree');

/** Tracks and tree levels that are done at the selected moment. */
function progress(state: State, voyage: Voyage): { tracks: number; levels: number; phase: boolean } {
  const at = state.at;
  const tracks = at.station < ROTATE ? 0 : at.station === ROTATE ? at.part : lastMomentOf(voyage, ROTATE).part;
  const levels = at.station < TREE ? 0 : at.station === TREE ? at.part : lastMomentOf(voyage, TREE).part;
  return { tracks, levels, phase: at.station >= stationIndex('encode_phase') && markOf(voyage, 'encode_phase')?.exitMs !== undefined };
}

/** The product tree: one leaf per track, lighting up as tracks finish, then the products. */
export function tree(state: State, voyage: Voyage | undefined, width: number): Html {
  return figure(state, {
    id: 'tree',
    title: 'Tracks and product tree',
    drawing: voyage ? chart(state, voyage, width) : html`<p class="empty">The tree grows once a voyage has begun.</p>`,
    caption: html`${treeSentence(state, voyage)} <span class="unit">Bottom row: the public phase factor, then one blind rotation per block of the sparse key. Each step up multiplies neighbours.</span>`,
    table: treeTable(voyage),
  });
}

/** The tree in a sentence, from the data. */
export function treeSentence(state: State, voyage: Voyage | undefined): string {
  if (!voyage) return 'No voyage yet: no track has run.';
  const { tracks, levels } = progress(state, voyage);
  const all = voyage.preset.tracks;
  const now = underway(voyage)?.station;
  const going = voyage.state === 'running' && now === JOURNEY[state.at.station];
  if (tracks === 0) {
    const lie = `${plural(all, 'track')} and ${plural(voyage.preset.treeLevels, 'level')} of products`;
    return going && now === 'blind_rotate' ? `The first of ${plural(all, 'track')} is being rotated blindly.` : `${lie} lie ahead.`;
  }
  if (levels === 0) {
    const next = tracks < all ? (going ? 'the others are under way or wait' : plural(all - tracks, 'track') + (all - tracks === 1 ? ' is left' : ' are left')) : going && now === 'product_tree' ? 'the first products are under way' : 'the products come next';
    return `${tracks} of ${all} tracks have been rotated blindly; ${next}.`;
  }
  const left = (all + 1) >> levels;
  return `All ${all} tracks are in; after ${levels} of ${voyage.preset.treeLevels} product levels ${left === 1 ? 'one ciphertext is left' : `${left} ciphertexts are left`}.`;
}

function treeTable(voyage: Voyage | undefined): Table {
  const rows: (string | number)[][] = [];
  for (const stage of ['blind_rotate', 'product_tree'] as const) {
    const mark = voyage && markOf(voyage, stage);
    mark?.parts.forEach((part, i) => {
      const view = mark.views.find((v) => (stage === 'product_tree' ? v.levelOfTree === part.done : v.track === part.done - 1));
      const before = mark.parts[i - 1]?.done ?? 0;
      const tracks = part.done - before > 1 ? `Tracks ${before + 1} to ${part.done}` : `Track ${part.done}`;
      rows.push([
        stage === 'blind_rotate' ? `${tracks} of ${part.total}` : `Product level ${part.done} of ${part.total}`,
        decimal(part.atMs, 0),
        decimal(view?.bitsMax, 1),
        decimal(view?.bitsRms, 1),
      ]);
    });
  }
  return { columns: ['Part', 'Done at, ms', 'Worst slot, bits', 'rms, bits'], rows };
}

function chart(state: State, voyage: Voyage, width: number): Html {
  const leaves = voyage.preset.tracks + 1;
  const levels = voyage.preset.treeLevels;
  const pad = 14;
  const step = (width - 2 * pad) / leaves;
  const radius = Math.max(2.6, Math.min(7, step * 0.3));
  const rise = Math.max(34, Math.min(52, 230 / (levels + 1)));
  const top = 22;
  const y = (level: number): number => top + (levels - level) * rise;
  const height = y(0) + 34;
  const x = (level: number, node: number): number => pad + step * 2 ** level * (node + 0.5);
  const done = progress(state, voyage);
  const station = JOURNEY[state.at.station];

  const ready = (level: number, node: number): boolean => {
    if (level > 0) return done.levels >= level;
    return node === 0 ? done.phase : node <= done.tracks;
  };
  // Nodes of the stage under way: all unfinished tracks, or the products of the next level.
  const now = voyage.state === 'running' ? underway(voyage)?.station : undefined;
  const next = (level: number, node: number): boolean =>
    now === station && (station === 'blind_rotate' ? level === 0 && node > done.tracks : station === 'product_tree' && level === done.levels + 1);
  const edges: Html[] = [];
  const nodes: Html[] = [];
  for (let level = 0; level <= levels; level++) {
    for (let node = 0; node < leaves >> level; node++) {
      const lit = ready(level, node);
      const latest = (station === 'blind_rotate' && level === 0 && node === state.at.part) || (station === 'product_tree' && level === state.at.part && level > 0);
      if (level > 0) {
        for (const child of [2 * node, 2 * node + 1]) {
          edges.push(html`<path class="edge${lit ? ' lit' : ''}" d="M${n(x(level - 1, child))} ${n(y(level - 1) - radius)}C${n(x(level - 1, child))} ${n(y(level) + rise * 0.45)} ${n(x(level, node))} ${n(y(level) + rise * 0.55)} ${n(x(level, node))} ${n(y(level) + radius)}"/>`);
        }
      }
      const name = `node${lit ? ' lit' : ''}${latest ? ' latest' : ''}${next(level, node) ? ' underway' : ''}`;
      const cx = x(level, node);
      // The public factor is drawn as a square: it is a plaintext, not a ciphertext.
      nodes.push(
        level === 0 && node === 0
          ? html`<rect class="${name} public" x="${n(cx - radius)}" y="${n(y(0) - radius)}" width="${n(2 * radius)}" height="${n(2 * radius)}"/>`
          : html`<circle class="${name}" cx="${n(cx)}" cy="${n(y(level))}" r="${n(level === levels ? radius + 2 : radius)}"/>`,
      );
    }
  }
  const tracks = voyage.preset.tracks;
  return drawing(width, height, treeSentence(state, voyage), 'tree', html`
    ${edges}${nodes}
    ${label(x(0, 0), height - 10, 'b', 'sub')}
    ${label((x(0, 1) + x(0, tracks)) / 2, height - 10, width > 420 ? `${tracks} independent blind rotations` : `${tracks} blind rotations`, 'sub')}
    ${label(x(levels, 0) + radius + 10, y(levels) + 4, 'ω^(b + a·s′)', 'sub', 'start')}`);
}
