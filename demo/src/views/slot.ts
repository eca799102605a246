import { count, decimal } from '../format.js';
import { html, type Html, type Part } from '../html.js';
import { JOURNEY, STATIONS, stationIndex, type Station } from '../stages.js';
import type { State } from '../store.js';
import { lastMomentOf, markOf, nounOf, partsOf, type Moment, type Voyage } from '../voyage.js';
import { figure } from './figure.js';
import { seenAt } from './shown-values.js';
import { drawing, label, n } from './svg.js';

/** Side of the drawing. */
const SIDE = 340;
const MIDDLE = SIDE / 2;
const RADIUS = 128;

/** The slot that is followed: the one the reader chose, else one in the shaded sail. */
export function followed(state: Pick<State, 'slot'>, { width, height, input, used }: Pick<Voyage, 'width' | 'height' | 'input' | 'used'>): number {
  return Math.min((used ?? input.length) - 1, state.slot ?? Math.floor(height * 0.4) * width + Math.floor(width * 0.43));
}

/** What is known of the slot at a moment, as the key holder sees it. */
export interface Known {
  /** The number of the message. */
  readonly value?: number;
  /** The angle of its point, in turns from -1/2 to 1/2. */
  readonly turns?: number;
}

/** The slot at a moment: what was decrypted there; empty if nothing was seen. */
export function knownAt(voyage: Voyage, moment: Moment, slot: number): Known {
  const station = JOURNEY[moment.station];
  if (station === 'encode_phase') {
    const sum = sumOf(voyage, slot);
    return sum ? { turns: wrapped(sum.start) } : {};
  }
  if (station === 'blind_rotate') {
    const turns = sumOf(voyage, slot)?.tracks[moment.part - 1];
    return turns === undefined ? {} : { turns };
  }
  if (station === 'product_tree' && moment.part < partsOf(voyage.preset, station)) {
    const turns = angle(voyage, 'product_tree', slot, moment.part);
    return turns === undefined ? {} : { turns };
  }
  const seen = seenAt(voyage, moment);
  const value = seen?.values[seen.indices ? seen.indices.indexOf(slot) : slot];
  if (value === undefined) return {};
  const one = turnsOfOne(voyage);
  const turns = station === 'product_tree' ? angle(voyage, 'product_tree', slot, moment.part) : one && value * one;
  return turns === undefined ? { value } : { value, turns };
}

/** b and the tracks as angles of this slot, in turns; those not reached yet are missing. */
export interface Sum {
  /** b together with the public factor beside it, as far as it can be told: from the first product. */
  readonly start: number;
  readonly tracks: readonly number[];
}

/**
 * The terms of b + a s' for one slot. Tracks are read from their views; b is what the first node of the tree (b times the first track) has
 * besides the track.
 */
export function sumOf(voyage: Voyage, slot: number): Sum | undefined {
  const tracks: number[] = [];
  for (let k = 0; k < voyage.preset.tracks; k++) {
    const turns = angle(voyage, 'blind_rotate', slot, k);
    if (turns === undefined) break;
    tracks.push(turns);
  }
  const first = angle(voyage, 'product_tree', slot, 1);
  return tracks[0] === undefined ? undefined : { start: first === undefined ? 0 : first - tracks[0], tracks };
}

/** The angle of a slot in the view of a track, or of the first node of a level of the tree. */
function angle(voyage: Voyage, stage: 'blind_rotate' | 'product_tree', slot: number, part: number): number | undefined {
  const view = markOf(voyage, stage)?.views.find((v) => (stage === 'blind_rotate' ? v.track : v.levelOfTree) === part);
  const at = view?.indices.indexOf(slot) ?? -1;
  return view && at >= 0 ? Math.atan2(view.data[2 * at + 1] ?? 0, view.data[2 * at] ?? 0) / (2 * Math.PI) : undefined;
}

/**
 * The turns that a message of 1 makes on the circle of the exhausted modulus: from the run's own phases or, if nobody could see them, from
 * scale and modulus, which are public. Unknown before that stage.
 */
