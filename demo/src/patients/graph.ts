import { decimal, plural } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, label, n, path } from '../views/svg.js';
import type { Journey } from './journey.js';
import type { ValueName } from './program.js';

/** Where a ciphertext of the program stands. */
export interface Standing {
  readonly level: number;
  readonly logQ: number;
  readonly logScale: number;
}

/** Where the values of a run stood, its input included; those not known yet are missing. */
export type Standings = Partial<Record<ValueName, Standing>>;

/** What the drawing is made of. */
export interface Drawn {
  readonly standings: Standings;
  readonly journey: Pick<Journey, 'bootstraps'> | undefined;
  readonly tables: Set<string>;
}

/** The middle of a node in the drawing, and on which side of the program's middle it is. */
interface Placed {
  readonly at: readonly [x: number, y: number];
  readonly beside: -1 | 0 | 1;
}

interface Node {
  /** Its label, and the value that comes out of it; the last node has none. */
  readonly words: string;
  readonly makes?: ValueName;
  /** The values that go in. */
  readonly takes: readonly ValueName[];
  /** Place along the program, and on which side of its middle. */
  readonly at: readonly [along: number, beside: -1 | 0 | 1];
}

/** The program, operation by operation. */
const NODES: readonly Node[] = [
  { words: 'x', makes: 'measurements', takes: [], at: [0, 0] },
  { words: '· w', makes: 'linear', takes: ['measurements'], at: [1.5, -1] },
  { words: 'square', makes: 'square', takes: ['measurements'], at: [1, 1] },
  { words: '· v', makes: 'quadratic', takes: ['square'], at: [2, 1] },
  { words: '+', makes: 'terms', takes: ['linear', 'quadratic'], at: [3, 0] },
  { words: 'sum slots', makes: 'sum', takes: ['terms'], at: [4, 0] },
  { words: '+ b', makes: 'z', takes: ['sum'], at: [5, 0] },
  { words: 'sigmoid', makes: 'score', takes: ['z'], at: [6, 0] },
  { words: 'score', takes: ['score'], at: [7, 0] },
];
const LAST = 7;

/** What the values are called. */
const NAMES: Record<ValueName, string> = { measurements: 'x', linear: 'w x', square: 'x²', quadratic: 'v x²', terms: 'w x + v x²', sum: 'sum over 32 slots', z: 'z', score: 'score' };

/**
 * Bootstraps on the way to a value, as far as they can be told. Only bootstraps raise levels, and an operation before the sigmoid spends at
 * most one level, so if a value is higher than one of its operands, one of them was bootstrapped. All others are in the sigmoid.
 */
export function bootstrapsOf(makes: ValueName, { standings, journey }: Omit<Drawn, 'tables'>): number {
  const risen = NODES.flatMap((node) => {
    const after = node.makes && standings[node.makes];
    const before = node.takes.map((name) => standings[name]?.level ?? Infinity);
    return node.makes && node.makes !== 'score' && after && before.some((level) => after.level > level) ? [node.makes] : [];
  });
  if (makes !== 'score') return risen.includes(makes) ? 1 : 0;
  return standings.score && journey ? journey.bootstraps.length - risen.length : 0;
}

/** Width and height of a node, and how far apart they are where the program runs downwards. */
const [WIDE, HIGH, DOWN] = [86, 34, 70];
/** Radius of an edge's corners. */
const BEND = 12;
/** Least width at which the program runs to the right. */
const ACROSS = 1060;

