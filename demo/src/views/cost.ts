import { bytes, count, duration } from '../format.js';
import { html, type Html } from '../html.js';
import { STATIONS, stationIndex } from '../stages.js';
import type { State } from '../store.js';
import type { Preset } from '../types.js';
import { bootstrapMs, stageMs, type Place, type Voyage } from '../voyage.js';
import { figure, type Table } from './figure.js';
import { drawing, label, n } from './svg.js';

const PLACES: readonly Place[] = ['page', 'server'];

function runs(state: State): Voyage[] {
  const own = PLACES.map((p) => state.voyages[p]).filter((v) => v !== undefined);
  return own.length > 0 ? own : state.recorded ? [state.recorded] : [];
}

function runName(voyage: Voyage): string {
  return `${voyage.place === 'page' ? 'In this page' : 'On the server'}, ${voyage.preset.name}`;
}

/** The flame chart: wall time per stage, page and server on one scale. */
export function flame(state: State, width: number): Html {
  const list = runs(state);
  return figure(state, {
    id: 'flame',
    title: 'Where the time goes',
    drawing: list.some((v) => v.marks.length > 0) ? chart(state, list, width) : html`<p class="empty">Times appear as stages finish.</p>`,
    caption: html`${flameSentence(list)} <span class="unit">Horizontal: wall time of the run, one scale for all rows. Ticks inside: tracks as they finished.${list.some((v) => v.keysOnTheWay) && ' The full-size run in this page makes its keys on the way; that time is included.'}</span>`,
    table: flameTable(list),
  });
}

/** The times in a sentence, from the data. */
export function flameSentence(list: readonly Voyage[]): string {
  const parts = list.map((v) => {
    const total = bootstrapMs(v);
    if (total === undefined) return '';
    const longest = v.marks.reduce((a, b) => ((stageMs(b) ?? 0) > (stageMs(a) ?? 0) ? b : a));
    return `${runName(v)}: ${duration(total)}, most of it (${Math.round((100 * (stageMs(longest) ?? 0)) / total)} %) in “${STATIONS[longest.stage].short}”.`;
  });
  return parts.filter(Boolean).join(' ') || 'No run has finished yet.';
}

function flameTable(list: readonly Voyage[]): Table {
  return {
    columns: ['Run and stage', 'Time', 'Transforms', 'Row products', 'Key switches'],
    rows: list.flatMap((v) =>
      v.marks.map((m) => {
        const ms = stageMs(m);
        return [
          `${runName(v)}: ${STATIONS[m.stage].title}`,
          ms === undefined ? '–' : duration(ms),
          m.counters ? count(m.counters.ntt) : '–',
          m.counters ? count(m.counters.limbMac) : '–',
          m.counters ? count(m.counters.keySwitch) : '–',
        ];
      }),
    ),
  };
}

function chart(state: State, list: readonly Voyage[], width: number): Html {
  const bar = 34;
  const row = 74;
  const left = 0;
  const right = width;
  // Every run begins at zero: its first stage's beginning.
  const begin = (v: Voyage): number => v.marks[0]?.enterMs ?? 0;
  const finish = (m: Voyage['marks'][number]): number => m.exitMs ?? m.parts[m.parts.length - 1]?.atMs ?? m.enterMs;
  const most = Math.max(1, ...list.flatMap((v) => v.marks.map((m) => finish(m) - begin(v))));
  const x = (ms: number): number => left + (ms / most) * (right - left);
  const height = list.length * row + 26;
  const step = niceStep(most / (width < 500 ? 3 : 6));
  const ticks = [];
  for (let ms = 0; ms <= most; ms += step) {
    ticks.push(html`<line class="grid" x1="${n(x(ms))}" x2="${n(x(ms))}" y1="8" y2="${n(height - 20)}"/>${label(x(ms), height - 5, ms === 0 ? '0' : duration(ms), 'tick', ms === 0 ? 'start' : x(ms) > width - 30 ? 'end' : 'middle')}`);
  }
  const rows = list.map((voyage, r) => {
    const y = r * row + 26;
    const total = bootstrapMs(voyage);
    return html`${label(left, y - 7, `${runName(voyage)}${voyage.recorded ? ' (recorded)' : ''}`, 'row-name', 'start')}
      ${total !== undefined && label(right, y - 7, duration(total), 'row-name', 'end')}
      ${voyage.marks.map((m) => {
        const from = x(m.enterMs - begin(voyage));
        const w = Math.max(1, x(finish(m) - begin(voyage)) - from);
        const text = STATIONS[m.stage].short;
        const station = stationIndex(m.stage);
        const here = state.at.station === station ? ' here' : '';
        return html`<g class="flame s${station - 2}${here}" data-act="station:${station}">
          <rect x="${n(from)}" y="${n(y)}" width="${n(w)}" height="${n(bar)}"/>
          ${m.stage === 'blind_rotate' && m.parts.map((p) => html`<line class="flame-tick" x1="${n(x(p.atMs - begin(voyage)))}" x2="${n(x(p.atMs - begin(voyage)))}" y1="${n(y + bar - 6)}" y2="${n(y + bar)}"/>`)}
          ${w > text.length * 7 + 12 && label(from + 7, y + 21, text, 'flame-label', 'start')}
        </g>`;
      })}`;
  });
  return drawing(width, height, flameSentence(list), 'flames', html`${ticks}${rows}`);
}