export function turnsOfOne(voyage: Voyage): number | undefined {
  const mark = markOf(voyage, 'encapsulate');
  const view = mark?.views.at(-1);
  if (view) return 2 ** (view.bitsMax + Math.log2(view.maxError));
  return mark?.water && 2 ** (mark.water.logScale - mark.water.logQ);
}

/** Reduces turns to between -1/2 and 1/2. */
function wrapped(turns: number): number {
  return turns - Math.round(turns);
}

/** One slot on its way: a drawing of what happens to it, and its number at every station. */
export function slot(state: State, voyage: Voyage | undefined): Html {
  const chosen = voyage && followed(state, voyage);
  const station = JOURNEY[state.at.station] ?? 'encrypt';
  return figure(state, {
    id: 'slot',
    title: `Follow one ${voyage ? oneOf(voyage) : 'number'}`,
    drawing: voyage && chosen !== undefined ? html`<div class="slot-pair">${picker(voyage, chosen)}${scene(voyage, state.at, chosen)}</div>${steps(state, voyage, chosen)}` : html`<p class="empty">Nothing to follow yet.</p>`,
    caption: voyage && chosen !== undefined ? html`${sentence(voyage, state.at, chosen)} <span class="unit">Bits under a number: how far this one ${oneOf(voyage)} is right, which is partly luck. “Precision” below has the worst of all and, for the product tree, that of the points on the circle.</span>` : '',
    table: {
      columns: ['Station', 'Number', 'Angle, turns', 'Right to, bits'],
      rows: voyage && chosen !== undefined ? JOURNEY.map((name, i) => {
        const { value, turns } = knownAt(voyage, i === stationIndex(station) ? state.at : lastMomentOf(voyage, i), chosen);
        return [STATIONS[name].title, decimal(value, 5), decimal(turns, 5), value === undefined ? '–' : bitsOf(voyage, value, chosen)];
      }) : [],
    },
  });
}

/** What a slot holds, in a word. */
function oneOf(voyage: Voyage): string {
  return nounOf(voyage) === 'picture' ? 'pixel' : 'number';
}

/** What was encrypted; the reader presses a pixel or a number, or moves with the arrow keys. */
function picker(voyage: Voyage, chosen: number): Html {
  const [row, column] = [Math.floor(chosen / voyage.width) + 1, (chosen % voyage.width) + 1];
  return html`<div class="slot-pick"><canvas class="picture" style="--w:${voyage.width};--h:${voyage.height}" data-own data-canvas="shown.pick" tabindex="0" role="slider" aria-label="Slot to follow; arrow keys move" aria-valuemin="0" aria-valuemax="${(voyage.used ?? voyage.input.length) - 1}" aria-valuenow="${chosen}" aria-valuetext="row ${row}, column ${column}: ${decimal(voyage.input[chosen], 2)}"></canvas>
    <p class="canvas-label">press a ${oneOf(voyage)}<span class="with-keys">, or use the arrow keys</span>: slot ${chosen}, ${decimal(voyage.input[chosen], 3)}</p></div>`;
}

function steps(state: State, voyage: Voyage, chosen: number): Html {
  return html`<ol class="slot-steps" aria-label="The number at every station">${JOURNEY.map((name, i) => {
    const { value, turns } = knownAt(voyage, i === state.at.station ? state.at : lastMomentOf(voyage, i), chosen);
    const number = value !== undefined ? decimal(value, 4) : turns !== undefined ? `∠ ${decimal(turns, 3)}` : '–';
    const bits = value === undefined ? '' : `${bitsOf(voyage, value, chosen)} bits`;
    return html`<li><button type="button" data-act="station:${i}" data-step="${name}" aria-pressed="${String(i === state.at.station)}"><small>${STATIONS[name].short}</small><b>${number}</b><small>${bits}</small></button></li>`;
  })}</ol>`;
}

function bitsOf(voyage: Voyage, value: number, chosen: number): string {
  const error = Math.abs(value - (voyage.expected[chosen] ?? 0));
  return error === 0 ? 'all' : decimal(-Math.log2(error), 1);
}

