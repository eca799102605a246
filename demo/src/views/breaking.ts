import type { Breakage, Broken, Outcome } from '../breaking/breakage.js';
import { decimal, plural, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { drawnAs } from '../input/source.js';
import type { State } from '../store.js';
import { nounOf } from '../voyage.js';
import { figure } from './figure.js';
import { problem } from './problem.js';
import { triptych } from './result.js';
import { drawing, label, n } from './svg.js';

const CHOICES: Record<Breakage, readonly [string, string]> = {
  sum: ['Too large a message', 'The message is added to itself under encryption, then refloated. The method takes numbers from −1 to 1.'],
  key: ['The wrong key', 'The exhausted ciphertext is opened with a key that was drawn for somebody else.'],
  bit: ['One flipped bit', 'One bit of the exhausted ciphertext is flipped on its way, then it is refloated.'],
  guess: ['Too few key bits', 'The message is encrypted with a key that was drawn from few random bits. A stranger makes all such keys.'],
  noise: ['No noise', 'The message is encrypted as others do for the owner of a key, and the noise is left out. A stranger divides.'],
};

/** What can come out, by what was put in. */
const OUTCOMES: Record<ReturnType<typeof nounOf>, Record<Outcome, string>> = {
  picture: { right: 'the picture as it was', wrong: 'a picture that is wrong', noise: 'noise' },
  curve: { right: 'the curve as it was', wrong: 'a curve that is wrong', noise: 'noise' },
  numbers: { right: 'the numbers as they were', wrong: 'numbers that are wrong', noise: 'noise' },
};

/** Most doublings of the message: with these, its numbers go once round the circle. */
export const MOST_DOUBLINGS = 6;

/** Most random bits of a key that are tried out here: each attempt makes a key. */
export const MOST_KEY_BITS = 8;

/** The part "Break it": something is spoilt on purpose, and the result is shown. */
export function breaking(state: State, width: number): Html {
  const { breakage: choice, broken } = state;
  const off = state.busy !== undefined;
  const outcomes = OUTCOMES[nounOf({ ...state.input, drawn: drawnAs(state.input) })];
  const ready = state.library === 'ready' && !off && !state.unreadable;
  return html`<section class="band" id="break" aria-labelledby="break-title">
    <div class="section-text">
      <h2 id="break-title">Break it</h2>
      <p>Choose what is to go wrong, say what you expect, and see. This runs with the toy set, on what is chosen at the top of the page, with real ciphertexts.</p>
    </div>
    <div class="break-desk">
      <fieldset class="places"${off ? html` disabled` : ''}>
        <legend>What is to go wrong?</legend>
        ${(Object.keys(CHOICES) as Breakage[]).map((what) => html`<div class="place${what === choice.what ? ' chosen' : ''}"><label><input type="radio" name="breakage" value="${what}" data-input="breakage"${what === choice.what ? html` checked` : ''}><span class="place-title">${CHOICES[what][0]}</span><span class="place-note">${CHOICES[what][1]}</span></label></div>`)}
      </fieldset>
      <div class="break-act">
        ${choice.what === 'sum' ? html`<label class="break-slider" data-key="sum"><span>Copies added</span><input type="range" min="0" max="${MOST_DOUBLINGS}" step="1" value="${choice.doublings}" data-input="doublings" aria-valuetext="${choice.doublings === 0 ? '1 copy' : `${2 ** choice.doublings} copies`}"${off ? html` disabled` : ''}><output>${2 ** choice.doublings}</output></label>` : ''}
        ${choice.what === 'bit' ? html`<label class="break-slider" data-key="bit"><span>Where in the ciphertext</span><input type="range" min="0" max="99" step="1" value="${choice.where}" data-input="where" aria-valuetext="${choice.where} per cent of the way"${off ? html` disabled` : ''}><output>${choice.where} %</output></label>` : ''}
        ${choice.what === 'guess' ? html`<label class="break-slider" data-key="guess"><span>Random bits</span><input type="range" min="0" max="${MOST_KEY_BITS}" step="1" value="${choice.keyBits}" data-input="keyBits" aria-valuetext="${plural(choice.keyBits, 'bit')}"${off ? html` disabled` : ''}><output>${plural(choice.keyBits, 'bit')}</output></label>` : ''}
        <label class="set">What will ${choice.what === 'guess' || choice.what === 'noise' ? 'the stranger see' : 'come out'}? <select data-input="guess"${off ? html` disabled` : ''}><option value=""${choice.guess ? '' : html` selected`}>no guess yet</option>${(Object.keys(outcomes) as Outcome[]).map((o) => html`<option value="${o}"${o === choice.guess ? html` selected` : ''}>${outcomes[o]}</option>`)}</select></label>
        ${state.busy && state.breakingNow
          ? html`<button type="button" class="secondary" data-act="cancel" data-key="cancel" data-heir>Cancel</button>`
          : html`<button type="button" class="secondary" data-act="break" data-key="break" data-heir${ready ? '' : html` disabled`}>Break it</button>`}
      </div>
    </div>
    ${problem(state, 'break')}
    ${broken && shown(state, broken, width)}
  </section>`;
}

function shown(state: State, broken: Broken, width: number): Html {
  const sentence = brokenSentence(broken);
  return figure(state, {
    id: 'broken',
    title: CHOICES[broken.what][0],
    drawing: html`${broken.refusal && html`<p class="break-refusal"><strong>The library refuses:</strong> “${broken.refusal}” ${broken.what === 'key' ? 'The page has then written the other key’s name on the ciphertext, and sealed it anew.' : 'The page has then made a digest that fits. Anybody can: it tells damage, not intent.'}</p>`}
      ${triptych(broken.voyage, 'broken', [['before', 'put in'], ['after', `${broken.what === 'guess' || broken.what === 'noise' ? 'what a stranger reads' : 'came out'}${broken.what === 'sum' && broken.doublings > 0 ? `, over ${2 ** broken.doublings}` : ''}`], ['error', 'difference']])}
      ${broken.what === 'sum' ? bend(broken, broken.reach ?? 0, Math.min(width, 720)) : ''}`,
    caption: html`<span id="break-outcome">${sentence}</span>`,
    table: {
      columns: ['Slot (first 64)', 'Sum that was encrypted', 'What came out'],
      rows: Array.from(broken.voyage.input.slice(0, 64), (x, slot) => [slot, decimal(x * timesOf(broken), 4), decimal((broken.voyage.result?.slots[slot] ?? 0) * timesOf(broken), 4)]),
    },
  });
}

const timesOf = ({ what, doublings }: Broken): number => (what === 'sum' ? 2 ** doublings : 1);

/** What was expected, what came out, and why. */
export function brokenSentence(broken: Broken): string {
  const error = broken.voyage.result?.quality.maxError;
  const noun = nounOf(broken.voyage);
  const outcomes = OUTCOMES[noun];
  return `${verdict(outcomes, broken)} ${why(broken)} Largest error ${scientific(error)}${noun === 'picture' ? ', where black and white are 2 apart' : ''}.`;
}

function verdict(outcomes: Record<Outcome, string>, { guess, outcome }: Broken): string {
  if (!guess) return `What came: ${outcomes[outcome]}.`;
  return `You expected ${outcomes[guess]}; ${guess === outcome ? 'that is what came' : `${outcomes[outcome]} came`}.`;
}

function why(broken: Broken): string {
  const { what, reach = 0 } = broken;
  if (what === 'key') return 'Without the coefficients of the right key the random part of the ciphertext is not subtracted: every number is that random part.';
  if (what === 'guess') return `The stranger has the ciphertext alone. It names its key, and key ${broken.tries?.[0]} of ${broken.tries?.[1]} had that name. Each bit more doubles the work: a key of this library is drawn from 256 random bits.`;
  if (what === 'noise') return `The ciphertext is (v b + m, v a), and the key (b, a) is public: the second half over a is v, v b is taken off, and m is left. With a little noise in both halves the same division came to errors up to ${scientific(broken.control)}. All of the security is in the noise.`;
  if (what === 'bit') return 'A ciphertext is kept as values of its polynomials. One value that is off is off in every coefficient, and so in every slot, wherever the bit is. Encryption hides; it does not keep anybody from changing.';
  const most = broken.voyage.input.reduce((m, x) => Math.max(m, Math.abs(x)), 0) * timesOf(broken);
  const bent = `What comes out is the sine of the angle, ${decimal(reach)} at most`;
  return most > reach * Math.PI
    ? `${bent}, and these angles go beyond half a turn, where nobody can tell them from others.`
    : most > (reach * Math.PI) / 2
      ? `${bent}, and beyond a quarter of a turn it falls again${nounOf(broken.voyage) === 'picture' ? ': light becomes dark' : ''}.`
      : `${bent}: as good as the angle itself while numbers are up to 1, and bent at ${decimal(most)}.`;
}

/** Output against input: the sine that the method uses for the angle. */
function bend(broken: Broken, most: number, width: number): Html {
  const times = timesOf(broken);
  const height = 256;
  const [left, right, top, bottom] = [44, width - 12, 12, height - 50];
  const reach = Math.max(1, times);
  const tall = Math.max(1, Math.min(times, most) * 1.1);
  const x = (v: number): number => left + ((v + reach) / (2 * reach)) * (right - left);
  const y = (v: number): number => (top + bottom) / 2 - (Math.max(-tall, Math.min(tall, v)) / tall) * ((bottom - top) / 2);
  const curve = Array.from({ length: 161 }, (_, i) => ((i - 80) / 80) * reach).map((v) => `${n(x(v))},${n(y(most * Math.sin(v / most)))}`);
  const straight = Math.min(reach, tall);
  const stride = Math.max(1, Math.floor(broken.voyage.input.length / 256));
  const dots = Array.from(broken.voyage.input).flatMap((v, i) => (i % stride === 0 ? [[v * times, (broken.voyage.result?.slots[i] ?? 0) * times] as const] : []));
  return drawing(width, height, `What came out over what was put in, from ${decimal(-reach, 0)} to ${reach}: the points lie on a sine of height ${decimal(most)}.`, 'break-bend', html`
    ${[-1, 0, 1].map((s) => html`<line class="grid" x1="${n(x(s * reach))}" x2="${n(x(s * reach))}" y1="${top}" y2="${bottom}"/>${label(x(s * reach), bottom + 20, decimal(s * reach, 0), 'tick', s < 0 ? 'start' : s > 0 ? 'end' : 'middle')}`)}
    ${[-1, 0, 1].map((s) => html`<line class="grid" x1="${left}" x2="${n(right)}" y1="${n(y(s * tall))}" y2="${n(y(s * tall))}"/>${label(left - 6, y(s * tall) + 4, decimal(s * tall), 'tick', 'end')}`)}
    <line class="break-straight" x1="${n(x(-straight))}" y1="${n(y(-straight))}" x2="${n(x(straight))}" y2="${n(y(straight))}"/>
    <polyline class="break-sine" points="${curve.join(' ')}"/>
    <g class="break-dots">${dots.map(([px, py]) => html`<circle r="2.2" cx="${n(x(px))}" cy="${n(y(py))}"/>`)}</g>
    ${label(right, bottom + 42, 'across: the sum; up: what came out; dashed: what should', 'tick', 'end')}`);
}
