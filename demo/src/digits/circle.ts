import { count, decimal, scientific } from '../format.js';
import { html, type Html, type Part } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, label, n } from '../views/svg.js';
import { largest, type Pass } from './passes.js';
import { placeOf, type State } from './state.js';

/** Most labels of points around the circle. */
const LABELS = 12;

/** What is drawn of a step: its pass, its stage, and the points that the slots are at. */
function shown(state: State): { readonly pass: Pass; readonly stage: string; readonly steps: Int32Array } | undefined {
  const { pass, stage } = placeOf(state.at);
  const of = state.seen?.passes[pass];
  return of?.steps && { pass: of, stage, steps: of.steps };
}

/** Every slot on the circle: on rings of whole turns before the exponential, on one circle after it. */
export function circle(state: State, width: number): Html {
  const size = Math.min(width, 350);
  const [cx, cy, outer] = [size / 2, size / 2, size / 2 - 30];
  const now = shown(state);
  const base = now?.pass.base ?? 10;
  const turns = now ? Array.from(now.steps, (step) => Math.floor(step / base)) : [];
  const most = 1 + Math.max(1, ...turns.map(Math.abs));
  // A spiral, farther out with every turn; afterwards all are on one circle.
  const radius = (turn: number): number => (now?.stage === 'coeffs_to_slots' ? outer * (0.55 + (0.4 * turn) / most) : outer);
  const at = (turn: number, r: number): readonly [number, number] => [cx + r * Math.sin(2 * Math.PI * turn), cy - r * Math.cos(2 * Math.PI * turn)];
  const points = Array.from({ length: base }, (_, j) => j);
  const every = Math.ceil(base / LABELS);
  const dots = now
    ? Array.from(now.steps, (step, slot) => {
        const [x, y] = at(step / base, radius(step / base));
        return html`<circle class="${slot === state.slot ? 'followed' : 'slot'}" r="${slot === state.slot ? 7 : 2.6}" style="transform:translate(${n(x)}px,${n(y)}px)"/>`;
      })
    : [];
  const own = now?.steps[state.slot] ?? 0;
  const [hx, hy] = at(own / base, radius(own / base));
  const content = html`${now?.stage === 'coeffs_to_slots' ? html`<path class="digits-spiral" d="${spiral(at, radius, own / base)}"/>` : ''}
    <circle class="digits-ring" cx="${n(cx)}" cy="${n(cy)}" r="${n(outer)}"/>
    ${points.map((j) => {
      const [x0, y0] = at(j / base, outer * 0.16);
      const [x1, y1] = at(j / base, outer + 6);
      const [lx, ly] = at(j / base, outer + 19);
      return html`<line class="grid" x1="${n(x0)}" y1="${n(y0)}" x2="${n(x1)}" y2="${n(y1)}"/>${j % every === 0 ? label(lx, ly + 5, j, 'tick') : ''}`;
    })}
    ${now ? html`<line class="digits-hand" x1="${n(cx)}" y1="${n(cy)}" x2="${n(hx)}" y2="${n(hy)}"/>` : ''}
    <g class="digits-dots">${dots}</g>`;
  const sentence = circleSentence(state, turns);
  return figure(state, {
    id: 'circle',
    title: now?.stage === 'coeffs_to_slots' ? 'Wound up by k x + I turns' : 'On the circle',
    drawing: drawing(size, size, sentence, 'digits-circle', content),
    caption: html`${sentence} <span class="unit">${now?.stage === 'coeffs_to_slots' ? 'Every turn lies a little farther out. The orange line leads to the slot that you follow.' : `The ${base} points stand for the digits 0 to ${base - 1}.`}</span>`,
    table: {
      columns: ['Digit', 'Slots', 'Least turns', 'Most turns'],
      rows: points.map((j) => {
        const here = now ? Array.from(now.steps.keys()).filter((slot) => digit(now.steps[slot] ?? 0, base) === j) : [];
        const of = here.map((slot) => turns[slot] ?? 0);
        return [j, here.length, here.length ? decimal(Math.min(...of), 0) : '–', here.length ? decimal(Math.max(...of), 0) : '–'];
      }),
    },
  });
}

function digit(step: number, base: number): number {
  return ((step % base) + base) % base;
}

/** A spiral from 0 turns to where the hand is. */
function spiral(at: (turns: number, r: number) => readonly [number, number], radius: (turns: number) => number, turns: number): string {
  const steps = Math.max(8, Math.ceil(Math.abs(turns) * 48));
  const point = (i: number): string => {
    const turn = (turns * i) / steps;
    return at(turn, radius(turn)).map(n).join(' ');
  };
  return `M${Array.from({ length: steps + 1 }, (_, i) => point(i)).join('L')}`;
}