/** The drawing for a moment. */
function scene(voyage: Voyage, at: Moment, chosen: number): Html {
  const station = JOURNEY[at.station] ?? 'encrypt';
  const known = knownAt(voyage, at, chosen);
  const parts: Part = SCENES[station](voyage, at, chosen, known);
  return known.value === undefined && known.turns === undefined && voyage.place === 'server'
    ? html`<p class="empty">This happened on the server, which cannot see the number either. In this page a run shows it.</p>`
    : drawing(SIDE, SIDE, sentence(voyage, at, chosen), 'slot-scene', parts);
}

type Scene = (voyage: Voyage, at: Moment, chosen: number, known: Known) => Part;

const SCENES: Record<Station, Scene> = {
  encrypt: (voyage, _, chosen, known) => html`${swatch(16, 16, 50, voyage.input[chosen] ?? 0, voyage)}${dial(voyage)}${hand(known.turns)}${note('full turn: q₀')}`,
  exhaust: (voyage, _, __, known) => html`${dial(voyage)}${hand(known.turns)}${note('beyond this turn nothing is left')}`,
  slots_to_coeffs: (voyage, _, chosen) => strips(voyage, chosen),
  encapsulate: (voyage, _, __, known) => html`${dial(voyage)}${hand(known.turns)}${note('the same angle, under the sparse key')}`,
  encode_phase: (voyage, _, chosen, known) => html`${candidates(voyage, 0, chosen)}${circleLine(RADIUS)}${hand(known.turns)}${note('b, and around it the aⱼ: all public')}`,
  blind_rotate: (voyage, at, chosen) => html`${candidates(voyage, Math.max(0, at.part - 1), chosen)}${chain(voyage, chosen, at.part)}${closedHand()}${neighbours(voyage, at.part - 1, chosen)}`,
  product_tree: (voyage, at, chosen) => merging(voyage, chosen, at.part),
  conjugate: (voyage, _, chosen, known) => mirrored(voyage, chosen, known),
  decrypt: (voyage, _, chosen, known) => returned(voyage, chosen, known),
};

/** A few words below the drawing. */
function note(words: string): Html {
  return label(MIDDLE, SIDE - 8, words, 'slot-note');
}

/** A point of the circle: 0 to the right, a quarter turn up. */
function on(turns: number, radius: number, x = MIDDLE, y = MIDDLE): [number, number] {
  return [x + radius * Math.cos(2 * Math.PI * turns), y - radius * Math.sin(2 * Math.PI * turns)];
}

function circleLine(radius: number, x = MIDDLE, y = MIDDLE): Html {
  return html`<circle class="slot-circle" cx="${n(x)}" cy="${n(y)}" r="${n(radius)}"/>`;
}

/** The circle, and on it the arc on which messages lie. */
function dial(voyage: Voyage): Html {
  const one = turnsOfOne(voyage);
  return html`${circleLine(RADIUS)}${one !== undefined && arc(one)}${label(MIDDLE + RADIUS + 8, MIDDLE + 4, '0', 'tick', 'start')}`;
}

/** The arc of `turns` turns to both sides of 0. */
function arc(turns: number): Html {
  const [[x0, y0], [x1, y1]] = [on(-turns, RADIUS), on(turns, RADIUS)];
  return html`<path class="slot-arc" d="M${n(x0)} ${n(y0)}A${RADIUS} ${RADIUS} 0 ${turns > 0.25 ? 1 : 0} 0 ${n(x1)} ${n(y1)}"/>`;
}

function hand(turns: number | undefined, radius = RADIUS): Html {
  if (turns === undefined) return html``;
  const [x, y] = on(turns, radius);
  return html`<line class="slot-hand" x1="${MIDDLE}" y1="${MIDDLE}" x2="${n(x)}" y2="${n(y)}"/><circle class="slot-point" cx="${n(x)}" cy="${n(y)}" r="6"/>`;
}

function swatch(x: number, y: number, side: number, value: number, voyage: Voyage): Html {
  const light = voyage.preset.mode === 'bits' ? value : (value + 1) / 2;
  const grey = Math.round(255 * Math.max(0, Math.min(1, light)));
  return html`<rect class="slot-swatch" x="${n(x)}" y="${n(y)}" width="${n(side)}" height="${n(side)}" fill="rgb(${grey},${grey},${grey})"/>`;
}

