import { decimal } from '../format.js';
import { html, type Html } from '../html.js';
import { levelsOf } from '../levels.js';
import { isSpendable, JOURNEY, STATIONS } from '../stages.js';
import type { State } from '../store.js';
import { frontier, newest, standingAt, underway, waterAt, type Voyage } from '../voyage.js';
import { figure, type Table } from './figure.js';
import { boat, caption, drawing, label, n, path } from './svg.js';
import { progressOf } from './words.js';

/** Where the stations stand in a chart of a given width. */
export interface Columns {
  readonly left: number;
  readonly step: number;
  readonly narrow: boolean;
}

/** Columns of the charts that share the journey as their axis. */
export function columns(width: number): Columns {
  const narrow = width < 640;
  const left = narrow ? 30 : 52;
  return { left, step: (width - left - (narrow ? 2 : 8)) / JOURNEY.length, narrow };
}

/** The waterfall: modulus and level at every station, with the ciphertext afloat on it. */
export function tide(state: State, voyage: Voyage | undefined, width: number): Html {
  return figure(state, {
    id: 'tide',
    title: 'Depth of the modulus',
    drawing: chart(state, voyage, width),
    caption: html`${tideSentence(voyage, state.at.station)} <span class="unit">Vertical: log₂ Q in bits, read from each ciphertext. Keel: log₂ of the scale.</span>`,
    table: tideTable(voyage),
  });
}

/** The waterfall in a sentence, from the data. */
export function tideSentence(voyage: Voyage | undefined, station: number): string {
  if (!voyage) return 'No voyage yet: nothing has been encrypted.';
  const name = JOURNEY[station] ?? 'encrypt';
  const at = standingAt(voyage, name);
  if (!at) return `“${STATIONS[name].title}” has not been reached.`;
  const { water } = at;
  const under = water.logQ - water.logScale;
  if (at.underway) return `${progressOf(voyage, at.underway)}. It began at level ${water.level} of ${voyage.preset.maxLevel}, with a modulus of ${decimal(water.logQ)} bits.`;
  const spendable = isSpendable(name) ? ` (${levelsOf(water.level, voyage.preset.inputLevel)})` : '';
  return `After “${STATIONS[name].title}”: level ${water.level} of ${voyage.preset.maxLevel}${spendable}, a modulus of ${decimal(water.logQ)} bits, ${decimal(under)} of them above the scale.`;
}

function tideTable(voyage: Voyage | undefined): Table {
  return {
    columns: ['Station', 'Level', 'log₂ Q', 'log₂ scale'],
    rows: JOURNEY.map((name) => {
      const water = voyage && waterAt(voyage, name);
      const level = voyage && underway(voyage)?.station === name ? (voyage.state === 'running' ? 'under way' : 'broken off') : '–';
      return [STATIONS[name].title, water?.level ?? level, decimal(water?.logQ), decimal(water?.logScale)];
    }),
  };
}