function circleSentence(state: State, turns: readonly number[]): string {
  const now = shown(state);
  if (!now) return 'Nothing has been read yet.';
  const slots = now.steps.length;
  if (now.stage === 'coeffs_to_slots') return `${slots} slots are wound up by ${decimal(Math.min(...turns), 0)} to ${decimal(Math.max(...turns), 0)} whole turns, and end on one of ${now.pass.base} rays.`;
  return `All ${slots} slots lie on ${new Set(Array.from(now.steps, (step) => digit(step, now.pass.base))).size} of the ${now.pass.base} points: whole turns are gone.`;
}

/** The cloud about one point, before the table and after it, at one scale. */
export function lens(state: State, width: number): Html {
  const now = shown(state);
  const each = Math.max(120, Math.min(150, (width - 24) / 2));
  const before = now && { outward: now.stage === 'coeffs_to_slots' ? undefined : now.pass.outward, along: now.stage === 'coeffs_to_slots' ? now.pass.wound : now.pass.along };
  const after = now?.stage === 'look_up' ? now.pass.left : undefined;
  const far = largest(before?.outward, before?.along);
  const power = far > 0 ? Math.floor(Math.log2(0.45 / far)) : 0;
  const cloud = (along: Float64Array | undefined, outward: Float64Array | undefined, className: string): Part =>
    along &&
    html`<g class="${className}">${Array.from(along, (a, slot) => html`<circle r="${slot === state.slot ? 5 : 2}" class="${slot === state.slot ? 'followed' : 'slot'}" cx="${n(each / 2 + a * 2 ** power * each)}" cy="${n(each / 2 - (outward?.[slot] ?? 0) * 2 ** power * each)}"/>`)}</g>`;
  const frame = html`<rect class="digits-frame" x="0.5" y="0.5" width="${n(each - 1)}" height="${n(each - 1)}" rx="10"/><line class="grid" x1="${n(each / 2)}" x2="${n(each / 2)}" y1="8" y2="${n(each - 8)}"/><line class="grid" y1="${n(each / 2)}" y2="${n(each / 2)}" x1="8" x2="${n(each - 8)}"/>`;
  const left = largest(after);
  const bits = (x: number): string => decimal(-Math.log2(x), 1);
  const sentence = !now
    ? 'The noise around the points appears here.'
    : after
      ? `Before the look-up slots are off by up to 2^−${bits(far)} of a turn, after it by up to 2^−${bits(left)}: ${changed(far, left)}.`
      : `Slots are off by up to 2^−${bits(far)} of a turn.`;
  return figure(state, {
    id: 'lens',
    title: `The noise around the points${power > 0 ? `, magnified ${count(2 ** power)} times` : ''}`,
    drawing: html`<div class="digits-lens"><div>${drawing(each, each, 'Before the look-up', 'digits-cloud', html`${frame}${cloud(before?.along, before?.outward, 'before')}`)}<p class="hint">Before the look-up</p></div>
      <div>${drawing(each, each, after ? 'After the look-up' : 'After the look-up: not computed yet', 'digits-cloud', html`${frame}${cloud(after, undefined, 'after')}`)}<p class="hint">${after ? 'After it, at the same scale' : now?.stage === 'look_up' ? 'After it: values of your table' : now?.stage === 'eval_exp' ? 'After it: the next step' : 'After it: two steps on'}</p></div></div>`,
    caption: html`${raised(sentence)} <span class="unit">All points are laid on one another, as decrypted with the key in this tab. Sideways is along the circle, where errors grow with the number; up is outwards.</span>`,
    table: {
      columns: ['Slot', 'Number', 'Error before, in turns', 'Error after, in turns'],
      rows: Array.from(state.seen?.numbers.slice(0, 64) ?? [], (x, slot) => [
        slot,
        x,
        before ? scientific(Math.hypot(before.along?.[slot] ?? 0, before.outward?.[slot] ?? 0)) : '–',
        after ? scientific(Math.abs(after[slot] ?? 0)) : '–',
      ]),
    },
  });
}

/** The sentence with its powers of two as superscripts. */
function raised(sentence: string): Html {
  return html`${sentence.split(/(\^−?[\d.]+\d)/).map((part) => (part.startsWith('^') ? html`<sup>${part.slice(1)}</sup>` : part))}`;
}

/** By how much an error has changed, in words. */
export function changed(before: number, after: number): string {
  const [less, more] = [Math.round(before / after), Math.round(after / before)];
  if (less >= 2) return `${less} times less`;
  return more >= 2 ? `${more} times more` : 'about the same';
}