/** Words to the right of what passes at x, or to its left where there is no room. */
function beside(x: number, y: number, words: string): Html {
  const left = x + 10 + 7 * words.length > SIDE;
  return label(x + (left ? -14 : 10), y, words, 'slot-note', left ? 'end' : 'start');
}

/** Slots above, coefficients below, and a line from the chosen slot to its coefficient. */
function strips(voyage: Voyage, chosen: number): Html {
  const width = SIDE - 40;
  const slots = voyage.preset.slots;
  const [x0, x1] = [20 + ((chosen + 0.5) / slots) * width, 20 + ((chosen + 0.5) / (2 * slots)) * width];
  const bar = (y: number, words: string): Html => html`<rect class="slot-bar" x="20" y="${y}" width="${width}" height="34"/>${label(20, y < MIDDLE ? y - 10 : y + 54, words, 'slot-note', 'start')}`;
  return html`${bar(80, `${count(slots)} slots`)}${bar(226, `${count(2 * slots)} coefficients: real parts, then imaginary ones`)}
    <path class="slot-hand" d="M${n(x0)} 114C${n(x0)} 170 ${n(x1)} 170 ${n(x1)} 226" fill="none"/>
    <rect class="slot-point" x="${n(x0 - 3)}" y="80" width="6" height="34"/><rect class="slot-point" x="${n(x1 - 3)}" y="226" width="6" height="34"/>
    ${beside(x0, 136, `slot ${chosen}`)}${beside(x1, 216, `coefficient ${chosen}`)}`;
}

/** The points among which a track chooses, a regular selection of them, drawn faintly. */
function candidates(voyage: Voyage, track: number, chosen: number): Html {
  const view = markOf(voyage, 'blind_rotate')?.views.find((v) => v.track === track);
  if (!view) return html``;
  const stride = Math.max(1, Math.floor(view.indices.length / 96));
  const dots = Array.from(view.indices.filter((slot, i) => i % stride === 0 && slot !== chosen), (slot) => on(angle(voyage, 'blind_rotate', slot, track) ?? 0, RADIUS + 14));
  return html`<g class="slot-candidates">${dots.map(([x, y]) => html`<circle cx="${n(x)}" cy="${n(y)}" r="2"/>`)}</g>`;
}

/** Dials in the row of neighbours, the followed slot's in the middle, and their distance. */
const DIALS = 13;
const APART = 25;

/**
 * The candidates that a track has put into the followed slot and the slots beside it. The row slides when the track changes, as all
 * candidates do; the style sheet moves it, by as many places for every track, since the number of places is secret.
 */
function neighbours(voyage: Voyage, track: number, chosen: number): Html {
  const { indices } = markOf(voyage, 'blind_rotate')?.views.find((v) => v.track === track) ?? {};
  const middle = indices?.indexOf(chosen) ?? -1;
  if (!indices || middle < 0) return html``;
  const dials = Array.from({ length: DIALS }, (_, i) => {
    const place = i - (DIALS - 1) / 2;
    const slot = indices[middle + place];
    if (slot === undefined) return html``;
    const [x, y] = [MIDDLE + place * APART, SIDE - 13];
    const [toX, toY] = on(angle(voyage, 'blind_rotate', slot, track) ?? 0, 9, x, y);
    return html`${circleLine(10, x, y)}<line class="slot-hand${place === 0 ? '' : ' past'}" x1="${n(x)}" y1="${n(y)}" x2="${n(toX)}" y2="${n(toY)}"/>`;
  });
  return html`<g class="slot-row ${track % 2 === 0 ? 'even' : 'odd'}">${dials}</g>`;
}

/** b and the tracks laid end to end: an arc for each, on rings that go outwards, starting where the last arc ended. */
function chain(voyage: Voyage, chosen: number, done: number): Html {
  const sum = sumOf(voyage, chosen);
  if (!sum) return html``;
  const terms = [sum.start, ...sum.tracks.slice(0, done)];
  const step = (RADIUS - 44) / (voyage.preset.tracks + 1);
  let from = 0;
  const arcs = terms.map((term, k) => {
    const radius = 40 + step * (k + 1);
    // The short way round: whole turns do not matter.
    const by = wrapped(term);
    const to = from + by;
    const [[x0, y0], [x1, y1]] = [on(from, radius), on(to, radius)];
    const arc = html`<path class="slot-term${k === terms.length - 1 ? ' latest' : ''}${k === 0 ? ' public' : ''}" d="M${n(x0)} ${n(y0)}A${n(radius)} ${n(radius)} 0 0 ${by > 0 ? 0 : 1} ${n(x1)} ${n(y1)}"/>`;
    from = to;
    return arc;
  });
  return html`${circleLine(RADIUS)}${arcs}${hand(from)}`;
}