/** The program as a graph, with the level and scale of the ciphertext on every edge, and the bootstraps where they were inserted. */
export function graph(drawn: Drawn, width: number): Html {
  const across = width >= ACROSS;
  const height = across ? 190 : LAST * DOWN + HIGH + 8;
  const place = ({ at: [along, beside] }: Node): Placed => ({
    at: across ? [WIDE / 2 + 1 + (along / LAST) * (width - WIDE - 2), height / 2 + beside * 64] : [width / 2 + beside * width * 0.3, HIGH / 2 + 4 + along * DOWN],
    beside,
  });
  const edges = NODES.flatMap((to) => to.takes.map((name) => ({ name, to, from: NODES.find(({ makes }) => makes === name) ?? to })));
  const sentence = sentenceOf(drawn);
  return figure(drawn, {
    id: 'program',
    title: 'The program',
    drawing: drawing(width, height, sentence, 'patients-graph', html`${edges.map(({ name, from, to }) => edge(drawn.standings[name], place(from), place(to), across))}
      ${NODES.map((node) => box(node.words, place(node).at, node.makes ? bootstrapsOf(node.makes, drawn) : 0))}`),
    caption: sentence,
    table: {
      columns: ['Value', 'Level', 'log₂ Q', 'log₂ scale', 'Bootstraps'],
      rows: NODES.flatMap(({ makes }) => {
        const standing = makes && drawn.standings[makes];
        return standing ? [[NAMES[makes], standing.level, decimal(standing.logQ, 0), decimal(standing.logScale, 1), bootstrapsOf(makes, drawn)]] : [];
      }),
    },
  });
}

function sentenceOf(drawn: Drawn): string {
  const { standings, journey } = drawn;
  const { measurements, score } = standings;
  if (!measurements || !score || !journey) return 'Levels and scales appear on the edges when the scores are back.';
  const inside = bootstrapsOf('score', drawn);
  return `The level says how many products in a row a ciphertext still allows: ${measurements.level} at the input, ${score.level} at the score. ${inside} of ${plural(journey.bootstraps.length, 'bootstrap')} ${inside === 1 ? 'is' : 'are'} inside the sigmoid.`;
}

/** An operation, and below it the number of bootstraps inserted before its result. */
function box(words: string, [x, y]: readonly [number, number], bootstraps: number): Html {
  return html`<rect class="patients-node${bootstraps > 0 ? ' refreshed' : ''}" x="${n(x - WIDE / 2)}" y="${n(y - HIGH / 2)}" width="${WIDE}" height="${HIGH}" rx="9"/>
    ${label(x, bootstraps > 0 ? y - 2 : y + 5, words, 'patients-words')}${bootstraps > 0 ? label(x, y + 12, plural(bootstraps, 'bootstrap'), 'patients-inside') : ''}`;
}

/** An edge. Away from the middle it runs in a lane of its own, which it enters or leaves round a corner. */
function edge(standing: Standing | undefined, from: Placed, to: Placed, across: boolean): Html {
  const [leaves, joins] = [from.beside === 0 && to.beside !== 0, from.beside !== 0 && to.beside === 0];
  const lane = leaves ? to : from;
  // Coordinates along and across the program, whichever way it runs.
  const [[a0, b0], [a1, b1]] = across ? [from.at, to.at] : [flipped(from.at), flipped(to.at)];
  const b = leaves ? b1 : b0;
  const [half, outer] = across ? [WIDE / 2, HIGH / 2] : [HIGH / 2, WIDE / 2];
  const away = lane.beside;
  const point = (a: number, b: number): string => (across ? `${n(a)} ${n(b)}` : `${n(b)} ${n(a)}`);
  const begin = leaves ? `M${point(a0, b0 + away * outer)}L${point(a0, b - away * BEND)}Q${point(a0, b)} ${point(a0 + BEND, b)}` : `M${point(a0 + half, b)}`;
  const end = joins ? `L${point(a1 - BEND, b)}Q${point(a1, b)} ${point(a1, b - away * BEND)}L${point(a1, b1 + away * outer)}` : `L${point(a1 - half, b)}`;
  const middle = ((leaves ? a0 : a0 + half) + (joins ? a1 : a1 - half)) / 2;
  const [level, scale] = standing ? [`level ${standing.level}`, `${decimal(standing.logScale, 1)} bits`] : ['', ''];
  const words = across
    ? html`${label(middle, b - 8, level, 'patients-level')}${label(middle, b + 17, scale, 'tick')}`
    : label(away > 0 ? b - 8 : b + 8, middle + 4, level && `${level}, ${scale}`, 'patients-level', away > 0 ? 'end' : 'start');
  return html`${path(begin + end, 'patients-edge')}${words}`;
}

function flipped([x, y]: readonly [number, number]): [number, number] {
  return [y, x];
}