function chart(state: State, voyage: Voyage | undefined, width: number): Html {
  const { left, step, narrow } = columns(width);
  const top = narrow ? 46 : 66;
  const depth = narrow ? 132 : 212;
  const bottom = top + depth;
  const bed = narrow ? 12 : 18;
  const height = bottom + bed + (narrow ? 20 : step < 108 ? 56 : 42);
  const deepest = voyage
    ? Math.max(64, ...JOURNEY.map((s) => waterAt(voyage, s)?.logQ ?? 0))
    : 64;
  const y = (bits: number): number => bottom - (bits / (deepest * 1.02)) * depth;
  const right = left + step * JOURNEY.length;
  const end = voyage ? frontier(voyage) : -1;
  const selected = state.at.station;

  const ticks = [];
  const every = deepest > 130 ? 50 : 20;
  for (let bits = 0; bits <= deepest; bits += every) {
    ticks.push(html`<line class="grid" x1="${n(left)}" x2="${n(right)}" y1="${n(y(bits))}" y2="${n(y(bits))}"/>${label(left - 8, y(bits) + 4, bits, 'tick', 'end')}`);
  }

  const water = voyage ? surface(voyage, left, step, y, end) : '';
  const now = voyage && underway(voyage);
  // The boat is at the selected station, or at the latest that has begun if the selected one lies ahead.
  const place = voyage ? Math.min(selected, newest(voyage)) : -1;
  const here = voyage && place >= 0 ? standingAt(voyage, JOURNEY[place] ?? 'encrypt')?.water : undefined;
  const cx = left + ((here ? place : selected) + 0.5) * step;

  const soundings = voyage
    ? JOURNEY.map((name, i) => {
        const at = standingAt(voyage, name)?.water;
        if (!at) return null;
        const x = left + (i + 0.5) * step;
        const lifted = i === place ? (narrow ? 30 : 50) : 0;
        return html`${label(x, y(at.logQ) - 8 - lifted, decimal(at.logQ, narrow ? 0 : 1), i === place ? 'sounding sounding-here' : 'sounding')}`;
      })
    : null;

  const names = JOURNEY.map((name, i) => {
    const x = left + (i + 0.5) * step;
    const at = voyage && waterAt(voyage, name);
    const mark = i === selected ? ' here' : '';
    if (narrow) return label(x, bottom + bed + 15, i + 1, `station${mark}`);
    return html`${caption(x, bottom + bed + 17, STATIONS[name].short, `station${mark}`, step)}${label(x, bottom + bed + (step < 108 ? 48 : 33), at ? `level ${at.level}` : now?.station === name ? (voyage?.state === 'running' ? 'under way' : 'broken off') : '', 'sub')}`;
  });

  const hits = JOURNEY.map(
    (_, i) => html`<rect class="hit" data-act="station:${i}" x="${n(left + i * step)}" y="0" width="${n(step)}" height="${n(height)}"/>`,
  );

  const description = voyage
    ? `Modulus by station. ${JOURNEY.slice(0, end + 1).map((s) => `${STATIONS[s].title}: ${decimal(waterAt(voyage, s)?.logQ)} bits, level ${waterAt(voyage, s)?.level ?? '–'}`).join('; ')}.${now ? ` ${progressOf(voyage, now)}, at ${decimal(now.water.logQ)} bits.` : ''}`
    : 'Modulus by station: no voyage yet.';

  return drawing(width, height, description, 'tide', html`
    <defs>
      <linearGradient id="water" x1="0" y1="${n(top)}" x2="0" y2="${n(bottom)}" gradientUnits="userSpaceOnUse">
        <stop offset="0" class="water-top"/><stop offset="1" class="water-bottom"/>
      </linearGradient>
      <pattern id="ground" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="7" class="ground-line"/></pattern>
    </defs>
    <rect class="column-here" x="${n(left + selected * step)}" y="${n(narrow ? 4 : 8)}" width="${n(step)}" height="${n(height - (narrow ? 6 : 10))}" rx="3"/>
    ${ticks}
    ${water && html`${path(`${water.area}`, 'water')}${path(water.line, 'water-line')}`}
    ${now && html`<rect class="water-underway" x="${n(left + (end + 1) * step)}" y="${n(y(now.water.logQ))}" width="${n(step)}" height="${n(bottom - y(now.water.logQ))}"/><line class="water-line underway" x1="${n(left + (end + 1) * step)}" x2="${n(left + (end + 2) * step)}" y1="${n(y(now.water.logQ))}" y2="${n(y(now.water.logQ))}"/>`}
    ${voyage && end >= 0 && end < JOURNEY.length - 1 && html`<line class="unknown" x1="${n(left + (end + (now ? 2 : 1)) * step)}" x2="${n(right)}" y1="${n(bottom - 0.5)}" y2="${n(bottom - 0.5)}"/>`}
    <rect class="ground" x="${n(left)}" y="${n(bottom)}" width="${n(right - left)}" height="${n(bed)}"/>
    <rect fill="url(#ground)" x="${n(left)}" y="${n(bottom)}" width="${n(right - left)}" height="${n(bed)}"/>
    <line class="ground-top" x1="${n(left)}" x2="${n(right)}" y1="${n(bottom)}" y2="${n(bottom)}"/>
    ${soundings}
    ${here && boat(cx, y(here.logQ), narrow ? 26 : 46, y(here.logQ - here.logScale) - y(here.logQ))}
    ${!here && boat(cx, bottom - 3, narrow ? 26 : 46, 0)}
    ${names}
    ${label(left - 8, narrow ? 14 : 20, narrow ? 'bits' : 'log₂ Q', 'tick', 'end')}
    ${hits}`);
}

/** The surface: level over each station, falling or rising between them. */
function surface(voyage: Voyage, left: number, step: number, y: (bits: number) => number, end: number): { area: string; line: string } | '' {
  if (end < 0) return '';
  const ramp = Math.min(step * 0.36, 34);
  let line = '';
  let before: number | undefined;
  JOURNEY.slice(0, end + 1).forEach((name, i) => {
    const at = waterAt(voyage, name);
    if (!at) return;
    const level = y(at.logQ);
    const x0 = left + i * step;
    const x1 = x0 + step;
    if (before === undefined) line = `M${n(x0)} ${n(level)}`;
    else line += `C${n(x0)} ${n(before)} ${n(x0)} ${n(level)} ${n(x0 + ramp / 2)} ${n(level)}`;
    line += `H${n(i === end ? x1 : x1 - ramp / 2)}`;
    before = level;
  });
  const base = n(y(0));
  return { line, area: `${line}V${base}H${n(left)}Z` };
}