/** What the choice is made by: a lock, as nobody who computes can look inside. */
function closedHand(): Html {
  return html`<g class="slot-lock" aria-hidden="true"><rect x="${MIDDLE - 15}" y="${MIDDLE - 6}" width="30" height="23" rx="5"/><path d="M${MIDDLE - 9} ${MIDDLE - 6}v-7a9 9 0 0 1 18 0v7"/></g>`;
}

/** The tree as dials: where two meet, their angles add up. */
function merging(voyage: Voyage, chosen: number, level: number): Html {
  const sum = sumOf(voyage, chosen);
  if (!sum) return html``;
  let row = [sum.start, ...sum.tracks];
  const rows: number[][] = [row];
  for (let l = 1; l <= voyage.preset.treeLevels; l++) {
    row = Array.from({ length: Math.ceil(row.length / 2) }, (_, i) => (row[2 * i] ?? 0) + (row[2 * i + 1] ?? 0));
    rows.push(row);
  }
  const place = (l: number, i: number): [number, number] => [((i + 0.5) * SIDE) / (rows[l]?.length ?? 1), 24 + (l * (SIDE - 80)) / Math.max(1, rows.length - 1)];
  const size = (l: number): number => Math.min(28, (0.42 * SIDE) / (rows[l]?.length ?? 1));
  return html`${rows.map((nodes, l) => (l === 0 ? '' : nodes.flatMap((_, i) => [2 * i, 2 * i + 1].flatMap((from) => {
    if ((rows[l - 1]?.[from]) === undefined) return [];
    const [[x0, y0], [x1, y1]] = [place(l - 1, from), place(l, i)];
    return [html`<line class="slot-edge${l <= level ? ' done' : ''}" x1="${n(x0)}" y1="${n(y0 + size(l - 1))}" x2="${n(x1)}" y2="${n(y1 - size(l))}"/>`];
  }))))}${rows.map((nodes, l) => nodes.map((turns, i) => {
    const [x, y] = place(l, i);
    const [hx, hy] = on(turns, size(l), x, y);
    return html`<circle class="slot-circle" cx="${n(x)}" cy="${n(y)}" r="${n(size(l))}"/>${l <= level ? html`<line class="slot-hand${l === level ? '' : ' past'}" x1="${n(x)}" y1="${n(y)}" x2="${n(hx)}" y2="${n(hy)}"/>` : ''}`;
  }))}`;
}

/** The point and its mirror image: heights cancel, widths add up. */
function mirrored(voyage: Voyage, chosen: number, { value = 0 }: Known): Html {
  const turns = angle(voyage, 'product_tree', chosen, voyage.preset.treeLevels);
  if (turns === undefined) return html``;
  const [[x0, y0], [x1, y1]] = [on(turns, RADIUS), on(-turns, RADIUS)];
  const end = x0 + x1 - MIDDLE;
  return html`${circleLine(RADIUS)}<line class="slot-axis" x1="10" x2="${SIDE - 10}" y1="${MIDDLE}" y2="${MIDDLE}"/>
    ${hand(turns)}<line class="slot-hand past" x1="${MIDDLE}" y1="${MIDDLE}" x2="${n(x1)}" y2="${n(y1)}"/><circle class="slot-mirror" cx="${n(x1)}" cy="${n(y1)}" r="6"/>
    <path class="slot-fold" d="M${n(x0)} ${n(y0)}L${n(end)} ${MIDDLE}L${n(x1)} ${n(y1)}"/><line class="slot-sum" x1="${MIDDLE}" y1="${MIDDLE}" x2="${n(end)}" y2="${MIDDLE}"/>
    ${note(`twice the width, as ${nounOf(voyage) === 'picture' ? 'a grey level' : 'a number'}: ${decimal(value, 4)}`)}`;
}

