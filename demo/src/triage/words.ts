import { plural } from '../format.js';
import { MARKED } from './questions.js';
import { ranks, tooClose, type Answer, type Entry } from './state.js';

/** Whether an entry came back as one of the largest. */
export function isMarked({ flag }: Entry): boolean {
  return flag > 0.5;
}

/** The largest, by the ranks that came back. */
export function best(entries: readonly Entry[]): Entry[] {
  return entries.filter(isMarked).sort((a, b) => b.rank - a.rank);
}

/** The ranks that came back, as whole numbers. */
export function found(entries: readonly Entry[]): number[] {
  return entries.map(({ rank }) => Math.round(rank));
}

/** Pairs whose order came back different from the order in the clear. */
export function swapped(entries: readonly Entry[]): (readonly [Entry, Entry])[] {
  const [own, clear] = [found(entries), ranks(entries.map((entry) => entry.clear))];
  return entries.flatMap((a, i) =>
    entries.flatMap((b, j) => (j > i && ((own[i] ?? 0) - (own[j] ?? 0)) * ((clear[i] ?? 0) - (clear[j] ?? 0)) < 0 ? [[a, b] as const] : [])),
  );
}

/** The outcome of a question, in up to three sentences. */
export function outcome(answer: Answer): string {
  const { entries, question } = answer;
  const names = best(entries).map(({ name }) => name);
  const wrong = swapped(entries);
  const close = tooClose(answer);
  const isClose = ([a, b]: readonly [Entry, Entry]): boolean => close.some(([c, d]) => (a === c && b === d) || (a === d && b === c));
  const order =
    wrong.length === 0
      ? 'All are in the same order as in the clear.'
      : `${plural(wrong.length, 'pair')} came back the other way round than in the clear${wrong.every(isClose) ? ', all of them closer than can be told apart' : ''}.`;
  if (question === 'urgent') return `The most urgent of ${entries.length} ${names.length === 1 ? 'is' : 'are'} ${listed(names)}. ${order}`;
  const malignant = best(entries).filter((entry) => entry.malignant).length;
  return `Of ${entries.length} cases, the nearest to patient ${answer.patient ?? ''} are ${listed(names)}, ${malignant} of them malignant: the vote says ${kindOf(isVoted(answer))}. ${truth(answer)} ${order}`;
}

/** The result of the vote. */
function isVoted({ verdict = 0 }: Answer): boolean {
  return verdict > 0.5;
}

/** Whether the vote is right, and what went wrong if it is not. */
function truth(answer: Answer): string {
  const { entries, malignant } = answer;
  if (malignant === undefined) return '';
  const told = `The data have this patient as ${kindOf(malignant)}, so the vote is`;
  if (isVoted(answer) === malignant) return `${told} right.`;
  const nearest = [...entries].sort((a, b) => b.clear - a.clear).slice(0, MARKED);
  const inTheClear = nearest.filter((entry) => entry.malignant).length > MARKED / 2;
  return `${told} wrong. On data in the clear it would be ${inTheClear === isVoted(answer) ? 'just as wrong: three known cases are few to go by' : 'right'}.`;
}

export function kindOf(malignant: boolean): string {
  return malignant ? 'malignant' : 'benign';
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}
