import { html, type Html } from '../html.js';
import { EASEL } from '../input/easel.js';
import { gridFor, type InputKind } from '../input/source.js';
import { chosenPreset, type State } from '../store.js';
import { problem } from './problem.js';

const KINDS: readonly (readonly [InputKind, string])[] = [
  ['boat', 'Picture'],
  ['draw', 'Draw'],
  ['curve', 'Curve'],
  ['numbers', 'Numbers'],
];

/** The input card: what will be encrypted, and the ways to change it. */
export function inputs(state: State, open: InputKind): Html {
  const preset = chosenPreset(state);
  const grid = gridFor(preset?.slots ?? 512);
  const tab = open === 'file' ? 'boat' : open;
  return html`
    <div class="tabs" role="tablist" aria-label="What to encrypt">${KINDS.map(
      ([kind, name]) => html`<button type="button" role="tab" id="tab-${kind}" aria-selected="${tab === kind ? 'true' : 'false'}" aria-controls="input-panel" tabindex="${tab === kind ? 0 : -1}" data-act="tab:${kind}">${name}</button>`,
    )}</div>
    <div class="input-panel" id="input-panel" role="tabpanel" aria-labelledby="tab-${tab}" data-key="${tab}">
      ${tab === 'boat' && picture(state, grid)}
      ${tab === 'draw' && html`<canvas class="easel" style="--w:${grid.width};--h:${grid.height}" data-own data-easel width="${(EASEL.height * grid.width) / grid.height}" height="${EASEL.height}" role="img" aria-label="Easel: paint with the mouse or a finger"></canvas><p class="hint">Paint with the mouse or a finger: ${grid.width} × ${grid.height} grey levels are used. ${eraser()}</p>`}
      ${tab === 'curve' && html`<canvas class="easel curve" data-own data-curve role="img" aria-label="Curve: draw with the mouse or a finger, or choose a shape below"></canvas><div class="buttons"><button type="button" class="quiet" data-act="curve:sine">Sine</button><button type="button" class="quiet" data-act="curve:ramp">Ramp</button><button type="button" class="quiet" data-act="curve:steps">Steps</button><button type="button" class="quiet" data-act="curve:row">A row of the picture</button></div>`}
      ${tab === 'numbers' && html`<label class="numbers">Numbers between −1 and 1, separated by spaces or commas<textarea rows="5" spellcheck="false" inputmode="text" data-input="numbers" data-own></textarea></label><p class="hint">One number per slot, at most ${grid.width * grid.height}; the rest stay 0.</p>`}
      ${problem(state, 'input')}
    </div>`;
}

function eraser(): Html {
  return html`<button type="button" class="quiet" data-act="clear-easel">Clear</button>`;
}

function picture(state: State, grid: { width: number; height: number }): Html {
  const preset = chosenPreset(state);
  return html`<div class="drop" data-drop>
      <canvas class="picture" style="--w:${grid.width};--h:${grid.height}" data-own data-canvas="input" data-w="${grid.width}" data-h="${grid.height}" role="img" aria-label="Input: ${state.input.label}, ${grid.width} by ${grid.height} grey levels"></canvas>
    </div>
    <div class="drop-foot"><p class="hint">${grid.width} × ${grid.height} ${preset?.mode === 'bits' ? 'black or white points' : 'grey levels'} of ${state.input.label}</p>
    <div class="buttons"><label class="file quiet">Choose a picture<input type="file" accept="image/*" data-input="file" class="visually-hidden"></label>${
      state.input.kind !== 'boat' && html`<button type="button" class="quiet" data-act="boat">Back to the boat</button>`
    }</div></div>`;
}
