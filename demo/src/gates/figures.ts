import type { GateEvent, GateView } from 'refloat';
import { count, decimal } from '../format.js';
import { html, type Html } from '../html.js';

/** What was seen of one bootstrapping, in turns. */
export interface Seen {
  /** Phase of the input, and after it was rounded. */
  readonly before?: number;
  readonly rounded?: number;
  /** Coefficients of the accumulator as it is now. */
  readonly accumulator?: Float64Array;
  /** The number of the accumulator's coefficients, if some of them are left out above. */
  readonly coefficients?: number;
  /** Whether it is a recording rather than the reader's own run. */
  readonly recorded?: boolean;
  /** Phase of the result. */
  readonly after?: number;
  /** Milliseconds of work so far; drawing and decrypting for it are not counted. */
  readonly ms?: number;
}

/** Takes in an event. */
export function see(seen: Seen, event: GateEvent): Seen {
  if (event.kind !== 'view') return { ...seen, ms: event.atMs };
  if (event.form === 'polynomial') return { ...seen, accumulator: event.data };
  const [phase = 0] = event.data;
  if (event.stage === 'input') return { ...seen, before: phase };
  if (event.stage === 'mod_switch') return { ...seen, rounded: phase };
  return event.stage === 'sample_extract' ? { ...seen, after: phase } : seen;
}

/** What the places of the circle mean: bits, or integers below `messages` in the upper half, half a place further on if `shifted`. */
export type Meaning = 'bit' | { readonly messages: number; readonly shifted?: boolean };

/** A phase on the circle; the phase after rounding, if there is one, is drawn hollow. */
export function circle(title: string, meaning: Meaning, phase: number | undefined, rounded?: number): Html {
  const words = phase === undefined ? 'not computed yet' : `${phase.toFixed(4)} of a turn${rounded === undefined ? '' : `, after rounding ${rounded.toFixed(4)}`}`;
  return html`<figure><svg viewBox="-112 -104 224 208" role="img" aria-label="${title}: ${words}">
    ${meaning === 'bit' ? bitPlaces() : integerPlaces(meaning.messages, meaning.shifted ? 0.5 : 0)}
    ${hand(rounded, 'second')}${hand(phase, 'first')}</svg>
    <figcaption>${title}: ${words}</figcaption></figure>`;
}

/** The accumulator's coefficients, decrypted; lines at the values of `ticks`. */
export function accumulator({ accumulator: data, coefficients = data?.length ?? 0 }: Seen, largest: number, ticks: readonly { readonly at: number; readonly label: string }[]): Html {
  const scale = 80 / (2 * largest);
  return html`<figure><svg viewBox="-46 -104 274 208" role="img" aria-label="Coefficients of the accumulator, in turns">
    ${ticks.map(({ at, label }) => html`<line class="grid" x1="0" x2="224" y1="${-at * scale}" y2="${-at * scale}"/><text x="-12" y="${4 - at * scale}" text-anchor="end">${label}</text>`)}
    ${data ? html`<polyline class="gates-line" points="${points(data, 224, scale)}"/><circle class="gates-dot first" cx="0" cy="${(-(data[0] ?? 0) * scale).toFixed(1)}" r="6"/>` : ''}</svg>
    <figcaption>Accumulator: ${data ? `${count(coefficients)} coefficients${coefficients > DRAWN ? `, one in ${coefficients / DRAWN} of them drawn` : ''}; the first is the result` : 'not computed yet'}</figcaption></figure>`;
}

/** The three small pictures of a gate: before, accumulator, after. */
export function small(name: string, { before, accumulator: data, after }: Seen): Html {
  const dial = (what: string, phase: number | undefined): Html =>
    html`<svg class="gates-dial" viewBox="-100 -100 200 200" role="img" aria-label="${name}, ${what}: ${phase === undefined ? 'not computed yet' : `${phase.toFixed(3)} of a turn`}">${halves()}${hand(phase, 'first', 12)}</svg>`;
  return html`${dial('phase before', before)}<svg class="gates-trace" viewBox="0 -60 300 120" preserveAspectRatio="none" role="img" aria-label="${name}, accumulator: ${data ? `first coefficient ${(data[0] ?? 0).toFixed(3)} of a turn` : 'not computed yet'}"><line class="grid" x1="0" x2="300" y1="0" y2="0"/>${data ? html`<polyline class="gates-line" points="${points(data, 300, 320)}"/>` : ''}</svg>${dial('phase after', after)}`;
}

/** Most coefficients that are drawn; the accumulator has a power of two of them. */
const DRAWN = 256;

function points(data: Float64Array, width: number, scale: number): string {
  const step = Math.max(1, Math.floor(data.length / DRAWN));
  return Array.from({ length: Math.floor(data.length / step) }, (_, i) => `${((i * step * width) / data.length).toFixed(1)},${(-(data[i * step] ?? 0) * scale).toFixed(1)}`).join(' ');
}

function at(turns: number, r: number): [string, string] {
  return [(Math.cos(2 * Math.PI * turns) * r).toFixed(2), (-Math.sin(2 * Math.PI * turns) * r).toFixed(2)];
}

function hand(turns: number | undefined, kind: 'first' | 'second', r = 6): Html | string {
  if (turns === undefined) return '';
  const [x, y] = at(turns, 80);
  return html`<line class="gates-hand ${kind}" x1="0" y1="0" x2="${x}" y2="${y}"/><circle class="gates-dot ${kind}" cx="${x}" cy="${y}" r="${r}"/>`;
}

function halves(): Html {
  return html`<path class="gates-half one" d="M-80 0A80 80 0 0 1 80 0Z"/><path class="gates-half zero" d="M-80 0A80 80 0 0 0 80 0Z"/>`;
}

function label(turns: number, text: string): Html {
  const [x, y] = at(turns, 95);
  return html`<text x="${x}" y="${y}" text-anchor="middle" dominant-baseline="middle">${text}</text>`;
}

function bitPlaces(): Html {
  return html`${halves()}${[-3, -1, 1, 3].map((eighths) => label(eighths / 8, `${decimal(eighths, 0)}/8`))}<text x="0" y="-34" text-anchor="middle">1</text><text x="0" y="42" text-anchor="middle">0</text>`;
}

/** Integer m at m / 2t of a turn, or half a place further; everything between two lines counts as the integer between them. */
function integerPlaces(messages: number, shift: number): Html {
  const turn = (m: number): number => (m + shift) / (2 * messages);
  return html`${halves()}${Array.from({ length: messages + 1 }, (_, m) => {
    const [x, y] = at(turn(m - 0.5), 80);
    return html`<line class="gates-edge" x1="0" y1="0" x2="${x}" y2="${y}"/>`;
  })}${Array.from({ length: messages }, (_, m) => label(turn(m), String(m)))}`;
}

/** The ticks of bits. */
export const BIT_TICKS = [-1, 0, 1].map((eighths) => ({ at: eighths / 8, label: eighths === 0 ? '0' : `${decimal(eighths, 0)}/8` }));

/** Whether the event has something new to draw. */
export function isView(event: GateEvent): event is GateView {
  return event.kind === 'view';
}