/** Input and output side by side, and the difference between them, magnified. */
function returned(voyage: Voyage, chosen: number, { value }: Known): Html {
  const expected = voyage.expected[chosen] ?? 0;
  if (value === undefined) return html``;
  const error = value - expected;
  const power = 2 ** Math.max(0, Math.floor(-Math.log2(Math.abs(error) + 2 ** -40)) - 1);
  const length = Math.max(-1, Math.min(1, error * power)) * (MIDDLE - 30);
  return html`${swatch(30, 30, 120, expected, voyage)}${swatch(SIDE - 150, 30, 120, value, voyage)}
    ${label(90, 174, decimal(expected, 5), 'slot-note')}${label(SIDE - 90, 174, decimal(value, 5), 'slot-note')}
    <line class="slot-axis" x1="20" x2="${SIDE - 20}" y1="240" y2="240"/><line class="slot-axis" x1="${MIDDLE}" x2="${MIDDLE}" y1="226" y2="254"/>
    <rect class="slot-error" x="${n(Math.min(MIDDLE, MIDDLE + length))}" y="232" width="${n(Math.abs(length))}" height="16"/>
    ${label(MIDDLE, 284, `error × ${count(power)}`, 'slot-note')}`;
}

/** The moment in a sentence, with the number of this slot where it is known. */
function sentence(voyage: Voyage, at: Moment, chosen: number): string {
  const station = JOURNEY[at.station] ?? 'encrypt';
  const { value, turns } = knownAt(voyage, at, chosen);
  const angle = (digits: number): string => `${decimal(turns, digits)} of a turn`;
  switch (station) {
    case 'encrypt':
      return `${nounOf(voyage) === 'picture' ? 'A grey level' : 'A number'} of ${decimal(value, 4)} is an angle${turns === undefined ? '' : ` of ${angle(5)}`}: on the full circle q₀, messages are a short arc about 0.`;
    case 'exhaust':
      return `${decimal(value, 4)} is still there. But the circle is all that is left: what does not fit on it would come round and be taken for something else.`;
    case 'slots_to_coeffs':
      return `Slot ${chosen} becomes coefficient ${chosen}${value === undefined ? '' : `, and reads ${decimal(value, 4)} there`}.`;
    case 'encapsulate':
      return `Under the sparse key the angle is a sum of ${voyage.preset.tracks + 1} angles${turns === undefined ? '' : `; decrypted, it is ${angle(5)}`}.`;
    case 'encode_phase':
      return `The first of the angles is public: b${turns === undefined ? '' : `, here ${angle(4)} with a public factor`}. The others are among the aⱼ, also public; which of them count is the secret.`;
    case 'blind_rotate':
      return turns === undefined
        ? 'Every track slides all its candidates by a secret number of places.'
        : `Track ${at.part} of ${voyage.preset.tracks}: all candidates slide by the same secret number of places, and ${angle(4)} comes to this slot (the row has its neighbours too). It goes on where the last angle ended. Whoever computes does all slides and cannot tell which one mattered.`;
    case 'product_tree':
      if (at.part < voyage.preset.treeLevels) return `Pairs of unit numbers multiply, so their angles add up.${turns === undefined ? '' : ` After ${at.part} of ${voyage.preset.treeLevels} levels the first of them is ${angle(4)}.`}`;
      return `All ${voyage.preset.tracks + 1} angles have added up${turns === undefined ? '' : ` to ${angle(4)}`}: whole turns have vanished, and what is left is the message, a quarter turn back${value === undefined ? '' : `: ${decimal(value, 4)}`}.`;
    case 'conjugate':
      return `The point and its mirror image: heights cancel, widths add up to the sine, which is the angle${value === undefined ? '' : `, as a number ${decimal(value, 4)}`}. The modulus is large again.`;
    case 'decrypt':
      return value === undefined ? 'Not decrypted yet.' : `${decimal(voyage.expected[chosen], 4)} went in, ${decimal(value, 4)} came back: right to ${bitsOf(voyage, value, chosen)} bits.`;
  }
}
