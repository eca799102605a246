import { decimal, plural, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, label, n } from '../views/svg.js';
import type { Answer, RunProgress, State } from './state.js';
import { QUESTIONS } from './questions.js';
import { found, isMarked } from './words.js';

/** All pairs of `count` entries, ordered by rows of the first: the order in which they are compared. */
export function pairsOf(count: number): (readonly [number, number])[] {
  return Array.from({ length: count }, (_, i) => i).flatMap((i) => Array.from({ length: count - i - 1 }, (_, j) => [i, i + 1 + j] as const));
}

/** All pairs. Each is one gate; a row and its column add up to a rank. */
export function triangle(state: State, names: readonly string[], answer: Answer | undefined, run: RunProgress | undefined, width: number): Html {
  const count = names.length;
  const size = Math.min(width, 340);
  const [left, top] = [20, 20];
  const step = (size - left - 4) / Math.max(1, count);
  const rank = answer && found(answer.entries);
  const [done] = run?.pairs ?? [0, 0];
  const cells = pairsOf(count).map(([i, j], k) => {
    const won = rank && (rank[i] ?? 0) > (rank[j] ?? 0);
    const look = rank ? (won ? 'won' : 'lost') : k < done ? 'made' : 'open';
    const followed = i === state.marked || j === state.marked;
    return html`<rect class="triage-cell ${look}${followed ? ' followed' : ''}" x="${n(left + i * step + 1)}" y="${n(top + j * step + 1)}" width="${n(step - 2)}" height="${n(step - 2)}" rx="2"/>`;
  });
  const heads = names.map((name, i) => {
    const look = `triage-name${answer?.entries[i] && isMarked(answer.entries[i]) ? ' top' : ''}`;
    const middle = (i + 0.5) * step;
    return html`${label(left + middle, top + middle + 4.5, name, look)}`;
  });
  const { more } = QUESTIONS[answer?.question ?? state.question];
  const sentence = triangleSentence(state, answer, run, names);
  return figure(state, {
    id: 'triangle',
    title: `${plural(count * (count - 1) / 2, 'comparison')}, one gate each`,
    drawing: drawing(size, size, sentence, 'triage-triangle', html`${cells}${heads}`),
    caption: html`${sentence} <span class="unit">${answer || !run ? `Blue: the name at the top of the column is ${more} the one at the end of the row.` : ''}</span>`,
    table: {
      columns: ['Name', `${more.charAt(0).toUpperCase()}${more.slice(1)}`, 'Rank'],
      rows: names.map((name, i) => [name, rank ? names.filter((_, j) => (rank[j] ?? 0) < (rank[i] ?? 0)).join(' ') || '–' : '–', rank ? decimal(rank[i], 0) : '–']),
    },
  });
}

function triangleSentence(state: State, answer: Answer | undefined, run: RunProgress | undefined, names: readonly string[]): string {
  if (run) return `${run.pairs[0]} of ${run.pairs[1] || (names.length * (names.length - 1)) / 2} pairs compared.`;
  if (!answer) return 'Every pair is compared by a gate.';
  const { more } = QUESTIONS[answer.question];
  const rank = found(answer.entries)[state.marked];
  const name = names[state.marked];
  return name === undefined || rank === undefined ? '' : `${name} is ${more} ${rank} of ${names.length - 1} others: that is its rank.`;
}

/** Ranks as columns, and the flags as they came back into slots. */
export function ranksAndFlags(state: State, answer: Answer | undefined, width: number): Html {
  const entries = answer?.entries ?? [];
  const height = 210;
  const [top, bottom, slots] = [22, height - 62, height - 46];
  const step = width / Math.max(1, entries.length);
  const most = Math.max(1, entries.length - 1);
  const bars = entries.map((entry, i) => {
    const rank = Math.max(0, entry.rank);
    const bar = (bottom - top) * Math.min(1, rank / most);
    const [x, w] = [i * step + step * 0.14, step * 0.72];
    return html`<rect class="triage-bar${isMarked(entry) ? ' top' : ''}${i === state.marked ? ' followed' : ''}" x="${n(x)}" y="${n(bottom - bar)}" width="${n(w)}" height="${n(Math.max(1, bar))}" rx="2"/>
      ${label(x + w / 2, bottom - bar - 6, decimal(Math.round(entry.rank), 0), 'tick')}
      <rect class="triage-slot${isMarked(entry) ? ' top' : ''}" x="${n(x)}" y="${slots}" width="${n(w)}" height="22" rx="4"/>${label(x + w / 2, slots + 16, isMarked(entry) ? '1' : '0', `triage-bit${isMarked(entry) ? ' top' : ''}`)}
      ${label(x + w / 2, height - 6, entry.name, isMarked(entry) ? 'triage-name top' : 'triage-name')}`;
  });
  const off = entries.reduce((worst, { flag, rank }) => Math.max(worst, Math.abs(flag - Math.round(flag)), Math.abs(rank - Math.round(rank))), 0);
  const words = QUESTIONS[answer?.question ?? state.question];
  const sentence = answer ? `Rank ${most} is ${words.most}, rank 0 ${words.least}; a 1 marks the ${entries.filter(isMarked).length} highest. Ranks and marks came back off by at most ${scientific(off)}, at level ${answer.levels[1]}: so many products in a row can follow.` : 'The ranks appear here, decrypted.';
  return figure(state, {
    id: 'ranks',
    title: 'Ranks, and marks for the first three',
    drawing: drawing(width, height, sentence, 'triage-ranks', bars),
    caption: sentence,
    table: { columns: ['Name', 'Rank as it came back', 'Mark as it came back'], rows: entries.map(({ name, rank, flag }) => [name, decimal(rank, 5), decimal(flag, 5)]) },
  });
}
