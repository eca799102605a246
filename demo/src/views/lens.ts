import { bytes, count, decimal, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { JOURNEY, STATIONS } from '../stages.js';
import type { State } from '../store.js';
import { specimenAt, viewAt, type Voyage } from '../voyage.js';
import { gathered, planeAt, seenAt } from './shown-values.js';
import { figure, type Table } from './figure.js';
import { followed } from './slot.js';

/** The lens: what the key holder sees in the ciphertext at the selected moment. */
export function lens(state: State, voyage: Voyage | undefined): Html {
  const station = JOURNEY[state.at.station] ?? 'encrypt';
  const specimen = voyage && specimenAt(voyage, station);
  const seen = voyage && seenAt(voyage, state.at);
  const shape = voyage ? `--w:${voyage.width};--h:${voyage.height}` : '';
  const outside =
    specimen && station !== 'decrypt'
      ? html`<div class="pair-item"><canvas class="bytes" data-own data-canvas="shown.bytes" role="img" aria-label="Bytes of the ciphertext as grey levels: noise" data-key="bytes"></canvas><p class="canvas-label">without the key: ${bytes(specimen.bytes)}</p></div>`
      : null;
  const inside = seen
    ? html`<div class="pair-item"><canvas class="picture" style="${shape}" data-own data-canvas="shown.lens" role="img" aria-label="${lensSentence(state, voyage)}" data-key="lens"></canvas><p class="canvas-label">with the key</p></div>`
    : html`<p class="empty">${voyage?.place === 'server' && state.at.station > 1 ? 'This stage happened on the server. Its ciphertexts never came here, so there is nothing to decrypt; levels and times are all that can be shown.' : station === 'encode_phase' && voyage && voyage.marks.length > 2 ? 'Nothing to decrypt: these are plaintexts, made from the public half of the ciphertext.' : 'Nothing to decrypt here yet.'}</p>`;
  return figure(state, {
    id: 'lens',
    title: 'What the key sees',
    drawing: html`<div class="pair">${outside}${inside}</div>`,
    caption: html`${lensSentence(state, voyage)}`,
    table: slotTable(state, voyage),
  });
}

/** How many slots or coefficients are drawn, and of how many if not all are. */
function portion(drawn: number, { input: { length } }: Voyage, what = 'slots'): string {
  return `${drawn < length ? `${count(drawn)} of ${count(length)}` : count(drawn)} ${what}`;
}

/** The lens in a sentence, from the data. */
export function lensSentence(state: State, voyage: Voyage | undefined): string {
  const station = JOURNEY[state.at.station] ?? 'encrypt';
  if (!voyage) return 'No voyage yet.';
  const view = viewAt(voyage, state.at);
  const specimen = specimenAt(voyage, station);
  const seen = seenAt(voyage, state.at);
  const stands = seen && seen.values.length < voyage.input.length ? `, each of which stands for ${count(voyage.input.length / seen.values.length)}` : '';
  if (view) return `${STATIONS[station].lens} ${portion(seen?.values.length ?? 0, voyage)}${stands}; largest error of all ${scientific(view.maxError)}.`;
  if (specimen) return `${STATIONS[station].lens} ${count(specimen.slots.length)} slots, largest error ${scientific(specimen.quality.maxError)}.`;
  if (voyage.place === 'server') return 'No view: this stage ran on the server, under encryption.';
  return station === 'encode_phase' ? STATIONS[station].lens : 'No view of this stage yet.';
}

function slotTable(state: State, voyage: Voyage | undefined): Table {
  const seen = voyage && seenAt(voyage, state.at);
  const rows: (string | number)[][] = [];
  if (seen && voyage) {
    const points = Math.min(64, seen.values.length);
    for (let i = 0; i < points; i++) {
      const slot = seen.indices?.[i] ?? i;
      rows.push([slot, decimal(voyage.expected[slot], 4), decimal(seen.values[i], 4)]);
    }
  }
  return { columns: ['Slot (first 64)', 'Message', 'Seen'], rows };
}

/** The unit circle: the slots as complex numbers. */
export function circle(state: State, voyage: Voyage | undefined): Html {
  const plane = voyage && planeAt(voyage, state.at);
  const slot = voyage ? followed(state, voyage) : 0;
  return figure(state, {
    id: 'circle',
    title: 'Unit circle',
    drawing: plane
      ? html`<div class="circle-wrap"><canvas class="circle" data-own data-canvas="shown.circle" role="img" aria-label="${circleSentence(state, voyage)}" data-key="circle"></canvas></div>
        <label class="slot-picker"><span>Slot</span><input type="range" min="0" max="${(voyage?.input.length ?? 1) - 1}" value="${slot}" data-input="slot"><output>${count(slot)}</output></label>`
      : html`<p class="empty">${voyage?.place === 'server' ? 'The slots of this stage stayed on the server, encrypted.' : JOURNEY[state.at.station] === 'encode_phase' && voyage ? 'The points of this stage are public; the next stage turns them by secret amounts.' : 'Nothing to draw here yet.'}</p>`,
    caption: html`${circleSentence(state, voyage)} <span class="unit">One point for each, coloured by its message from low (blue) to high (orange).</span>`,
    table: planeTable(state, voyage),
  });
}

/** The circle in a sentence, from the data. */
export function circleSentence(state: State, voyage: Voyage | undefined): string {
  const plane = voyage && planeAt(voyage, state.at);
  if (voyage && voyage.place !== 'server' && JOURNEY[state.at.station] === 'encode_phase') return 'The first drawing, of one slot, has them.';
  if (!voyage || !plane) return 'No slots to draw.';
  const spread = (gathered(plane.points).spread * 180) / Math.PI;
  const drawn = plane.points.length / 2;
  const points = portion(drawn, voyage);
  const view = viewAt(voyage, state.at)?.view;
  if (view === 'coefficients') return `${portion(drawn, voyage, 'coefficients')}, real numbers.`;
  if (view === 'phases') return `${portion(drawn, voyage, 'coefficients')} as angles: multiples of the modulus are whole turns. All messages lie on an arc of ${decimal(spread, 0)}°.`;
  if (specimenAt(voyage, JOURNEY[state.at.station]) || JOURNEY[state.at.station] === 'conjugate') return `${points}, all on the real axis.`;
  return spread < 330
    ? `${points}, gathered on an arc of ${decimal(spread, 0)}°, at radius ${decimal(plane.radius, 2)}.`
    : `${points}, spread around the whole circle, at radius ${decimal(plane.radius, 2)}.`;
}

function planeTable(state: State, voyage: Voyage | undefined): Table {
  const plane = voyage && planeAt(voyage, state.at);
  const rows: (string | number)[][] = [];
  if (plane) {
    for (let i = 0; i < Math.min(64, plane.points.length / 2); i++) {
      const re = plane.points[2 * i] ?? 0;
      const im = plane.points[2 * i + 1] ?? 0;
      rows.push([plane.indices?.[i] ?? i, decimal(re, 4), decimal(im, 4), decimal((Math.atan2(im, re) * 180) / Math.PI, 1)]);
    }
  }
  return { columns: ['Slot (first 64)', 'Real part', 'Imaginary part', 'Angle, degrees'], rows };
}