const COUNTERS = [
  ['ntt', 'Transforms of a residue row'],
  ['limbMac', 'Products of residue rows'],
  ['keySwitch', 'Key switches'],
] as const;

/** Work by stage, in units that do not depend on the machine. */
export function work(state: State, width: number): Html {
  const list = runs(state);
  const voyage = list.find((v) => v.place === state.shown) ?? list[0];
  const total = (key: (typeof COUNTERS)[number][0]): number => voyage?.marks.reduce((sum, m) => sum + (m.counters?.[key] ?? 0), 0) ?? 0;
  const sentence = voyage && total('ntt') > 0 ? `${voyage.preset.name}: ${count(total('ntt'))} transforms, ${count(total('limbMac'))} row products, ${count(total('keySwitch'))} key switches in one bootstrapping.` : 'Counters appear as stages finish.';
  return figure(state, {
    id: 'work',
    title: 'Work, whatever the machine',
    drawing: voyage && total('ntt') > 0 ? workChart(voyage, width, sentence, total) : html`<p class="empty">${sentence}</p>`,
    caption: html`${sentence} <span class="unit">Each bar is the whole; colours are the stages of the chart above. A row is one polynomial modulo one prime.</span>`,
    table: flameTable(voyage ? [voyage] : []),
  });
}

function workChart(voyage: Voyage, width: number, sentence: string, total: (key: (typeof COUNTERS)[number][0]) => number): Html {
  const row = 48;
  const rows = COUNTERS.map(([key, name], r) => {
    const all = Math.max(1, total(key));
    let x = 0;
    return html`${label(0, r * row + 14, name, 'row-name', 'start')}${label(width, r * row + 14, count(all), 'row-name', 'end')}
      ${voyage.marks.map((m) => {
        const w = ((m.counters?.[key] ?? 0) / all) * width;
        const x0 = x;
        x += w;
        return w > 0 && html`<g class="flame s${stationIndex(m.stage) - 2}"><rect x="${n(x0)}" y="${n(r * row + 21)}" width="${n(w)}" height="14"/></g>`;
      })}`;
  });
  return drawing(width, COUNTERS.length * row, sentence, 'work', html`${rows}`);
}

/** 1, 2 or 5 times a power of ten, not below `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 0.1)));
  return power * ([1, 2, 5, 10].find((k) => k * power >= least) ?? 10);
}

/** Key bytes of a set by kind. */
export function keyGroups(preset: Preset): { name: string; bytes: number; perTrack: boolean }[] {
  const groups = [
    { name: 'columns of the blind rotations', test: /column/i, perTrack: true },
    { name: 'selectors of the blind rotations', test: /mux|multiplex|selector/i, perTrack: true },
    { name: 'slots to coefficients', test: /slots to coeff/i, perTrack: false },
    { name: 'public, encapsulation, relinearisation, conjugation', test: /./, perTrack: false },
  ].map((g) => ({ ...g, bytes: 0 }));
  for (const part of preset.keyParts) {
    const group = groups.find((g) => g.test.test(part.label));
    if (group) group.bytes += part.bytes;
  }
  return groups.filter((g) => g.bytes > 0).map(({ name, bytes: b, perTrack }) => ({ name, bytes: b, perTrack }));
}

