import { Program, type Preset } from 'refloat/client';
import { marginOf, type Model, type Patient } from '../patients/model.js';
import { WIDTH, batch, margin, packed } from '../patients/program.js';

/** What is asked: who of some patients comes first, or which known cases one patient resembles. */
export type QuestionName = 'urgent' | 'nearest';

/** Most numbers that are compared at once. */
export const MOST = 16;

/** How many of the largest numbers are marked. */
export const MARKED = 3;

/** Fewest numbers from which a choice of `MARKED` makes sense. */
export const LEAST = 4;

/** The words of a question, the range of its numbers, and the fraction of a turn that a distance of 1 becomes on its way to the gates. */
export const QUESTIONS = {
  urgent: {
    words: 'Who comes first?',
    lead: 'A server scores encrypted patients, compares all of them, and marks the three most urgent. It never learns who they are.',
    number: 'Score z',
    more: 'more urgent than',
    most: 'the most urgent',
    least: 'the least urgent',
    ends: [-1, 1],
    turns: 7 / 32,
  },
  nearest: {
    words: 'Which cases are nearest?',
    lead: 'A server finds the three known cases most like an encrypted patient, and votes by their diagnoses. It never learns which.',
    number: 'Closeness',
    more: 'nearer than',
    most: 'the nearest',
    least: 'the farthest',
    ends: [0, 1],
    turns: 14 / 32,
  },
} as const;

/** A known case: its measurements and its diagnosis are public. */
export type Case = Patient;

/** As many malignant cases as benign ones, alternating. */
export function casesOf(rows: readonly Patient[]): Case[] {
  const half = (malignant: boolean): Patient[] => rows.filter((row) => row.malignant === malignant).slice(0, MOST / 2);
  const [malignant, benign] = [half(true), half(false)];
  return malignant.flatMap((row, i) => [row, ...benign.slice(i, i + 1)]);
}

function squared(x: readonly number[], y: readonly number[]): number {
  return x.reduce((sum, x, j) => sum + (x - (y[j] ?? 0)) ** 2, 0);
}

/** The factor that brings squared distances from the cases into [0, 1], computed from known rows with some margin. */
export function scaleOf(cases: readonly Case[], rows: readonly Patient[]): number {
  const farthest = Math.max(...rows.flatMap((row) => cases.map((known) => squared(row.measurements, known.measurements))));
  return 1 / Math.sqrt(1.25 * farthest);
}

/** How close a patient is to a case, in the clear: 1 less the squared distance. */
export function closeness(patient: Patient, known: Case, scale: number): number {
  return 1 - scale ** 2 * squared(patient.measurements, known.measurements);
}

/** The number by which patients are compared, in the clear. */
export function urgency(patient: Patient, model: Model): number {
  return marginOf(model, patient.measurements);
}

/** The score without its sigmoid, its order, and who is first. A sigmoid rises, so both orders are the same. */
export function urgent(model: Model, set: Pick<Preset, 'slots'>, count: number): Program {
  const program = new Program(set);
  const z = margin(program, model, set);
  program.output('number', z);
  program.output('rank', z.rank(count).named('rank'));
  program.output('top', z.top(count, MARKED).named('top'));
  return program;
}

/** A patient next to every case: measurement j, scaled, in slots j P + i for all cases i, with P patients per ciphertext. */
export function beside(patient: Patient, cases: number, scale: number, set: Pick<Preset, 'slots'>): Float64Array {
  const row = patient.measurements.map((x) => scale * x);
  return packed(Array.from({ length: cases }, () => row), set);
}

/** Closeness to all cases, its order, the nearest cases, and one bit: the diagnosis of most of these. */
export function nearest(cases: readonly Case[], scale: number, set: Pick<Preset, 'slots'>): Program {
  const program = new Program(set);
  const known = packed(cases.map(({ measurements }) => measurements.map((x) => scale * x)), set);
  const apart = program.input('patient').sub(known).named('difference');
  const close = apart.mul(apart).rotateSum(WIDTH, batch(set)).neg().add(1).named('closeness');
  program.output('number', close);
  program.output('rank', close.rank(cases.length, { bounds: 'unit' }).named('rank'));
  const top = close.top(cases.length, MARKED, { bounds: 'unit' }).named('top');
  program.output('top', top);
  // The vote is an odd number of quarters, so that its sign is far from 0.
  const votes = top.mul(cases.map(({ malignant }) => (malignant ? 0.25 : -0.25))).rotateSum(MOST);
  program.output('verdict', votes.named('votes').sign(1).named('verdict'));
  return program;
}
