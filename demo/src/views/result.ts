import { bytes, count, decimal, duration, plural, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import type { State } from '../store.js';
import { levelsOf } from '../levels.js';
import { bootstrapMs, nounOf, type Voyage } from '../voyage.js';
import { isCurve } from './canvas.js';
import { figure, type Table } from './figure.js';
import { problem } from './problem.js';

/** Before, after and the difference. */
export function result(state: State, voyage: Voyage | undefined): Html {
  return figure(state, {
    id: 'result',
    title: 'Before and after',
    drawing: voyage
      ? triptych(voyage, 'shown', [
          ['before', 'put in'],
          ['after', 'came back'],
          ['error', 'difference'],
        ])
      : html`<p class="empty">Press Refloat, and what comes back will be compared with what you put in.</p>`,
    caption: html`${resultSentence(voyage)} ${voyage?.result && html`<span class="unit">${isCurve(voyage) ? 'Difference: stretched so that the largest error has full height.' : 'Difference: blue too dark, orange too light, at full colour for the largest error.'}</span>`}`,
    table: resultTable(voyage),
  });
}

/** Pictures side by side, each under its name. */
export function triptych(voyage: Voyage, who: string, panels: readonly (readonly [string, string])[]): Html {
  const shape = `--w:${voyage.width};--h:${voyage.height}`;
  return html`<div class="triptych">${panels.map(([what, title]) => {
    const present = what === 'before' || what === 'expected' || voyage.result !== undefined;
    return html`<div class="panel">${
      present
        ? html`<canvas class="picture" style="${shape}" data-own data-canvas="${who}.${what}" role="img" aria-label="${title}" data-key="${what}"></canvas>`
        : html`<div class="picture pending" style="${shape}" data-key="pending"></div>`
    }<p class="canvas-label">${title}</p></div>`;
  })}</div>`;
}

/** The result in a sentence, from the data. */
export function resultSentence(voyage: Voyage | undefined): string {
  if (!voyage?.result) return voyage ? 'The refreshed ciphertext has not been decrypted yet.' : '';
  const q = voyage.result.quality;
  const promised = voyage.preset.promisedBits;
  const exact = voyage.preset.mode === 'bits' ? `${bitSentence(voyage.result.slots, voyage.expected)} ` : '';
  const verdict = voyage.squared ? '' : q.bitsMax >= promised ? `, where ${decimal(promised)} are promised` : `, below the promised ${decimal(promised)}`;
  // From black to white is 2, or 255 grey levels.
  const greys = nounOf(voyage) === 'picture' && !exact ? ` No pixel is off by more than ${decimal(q.maxError * 127.5)} of 255 grey levels.` : '';
  const ms = bootstrapMs(voyage);
  return `${exact}The worst slot is right to ${decimal(q.bitsMax, 2)} bits${verdict}, all slots together (root mean square) to ${decimal(q.bitsRms, 2)}.${greys}${ms === undefined ? '' : ` The bootstrapping took ${duration(ms)}.`} Level ${voyage.result.level}: ${levelsOf(voyage.result.level, voyage.preset.inputLevel)}.`;
}

/** How many bits came back right, once they are rounded. */
function bitSentence(found: Float64Array, expected: Float64Array): string {
  const wrong = expected.reduce((sum, bit, i) => sum + (Math.round(found[i] ?? Number.NaN) === bit ? 0 : 1), 0);
  return wrong === 0 ? `All ${count(expected.length)} bits came back right.` : `${count(wrong)} of ${count(expected.length)} bits came back wrong.`;
}

function resultTable(voyage: Voyage | undefined): Table {
  const q = voyage?.result?.quality;
  const around = voyage?.timings ?? {};
  const timed: [string, number | undefined][] = [
    ['Making the keys', around.keygenMs],
    ['Making and uploading the keys', around.uploadMs],
    ['Encrypting', around.encryptMs],
    ['Bootstrapping', voyage && bootstrapMs(voyage)],
    ['Decrypting', around.decryptMs],
  ];
  return {
    columns: ['Figure', 'Value'],
    rows: [
      ['Worst slot, bits', decimal(q?.bitsMax, 2)],
      ['Root mean square, bits', decimal(q?.bitsRms, 2)],
      ['Largest error', scientific(q?.maxError)],
      ['rms error', scientific(q?.rmsError)],
      ['Level after', voyage?.result?.level ?? '–'],
      ...(voyage?.memory ? [[`Memory, ${plural(voyage.memory.instances, 'wasm instance')}`, bytes(voyage.memory.bytes)]] : []),
      ...timed.flatMap(([name, ms]) => (ms === undefined ? [] : [[name, duration(ms)]])),
    ],
  };
}

/** Squares what was refreshed, bootstraps again and decrypts: the level gained is really there. */
export function again(state: State, voyage: Voyage | undefined): Html {
  const second = state.again[state.shown];
  const ready = voyage?.result !== undefined && !voyage.recorded && voyage.state === 'done';
  const action = html`<button type="button" class="secondary" data-act="again"${!ready || state.busy !== undefined ? html` disabled` : ''}>Square it and refloat again</button>`;
  return html`<section class="band again" id="again" aria-labelledby="again-title">
    <div class="section-text">
      <h2 id="again-title">Afloat means: it can be used</h2>
      <p>A refreshed ciphertext has a level for products again. Spend it: square every slot under encryption, which exhausts the ciphertext, and bootstrap the square. ${voyage?.preset.mode === 'bits' ? 'A bit is its own square: the same bits are to come back.' : voyage && nounOf(voyage) !== 'picture' ? '−1 and 1 both become 1, and 0 stays 0.' : 'Black and white are −1 and 1, so both turn white, and mid-grey stays mid-grey.'}</p>
      ${action}
      ${problem(state, 'again')}
      ${!ready && !second && html`<p class="hint">Available when a voyage of your own has come back.</p>`}
    </div>
    ${
      second &&
      figure(state, {
        id: 'again',
        title: 'Squared, then bootstrapped again',
        drawing: triptych(second, 'again', [
          ['expected', 'exact square'],
          ['after', 'came back'],
          ['error', 'difference'],
        ]),
        caption: html`${resultSentence(second)} ${second.result && voyage?.result && html`The first bootstrapping gave ${decimal(voyage.result.quality.bitsMax, 2)} bits; squaring doubles the error where the slot is ±1.`}`,
        table: resultTable(second),
      })
    }
  </section>`;
}
