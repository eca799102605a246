import type { KeyRepair, ProgramEvent, ServerPreset } from 'refloat/client';
import type { Making } from '../shell.js';
import { LEAST, MOST, type QuestionName } from './questions.js';

/** What was compared, and what came back of it, slot by slot, decrypted in this tab. */
export interface Entry {
  /** Its name in the drawings. */
  readonly name: string;
  readonly malignant: boolean;
  /** The number that is compared, in the clear. */
  readonly clear: number;
  /** The same as the server computed it. */
  readonly number: number;
  /** How many others are smaller, as it came back. */
  readonly rank: number;
  /** 1 for the largest and 0 for the others, as it came back. */
  readonly flag: number;
}

/** An answer of the server. */
export interface Answer {
  readonly question: QuestionName;
  readonly set: string;
  /** What made it, unless it was the reader. */
  readonly recorded?: string | undefined;
  readonly entries: readonly Entry[];
  /** The bit of the second question, as it came back, and the patient that was asked about. */
  readonly verdict?: number | undefined;
  readonly patient?: string | undefined;
  /** The diagnosis of that patient in the data. */
  readonly malignant?: boolean | undefined;
  /** Least distance at which numbers can be told apart, if the set states it. */
  readonly least?: number | undefined;
  readonly seconds: number;
  /** Bytes of the ciphertext sent. */
  readonly sent: number;
  /** Level of the ciphertext sent, and of what came back. */
  readonly levels: readonly [number, number];
}

/** What the page knows. */
export interface State extends Making {
  /** Sets of the server that compare; empty if there is none. */
  sets: readonly ServerPreset[] | undefined;
  set: string;
  question: QuestionName;
  busy: 'keys' | 'run' | undefined;
  /** Which of the patients are ticked. */
  readonly chosen: boolean[];
  /** The patient whose neighbours are looked for. */
  patient: number;
  /** The latest answer to each question. */
  readonly answers: Partial<Record<QuestionName, Answer>>;
  /** The run under way. */
  run: RunProgress;
  /** The entry whose comparisons are marked. */
  marked: number;
}

/** How far a run is: the stage under way, and the comparisons made and their total. */
export interface RunProgress {
  under: string;
  pairs: readonly [number, number];
}

/** A run before its first event, when no stage is known. */
export function begun(): RunProgress {
  return { under: '', pairs: [0, 0] };
}

/** Takes in an event of a run. */
export function take(run: RunProgress, event: ProgramEvent | KeyRepair): void {
  if (event.kind === 'repair' || event.kind === 'exit') return;
  run.under = event.stage;
  // The second question compares once more, one number with zero.
  if (event.kind === 'progress' && run.under === 'compare' && event.total >= run.pairs[1]) run.pairs = [event.done, event.total];
}

/** Names of patients and cases: letters, A first. */
export function nameOf(index: number): string {
  return String.fromCharCode(65 + index);
}

/** Indices of the patients that are ticked. */
export function chosen(state: Pick<State, 'chosen'>): number[] {
  return state.chosen.flatMap((ticked, i) => (ticked ? [i] : [])).slice(0, MOST);
}

/** Whether the current choice differs from what an answer is about. */
export function isOther({ question, set, patient, entries }: Answer, state: State): boolean {
  const asked = question === 'urgent' ? chosen(state).map(nameOf).join() !== entries.map(({ name }) => name).join() : patient !== nameOf(state.patient);
  return asked || (set !== state.set && state.set !== '');
}

/** What is wrong with the choice, if anything. */
export function refusal(state: Pick<State, 'chosen' | 'question'>): string | undefined {
  const count = chosen(state).length;
  return state.question === 'urgent' && count < LEAST ? `${count} patients are ticked: tick at least ${LEAST}, so that three of them can be the first.` : undefined;
}

/** Least distance at which a set can tell two numbers apart. */
export function leastOf(set: Pick<ServerPreset, 'orders'>, question: QuestionName): number | undefined {
  return question === 'urgent' ? set.orders?.leastSigned : set.orders?.leastUnit;
}

/** Pairs of entries whose numbers are too close to be told apart with certainty. */
export function tooClose({ entries, least = 0 }: Pick<Answer, 'entries' | 'least'>): (readonly [Entry, Entry])[] {
  return entries.flatMap((a, i) => entries.slice(i + 1).filter((b) => Math.abs(a.clear - b.clear) < least).map((b) => [a, b] as const));
}

/** Ranks in the clear. */
export function ranks(numbers: readonly number[]): number[] {
  return numbers.map((x) => numbers.filter((y) => y < x).length);
}
