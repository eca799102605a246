import { decimal, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { JOURNEY, STATIONS } from '../stages.js';
import type { State } from '../store.js';
import { qualityAt, type Voyage } from '../voyage.js';
import { figure, type Table } from './figure.js';
import { caption, drawing, label, n } from './svg.js';
import { columns } from './tide.js';

/** The precision lane: bits correct at every station where the key holder can measure them. */
export function precision(state: State, voyage: Voyage | undefined, width: number): Html {
  return figure(state, {
    id: 'precision',
    title: 'Precision',
    drawing: chart(state, voyage, width),
    caption: html`${precisionSentence(voyage, state.at.station)} <span class="unit">Vertical: −log₂ of the error, against the exact value of each stage. Diamond: worst slot. Ring: root mean square.${voyage ? ` Dashed: the ${decimal(voyage.preset.promisedBits)} bits promised for the end.` : ''}</span>`,
    table: precisionTable(voyage),
  });
}

/** The lane in a sentence, from the data. */
export function precisionSentence(voyage: Voyage | undefined, station: number): string {
  if (!voyage) return 'No voyage yet: no error has been measured.';
  const name = JOURNEY[station] ?? 'encrypt';
  const q = qualityAt(voyage, name);
  if (q) {
    return `After “${STATIONS[name].title}”: the worst slot is right to ${decimal(q.bitsMax)} bits, all slots together to ${decimal(q.bitsRms)} bits (rms).`;
  }
  if (voyage.place === 'server' && name !== 'decrypt') {
    return 'On the server nobody can look inside: precision is known before the journey and after it, where your key decrypts.';
  }
  return `“${STATIONS[name].title}” has not been measured yet.`;
}

function precisionTable(voyage: Voyage | undefined): Table {
  return {
    columns: ['Station', 'Worst slot, bits', 'rms, bits', 'Largest error', 'rms error'],
    rows: JOURNEY.map((name) => {
      const q = voyage && qualityAt(voyage, name);
      return [STATIONS[name].title, decimal(q?.bitsMax, 2), decimal(q?.bitsRms, 2), scientific(q?.maxError), scientific(q?.rmsError)];
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
  const measured = JOURNEY.map((name) => voyage && qualityAt(voyage, name));
  const most = Math.max(12, ...measured.map((q) => (q && Number.isFinite(q.bitsRms) ? q.bitsRms : 0))) + 2;
  const y = (bits: number): number => bottom - (Math.min(bits, most) / most) * lane;

  const ticks = [];
  for (let bits = 0; bits < most; bits += most > 24 ? 8 : 4) {
    ticks.push(html`<line class="grid" x1="${n(left)}" x2="${n(right)}" y1="${n(y(bits))}" y2="${n(y(bits))}"/>${label(left - 8, y(bits) + 4, bits, 'tick', 'end')}`);
  }
  const promise = voyage?.preset.promisedBits;
  const marks = measured.map((q, i) => {
    const x = left + (i + 0.5) * step;
    if (!q) return null;
    const r = narrow ? 4 : 5;
    const yMax = y(q.bitsMax);
    return html`<g class="bits${i === state.at.station ? ' here' : ''}">
      <line class="bits-span" x1="${n(x)}" x2="${n(x)}" y1="${n(y(q.bitsRms))}" y2="${n(yMax)}"/>
      <circle class="bits-rms" cx="${n(x)}" cy="${n(y(q.bitsRms))}" r="${n(r - 1)}"/>
      <path class="bits-max" d="M${n(x)} ${n(yMax - r)}L${n(x + r)} ${n(yMax)}L${n(x)} ${n(yMax + r)}L${n(x - r)} ${n(yMax)}Z"/>
      ${label(x + r + 4, yMax + 4, narrow ? '' : decimal(q.bitsMax), 'bits-label', 'start')}
      ${narrow && label(x, yMax + 17, decimal(q.bitsMax, 0), 'bits-label')}
    </g>`;
  });
  const description = `Bits of precision by station. ${JOURNEY.map((s, i) => {
    const q = measured[i];
    return q ? `${STATIONS[s].title}: worst slot ${decimal(q.bitsMax)}, rms ${decimal(q.bitsRms)}` : '';
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
