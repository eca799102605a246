import { decimal, plural } from '../format.js';
import { html, type Html } from '../html.js';
import { JOURNEY, STATIONS } from '../stages.js';
import type { State } from '../store.js';
import { newest, standingAt, waterAt, type Standing, type Voyage } from '../voyage.js';
import { progressOf } from './words.js';
import { boat, drawing, label, n } from './svg.js';

/**
 * Height of the drawing, space above the deepest water, length of the boat and bits between marks: low on a phone, where text and button
 * need the room.
 */
const HIGH = { height: 220, top: 78, boat: 70, bits: 50 };
const LOW = { height: 120, top: 46, boat: 40, bits: 100 };
/** Least width for the high drawing: that of the column in a window of 512 pixels, as in narrow.css. */
const WIDE = 480;

/** How deep the hull lies in the water, as a fraction of its length. */
const DRAUGHT = 8 / 70;

/** The ciphertext at the selected station; at the latest one that has begun if the selected one lies ahead. */
function standing(state: State, voyage: Voyage | undefined): (Standing & { readonly station: number }) | undefined {
  if (!voyage) return undefined;
  const station = Math.min(state.at.station, newest(voyage));
  const found = station < 0 ? undefined : standingAt(voyage, JOURNEY[station] ?? 'encrypt');
  return found && { ...found, station };
}

/** What the gauge says: the modulus, and the multiplications that still fit. */
export function gaugeSentence(state: State, voyage: Voyage | undefined): { figure: string; text: string } {
  const found = standing(state, voyage);
  if (!voyage || !found) return { figure: '', text: 'No ciphertext yet: the boat lies on the bank.' };
  const title = STATIONS[JOURNEY[found.station] ?? 'encrypt'].title;
  const left = Math.max(0, found.water.level - voyage.preset.inputLevel);
  const inside = found.station > 1 && found.station < 7;
  const figure = `${decimal(found.water.logQ, 0)} bits`;
  if (found.underway) return { figure, text: `${progressOf(voyage, found.underway)}.` };
  if (inside) return { figure, text: `Inside the bootstrapping: ${title.toLowerCase()}.` };
  return { figure, text: left === 0 ? 'Exhausted and aground: no multiplication fits any more. What is left is kept for the first stage of a bootstrapping.' : `Afloat: ${plural(left, 'multiplication')} can be spent.` };
}

/**
 * The modulus that products cannot spend, in bits: that of an exhausted ciphertext. Until that is reached, it is computed from the fresh
 * one.
 */
function kept({ spent, fresh, preset: { inputLevel } }: Voyage): number {
  return spent?.logQ ?? (fresh ? fresh.logQ - (fresh.level - inputLevel) * fresh.logScale : 0);
}

/** The water-line gauge of the first screen: how deep the modulus is under the ciphertext now, over the shoal that products leave. */
export function gauge(state: State, voyage: Voyage | undefined, width: number): Html {
  const { height, top, boat: length, bits: step } = width < WIDE ? LOW : HIGH;
  const bed = height - 22;
  const draught = DRAUGHT * length;
  const water = standing(state, voyage)?.water;
  const deepest = voyage ? Math.max(64, ...JOURNEY.map((s) => waterAt(voyage, s)?.logQ ?? 0)) : 200;
  const perBit = (bed - top) / deepest;
  const depth = water ? water.logQ * perBit : 0;
  const y = bed - depth;
  const shoal = bed - (voyage ? kept(voyage) : 0) * perBit;
  const staff = width - 34;
  const x = Math.min(width * 0.42, staff - 90);
  const said = gaugeSentence(state, voyage);
  const ticks = [];
  for (let bits = 0; bits <= deepest; bits += step) {
    ticks.push(html`<line class="staff-tick" x1="${n(staff)}" x2="${n(staff + 7)}" y1="${n(bed - bits * perBit)}" y2="${n(bed - bits * perBit)}"/>${label(staff + 11, bed - bits * perBit + 4, bits, 'tick', 'start')}`);
  }
  // The shoal under the boat is as high as the modulus that products leave; beside it is all of the modulus.
  const [edge, foot] = [x + length, Math.min(x + 150, staff - 24)];
  const bank = `M0 ${n(shoal)}H${n(edge)}C${n((edge + foot) / 2)} ${n(shoal)} ${n((edge + foot) / 2)} ${n(bed)} ${n(foot)} ${n(bed)}H${n(width)}V${height}H0Z`;
  const keel = water ? water.logScale * perBit : 0;
  // A hull lies a little deep in the water; aground it leans over.
  const afloat = shoal - y > draught;
  return html`${drawing(width, height, `${said.figure} ${said.text}`, 'gauge', html`
    <defs>
      <linearGradient id="gauge-water" x1="0" y1="0" x2="0" y2="1"><stop offset="0" class="water-top"/><stop offset="1" class="water-bottom"/></linearGradient>
      <pattern id="gauge-ground" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="7" class="ground-line"/></pattern>
      <clipPath id="gauge-clip"><rect x="0" y="0" width="${n(staff)}" height="${height}"/></clipPath>
    </defs>
    <g clip-path="url(#gauge-clip)">
      <g class="gauge-water" style="transform:translateY(${n(y)}px)"><rect x="0" y="0" width="${n(staff)}" height="${height}" fill="url(#gauge-water)"/><path class="water-line" d="M0 0H${n(staff)}"/></g>
      <path class="ground" d="${bank}"/><path d="${bank}" fill="url(#gauge-ground)"/><path class="ground-top" fill="none" d="${bank.split('V')[0] ?? ''}"/>
      ${bed - shoal > 18 && label(12, bed + 12, 'kept for bootstrapping', 'sub', 'start')}
      ${water && afloat ? boat(x, y, length, Math.min(keel, shoal - y)) : html`<g class="heeled" style="transform:translate(${n(x)}px,${n(shoal - draught)}px) rotate(-8deg)">${boat(0, 0, length, 0)}</g>`}
    </g>
    <line class="staff" x1="${n(staff)}" x2="${n(staff)}" y1="${n(top - 14)}" y2="${n(bed)}"/>${ticks}
    ${water && html`<path class="staff-mark" style="transform:translate(${n(staff)}px,${n(y)}px)" d="M0 0L-9 -6V6Z"/>`}`)}
    <p class="gauge-text">${said.figure && html`<strong>${said.figure}</strong> of modulus. `}${said.text}${voyage?.recorded && ' A recorded voyage; press Refloat for your own.'}</p>`;
}
