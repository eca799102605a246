/*
 * The bootstrapping of a set at full size, recorded, beside the run that is shown.
 */
import { bytes, count, decimal, duration } from '../format.js';
import { html, type Html } from '../html.js';
import { levelsOf, levelsWithin } from '../levels.js';
import { machineWords } from '../machine.js';
import recorded from '../recorded/conventional-n16.json';
import { figure } from '../views/figure.js';
import { titled } from '../views/making.js';
import { caption, drawing, label, n } from '../views/svg.js';
import { MESSAGES, type MessageKind, type State } from './state.js';

const FULL = titled(recorded);

/** A ciphertext as a stage leaves it, and how long the stage took; the exhausted one comes before any stage and has no time. */
interface Left {
  readonly title: string;
  readonly level: number;
  readonly logQ: number;
  readonly seconds?: number;
}

/** For the set at full size: the exhausted ciphertext, and what each stage leaves. */
const LEFT: readonly Left[] = [{ title: 'Exhausted', ...FULL.input }, ...FULL.stages];

/** The same for the run that is shown, at the places of `LEFT`, as far as it has got. */
function leftOf({ views, exits, inputLogQ, preset }: State): (Left | undefined)[] {
  const input = views.length > 0 ? { title: 'Exhausted', level: preset?.inputLevel ?? 0, logQ: inputLogQ } : undefined;
  return [
    input,
    ...FULL.stages.map(({ stage, title }) => {
      const i = exits.findIndex((exit) => exit.stage === stage);
      const exit = exits[i];
      return exit && { title, level: exit.level, logQ: exit.logQ, seconds: (exit.atMs - (exits[i - 1]?.atMs ?? 0)) / 1000 };
    }),
  ];
}

/** The levels of a ciphertext at a place of `LEFT`, in words. */
function levels({ level }: Left, place: number, set: { readonly inputLevel: number; readonly outputLevel: number }): string {
  return place === 0 || place + 1 === LEFT.length ? levelsOf(level, set.inputLevel) : levelsWithin(level, set.outputLevel);
}

/** What the set at full size has after a stage, as a sentence; empty for a stage that it does not have. */
export function fullAfter(stage: string | undefined): string {
  const place = stage === undefined ? 0 : 1 + FULL.stages.findIndex((one) => one.stage === stage);
  const left = place > 0 || stage === undefined ? LEFT[place] : undefined;
  return left ? `At full size, with ${FULL.set}: ${levels(left, place, FULL)}, a modulus of ${decimal(left.logQ, 0)} bits${left.seconds === undefined ? '' : `, ${duration(1000 * left.seconds)}`}.` : '';
}

/** The modulus after every stage at full size, and beside it that of the run that is shown. */
export function fullSize(state: State, width: number): Html {
  const own = leftOf(state);
  const height = 220;
  const [top, bottom] = [22, height - 42];
  const most = Math.max(...[...LEFT, ...own].map((left) => left?.logQ ?? 0));
  const room = width / LEFT.length;
  const wide = Math.min(44, room * 0.36);
  const bar = (left: Left | undefined, i: number, side: -1 | 1): Html | string => {
    if (!left) return '';
    const x = (i + 0.5) * room + (side * (wide + 4)) / 2;
    const y = bottom - (left.logQ / most) * (bottom - top);
    return html`<rect class="conv-full-${side < 0 ? 'own' : 'set'}" x="${n(x - wide / 2)}" y="${n(y)}" width="${n(wide)}" height="${n(bottom - y)}"/>${label(x, y - 5, decimal(left.logQ, 0), 'tick')}`;
  };
  const content = html`${LEFT.map((left, i) => html`${bar(own[i], i, -1)}${bar(left, i, 1)}${width < 560 ? label((i + 0.5) * room, bottom + 18, i + 1, 'tick') : caption((i + 0.5) * room, bottom + 18, left.title, 'tick', room)}`)}
    <line class="grid" x1="0" x2="${n(width)}" y1="${bottom}" y2="${bottom}"/>`;
  const name = state.preset?.name ?? 'this set';
  const sentence = `${FULL.set} has ${decimal(FULL.securityBits, 0)}-bit security. It refreshed ${count(FULL.slots)} slots in ${duration(1000 * FULL.seconds)} on ${FULL.threads === 1 ? 'one thread' : `${FULL.threads} threads`}, leaves ${levelsOf(FULL.outputLevel, FULL.inputLevel)}, and its worst slot came back right to ${decimal(FULL.bits.worst)} bits, the root mean square to ${decimal(FULL.bits.rms)}. Its evaluation keys take ${bytes(FULL.keyBytes)}, more than a tab can hold.`;
  return figure(state, {
    id: 'full-size',
    title: `The same at full size, with ${FULL.set}`,
    drawing: drawing(width, height, `Bits of modulus after every stage, with ${FULL.set} and with ${name}`, 'conv-full', content),
    caption: html`${sentence} <span class="unit">Bars: bits of modulus after each stage${width < 560 ? ', numbered in the order above' : ''}; blue those of ${name}, orange those of ${FULL.set}. The run of ${FULL.set}, on ${MESSAGES[FULL.message as MessageKind]}, is recorded: ${made()}. It is the first run with its keys, which is slower than later ones; the page Methods has the fastest of several.</span>`,
    table: {
      columns: ['Stage', `${FULL.set}: levels`, 'Bits of modulus', 'Time', `${name}: levels`, 'Bits of modulus', 'Time'],
      rows: LEFT.map((left, i) => [left.title, ...cells(left, i, FULL), ...cells(own[i], i, state.preset)]),
    },
  });
}

function cells(left: Left | undefined, place: number, set: { readonly inputLevel: number; readonly outputLevel: number } | undefined): string[] {
  if (!left || !set) return ['–', '–', '–'];
  return [levels(left, place, set), decimal(left.logQ, 0), left.seconds === undefined ? '–' : duration(1000 * left.seconds)];
}

/** When and where it was recorded. */
function made(): string {
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(FULL.date));
  return `made by refloat ${FULL.machine.version} on ${day}, on ${machineWords(FULL.machine)}`;
}