/** Key sizes as true areas, all sets on one scale. */
export function keys(state: State, width: number): Html {
  const sets = [...state.presets, ...(state.server.state === 'present' ? state.server.presets : [])];
  const wanted = [state.pagePreset, state.serverPreset];
  const shown = wanted.map((w) => sets.find((p) => p.name === w)).filter((p) => p !== undefined);
  const list = shown.filter((p, i) => shown.findIndex((q) => q.name === p.name) === i);
  return figure(state, {
    id: 'keys',
    title: 'Keys, area for area',
    drawing: list.length > 0 ? squares(list, width) : html`<p class="empty">Sizes appear when the library has loaded.</p>`,
    caption: html`${keySentence(list)} <span class="unit">One scale: equal areas are equal bytes. Wire format: second components as seeds, residues packed.</span>`,
    table: {
      columns: ['Set and key', 'Bytes'],
      rows: list.flatMap((p) => [
        ...keyGroups(p).map((g) => [`${p.name}: ${g.name}`, count(g.bytes)]),
        [`${p.name}: all bootstrapping keys`, count(p.keyBytes)],
        [`${p.name}: one fresh ciphertext`, count(p.ciphertextBytes[p.outputLevel] ?? 0)],
        [`${p.name}: the secret, as a seed`, 32],
      ]),
    },
  });
}

function keySentence(list: readonly Preset[]): string {
  const sizes = list.map((p) => `${p.name}: ${bytes(p.keyBytes)} of public evaluation keys for ${bytes(p.ciphertextBytes[p.outputLevel] ?? 0)} of ciphertext.`);
  return [...sizes, 'A secret key is a seed of 32 bytes, far below one dot on this scale.'].join(' ');
}

function squares(list: readonly Preset[], width: number): Html {
  const most = Math.max(...list.map((p) => p.keyBytes));
  const gap = 28;
  const across = (side: number): number => list.reduce((sum, p) => sum + Math.max(side * Math.sqrt(p.keyBytes / most), 92), (list.length - 1) * gap);
  let side = Math.min(width * (list.length > 1 ? 0.62 : 0.9), 330);
  while (across(side) > width && side > 92) side -= 4;
  const perByte = (side * side) / most;
  let x = 0;
  const drawn = list
    .slice()
    .sort((a, b) => b.keyBytes - a.keyBytes)
    .map((preset) => {
      const s = Math.sqrt(preset.keyBytes * perByte);
      const x0 = x;
      const y0 = side - s;
      x += Math.max(s, 92) + gap;
      let y = y0;
      const bands = keyGroups(preset).map((group, i) => {
        const h = (group.bytes * perByte) / s;
        const top = y;
        y += h;
        const cells = group.perTrack ? preset.tracks : 1;
        return html`<g class="key k${i}">${Array.from({ length: cells }, (_, c) => html`<rect x="${n(x0 + (c * s) / cells)}" y="${n(top)}" width="${n(s / cells)}" height="${n(h)}"/>`)}${h > 22 && s > 180 && label(x0 + 8, top + 17, group.name, 'key-label', 'start')}</g>`;
      });
      const ct = Math.sqrt((preset.ciphertextBytes[preset.outputLevel] ?? 0) * perByte);
      return html`${bands}
        ${label(x0, side + 20, `${preset.name} · ${bytes(preset.keyBytes)}`, 'row-name', 'start')}
        <rect class="ct" x="${n(x0)}" y="${n(side + 32)}" width="${n(Math.max(ct, 1))}" height="${n(Math.max(ct, 1))}"/>
        ${label(x0 + ct + 7, side + 40, 'one ciphertext', 'sub', 'start')}`;
    });
  return drawing(width, side + 50, keySentence(list), 'keys', html`${drawn}`);
}
