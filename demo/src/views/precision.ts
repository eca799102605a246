import { decimal, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { JOURNEY, STATIONS } from '../stages.js';
import type { State } from '../store.js';
import { measuredAt, reached, underway, type Voyage } from '../voyage.js';
import { figure, type Table } from './figure.js';
import { caption, drawing, label, n } from './svg.js';
import { columns } from './tide.js';
import { progressOf } from './words.js';

/** The precision lane: correct bits at every station where the key holder can measure them. */
export function precision(state: State, voyage: Voyage | undefined, width: number): Html {
  return figure(state, {
    id: 'precision',
    title: 'Precision',
    drawing: chart(state, voyage, width),
    caption: html`${precisionSentence(voyage, state.at.station)} <span class="unit">Vertical: −log₂ of the error, against the exact value of each stage. Diamond, with its number: the worst slot. Ring: all slots together (root mean square).${voyage ? ` Dashed: the ${decimal(voyage.preset.promisedBits)} bits promised for the worst slot at the end.` : ''}</span>`,
    table: precisionTable(voyage),
  });
}

/** The lane in a sentence, from the data. */
export function precisionSentence(voyage: Voyage | undefined, station: number): string {
  if (!voyage) return 'No voyage yet: no error has been measured.';
  const name = JOURNEY[station] ?? 'encrypt';
  const found = measuredAt(voyage, name);
  const now = underway(voyage);
  if (found) {
    const { bitsMax, bitsRms } = found.quality;
    const [worst, rms] = [decimal(bitsMax), decimal(bitsRms)];
    if (found.when === 'after' || !now) return `After “${STATIONS[name].title}”: the worst slot is right to ${worst} bits, all slots together to ${rms} bits (rms).`;
    return found.when === 'so far'
      ? `${progressOf(voyage, now)}. So far the worst slot is right to ${worst} bits, all slots together to ${rms} bits (rms).`
      : `${progressOf(voyage, now)}. Before it the worst slot was right to ${worst} bits, all slots together to ${rms} bits (rms).`;
  }
  if (voyage.place === 'server' && name !== 'decrypt') {
    return 'On the server nobody can look inside: precision is known before the journey and after it, where your key decrypts.';
  }
  if (name === 'encode_phase' && reached(voyage, name)) return `“${STATIONS[name].title}” makes plaintexts: there is no error to measure.`;
  if (now?.station === name) return `${progressOf(voyage, now)}. Nothing in it has been measured yet.`;
  return `“${STATIONS[name].title}” has not been measured yet.`;
}

function precisionTable(voyage: Voyage | undefined): Table {
  return {
    columns: ['Station', 'Worst slot, bits', 'rms, bits', 'Largest error', 'rms error'],
    rows: JOURNEY.map((name) => {
      const found = voyage && measuredAt(voyage, name);
      const q = found?.when === 'before' ? undefined : found?.quality;
      return [`${STATIONS[name].title}${found?.when === 'so far' ? ', so far' : ''}`, decimal(q?.bitsMax, 2), decimal(q?.bitsRms, 2), scientific(q?.maxError), scientific(q?.rmsError)];
    }),
  };
}

function chart(state: State, voyage: Voyage | undefined, width: number): Html {
  const { left, step, narrow } = columns(width);
  const top = 16;
  const lane = narrow ? 96 : 128;
  const bottom = top + lane;
  const height = bottom + (narrow ? 20 : step < 108 ? 40 : 26);
  const right = left + step * JOURNEY.length;
  const measured = JOURNEY.map((name) => voyage && measuredAt(voyage, name));
  const most = Math.max(12, ...measured.map((m) => (m && Number.isFinite(m.quality.bitsRms) ? m.quality.bitsRms : 0))) + 2;
  const y = (bits: number): number => bottom - (Math.min(bits, most) / most) * lane;

  const ticks = [];
  for (let bits = 0; bits < most; bits += most > 24 ? 8 : 4) {
    ticks.push(html`<line class="grid" x1="${n(left)}" x2="${n(right)}" y1="${n(y(bits))}" y2="${n(y(bits))}"/>${label(left - 8, y(bits) + 4, bits, 'tick', 'end')}`);
  }
  const promise = voyage?.preset.promisedBits;
  const marks = measured.map((found, i) => {
    const x = left + (i + 0.5) * step;
    if (!found) return null;
    const q = found.quality;
    const r = narrow ? 4 : 5;
    const yMax = y(q.bitsMax);
    return html`<g class="bits${i === state.at.station ? ' here' : ''}${found.when === 'after' ? '' : ' underway'}">
      <line class="bits-span" x1="${n(x)}" x2="${n(x)}" y1="${n(y(q.bitsRms))}" y2="${n(yMax)}"/>
      <circle class="bits-rms" cx="${n(x)}" cy="${n(y(q.bitsRms))}" r="${n(r - 1)}"/>
      <path class="bits-max" d="M${n(x)} ${n(yMax - r)}L${n(x + r)} ${n(yMax)}L${n(x)} ${n(yMax + r)}L${n(x - r)} ${n(yMax)}Z"/>
      ${label(x + r + 4, yMax + 4, narrow ? '' : decimal(q.bitsMax), 'bits-label', 'start')}
      ${narrow && label(x, yMax + 17, decimal(q.bitsMax, 0), 'bits-label')}
    </g>`;
  });
  const description = `Bits of precision by station. ${JOURNEY.map((s, i) => {
    const { quality: q, when } = measured[i] ?? {};
    return q ? `${STATIONS[s].title}${when === 'after' ? '' : when === 'so far' ? ', so far' : ', before it'}: worst slot ${decimal(q.bitsMax)}, rms ${decimal(q.bitsRms)}` : '';
  })
    .filter(Boolean)
    .join('; ')}.`;

  return drawing(width, height, description, 'precision', html`
    <rect class="column-here" x="${n(left + state.at.station * step)}" y="2" width="${n(step)}" height="${n(height - 4)}" rx="3"/>
    ${ticks}
    ${
      promise !== undefined &&
      html`<line class="promise" x1="${n(left)}" x2="${n(right)}" y1="${n(y(promise))}" y2="${n(y(promise))}"/>${!narrow && label(left + 4, y(promise) - 6, `promised at the end: ${decimal(promise)} bits`, 'promise-label', 'start')}`
    }
    ${marks}
    ${JOURNEY.map((name, i) => narrow ? label(left + (i + 0.5) * step, height - 6, i + 1, i === state.at.station ? 'station here' : 'station') : caption(left + (i + 0.5) * step, bottom + 20, STATIONS[name].short, i === state.at.station ? 'station here' : 'station', step))}
    ${JOURNEY.map((_, i) => html`<rect class="hit" data-act="station:${i}" x="${n(left + i * step)}" y="0" width="${n(step)}" height="${n(height)}"/>`)}`);
}
