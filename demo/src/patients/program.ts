import { Program, type Preset, type Value } from 'refloat/client';
import type { Model, Patient } from './model.js';

/** Slots to a patient: thirty measurements, and two that are zero. */
export const WIDTH = 32;

/** How many patients a ciphertext takes. */
export function batch(set: Pick<Preset, 'slots'>): number {
  return set.slots / WIDTH;
}

/** Measurement j of patient p in slot j P + p, for P patients to a ciphertext: rotations by multiples of P sum them up. */
export function packed(rows: readonly (readonly number[])[], set: Pick<Preset, 'slots'>): Float64Array {
  const out = new Float64Array(set.slots);
  rows.forEach((row, p) => row.forEach((x, j) => (out[j * batch(set) + p] = x)));
  return out;
}

export function measurementsOf(patients: readonly Patient[], set: Pick<Preset, 'slots'>): Float64Array {
  return packed(patients.map((patient) => patient.measurements), set);
}

/** Values on the way to z, w x + v x² + b of every patient, which the sigmoid is taken of. */
interface Margin {
  readonly linear: Value;
  readonly square: Value;
  readonly quadratic: Value;
  readonly terms: Value;
  readonly sum: Value;
  readonly z: Value;
}

/** What the values of the program are called, and its input. */
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

/** w x + v x² + b of every patient, in [-1, 1]: what the sigmoid is taken of. The program gets an input "measurements". */
export function margin(program: Program, model: Model, set: Pick<Preset, 'slots'>): Value {
  return marginOf(program, model, set).z;
}

/**
 * The model as a program: nothing in it is about levels. Beside the score it puts out every value on the way, so that the page can tell at
 * which level and scale each of them is. That costs no computation, but each comes back as a ciphertext.
 */
export function inference(model: Model, set: Pick<Preset, 'slots'>): Program {
  const program = new Program(set);
  const margin = marginOf(program, model, set);
  for (const [name, value] of Object.entries(margin) as [string, Value][]) program.output(name, value);
  program.output('score', margin.z.polynomial(model.sigmoid, { interval: [-1, 1] }).named('sigmoid'));
  return program;
}
