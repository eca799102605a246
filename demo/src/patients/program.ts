import { Program, type Preset, type Value } from 'refloat/client';
import type { Model, Patient } from './model.js';

/** Slots per patient: thirty measurements, and two zeros. */
export const WIDTH = 32;

/** Number of patients in a ciphertext. */
export function batch(set: Pick<Preset, 'slots'>): number {
  return set.slots / WIDTH;
}

/** Measurement j of patient p goes to slot j P + p, with P patients per ciphertext: rotations by multiples of P sum them up. */
export function packed(rows: readonly (readonly number[])[], set: Pick<Preset, 'slots'>): Float64Array {
  const out = new Float64Array(set.slots);
  rows.forEach((row, p) => row.forEach((x, j) => (out[j * batch(set) + p] = x)));
  return out;
}

export function measurementsOf(patients: readonly Patient[], set: Pick<Preset, 'slots'>): Float64Array {
  return packed(patients.map((patient) => patient.measurements), set);
}

/** Values on the way to z, which is w x + v x² + b of every patient and the sigmoid's argument. */
interface Margin {
  readonly linear: Value;
  readonly square: Value;
  readonly quadratic: Value;
  readonly terms: Value;
  readonly sum: Value;
  readonly z: Value;
}

/** Names of the program's values and of its input. */
export type ValueName = 'measurements' | keyof Margin | 'score';

function marginOf(program: Program, model: Model, set: Pick<Preset, 'slots'>): Margin {
  const count = batch(set);
  const weights = (weights: readonly number[]): Float64Array => packed(Array.from({ length: count }, () => weights), set);
  const x = program.input('measurements');
  const linear = x.mul(weights(model.linear));
  const square = x.mul(x);
  const quadratic = square.mul(weights(model.quadratic));
  const terms = linear.add(quadratic);
  const sum = terms.rotateSum(WIDTH, count);
  return { linear, square, quadratic, terms, sum, z: sum.add(model.bias).named('z') };
}

/** w x + v x² + b of every patient, in [-1, 1]: the argument of the sigmoid. The program gets an input "measurements". */
export function margin(program: Program, model: Model, set: Pick<Preset, 'slots'>): Value {
  return marginOf(program, model, set).z;
}

/**
 * The model as a program: nothing in it is about levels. Besides the score it outputs every value on the way, so that the page can tell the
 * level and scale of each. That costs no computation, but each of them comes back as a ciphertext.
 */
export function inference(model: Model, set: Pick<Preset, 'slots'>): Program {
  const program = new Program(set);
  const margin = marginOf(program, model, set);
  for (const [name, value] of Object.entries(margin) as [string, Value][]) program.output(name, value);
  program.output('score', margin.z.polynomial(model.sigmoid, { interval: [-1, 1] }).named('sigmoid'));
  return program;
}
