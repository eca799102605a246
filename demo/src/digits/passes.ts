/*
 * What the owner of the key sees of a run, slot by slot: where a number lies once it is wound around the circle, and what the table made of
 * it. All errors are in turns of the circle, so that they can be drawn at one scale.
 */
import type { StageEvent, StageView } from 'refloat/client';
import { factorOf, type Reading } from './readings.js';

/** One pass: the digit it reads, in every slot that is drawn. */
export interface Pass {
  readonly base: number;
  readonly factor: number;
  /** k x + I in steps of 1/t, and its error. */
  steps?: Int32Array;
  wound?: Float64Array;
  /** Distances from the nearest of the t points: outward, and along the circle. */
  outward?: Float64Array;
  along?: Float64Array;
  /** The digit that the table gave, and its error. */
  digits?: Int32Array;
  left?: Float64Array;
}

/** Stages of a pass that are drawn, in order. */
export const SHOWN = ['coeffs_to_slots', 'eval_exp', 'look_up'] as const;

/** The passes of a reading, before any events. */
export function passesOf(reading: Reading): Pass[] {
  return reading.bases.map((base, i) => ({ base, factor: factorOf(reading, i) }));
}

/** How many views the passes have: those of finished passes, and those of the one under way. */
export function seenIn(passes: readonly Pass[]): number {
  return passes.reduce((sum, { steps, outward, digits }) => sum + Number(!!steps) + Number(!!outward) + Number(!!digits), 0);
}

/** Takes in what a stage left. */
export function take(passes: readonly Pass[], event: StageEvent): void {
  if (event.kind !== 'view') return;
  const pass = passes.find((p) => !p.digits);
  if (!pass) return;
  if (event.stage === 'coeffs_to_slots') wind(pass, event);
  if (event.stage === 'eval_exp') point(pass, event);
  // Slots are complex, and digits real.
  if (event.stage === 'look_up') look(pass, event.data.filter((_, i) => i % 2 === 0), pass.base * pass.factor);
}

function wind(pass: Pass, { data }: StageView): void {
  pass.steps = Int32Array.from(data, (x) => Math.round(x * pass.base));
  pass.wound = data.map((x, i) => x - (pass.steps?.[i] ?? 0) / pass.base);
}

function point(pass: Pass, { data }: StageView): void {
  const count = data.length / 2;
  pass.outward = new Float64Array(count);
  pass.along = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const [re, im] = [data[2 * i] ?? 0, data[2 * i + 1] ?? 0];
    const angle = (2 * Math.PI * (pass.steps?.[i] ?? 0)) / pass.base;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    // Divided by the exact point: 1 and the errors.
    pass.outward[i] = (re * cos + im * sin - 1) / (2 * Math.PI);
    pass.along[i] = (im * cos - re * sin) / (2 * Math.PI);
  }
}

/** Digits in a fraction, as multiples of 1 / `steps`. */
function look(pass: Pass, data: Float64Array, steps: number): void {
  pass.digits = Int32Array.from(data, (x) => Math.round(x * steps));
  pass.left = data.map((x, i) => (x * steps - (pass.digits?.[i] ?? 0)) / pass.base);
}

/** Fills in the last digit, which is in the result alone: the result less the digits that were subtracted. */
export function finish(passes: readonly Pass[], reading: Reading, output: Float64Array): void {
  const last = passes.at(-1);
  if (!last || last.digits) return;
  if (reading.table) {
    const points = last.steps ?? new Int32Array();
    last.digits = points.map((step) => ((step % last.base) + last.base) % last.base);
    return;
  }
  const rest = output.map((y, slot) => {
    const below = passes.slice(0, -1).reduce((sum, { digits, base, factor }) => sum + (digits?.[slot] ?? 0) / (base * factor), 0);
    return y / reading.modulus - below;
  });
  look(last, rest, last.base);
}

/** The largest of some errors. */
export function largest(...errors: readonly (Float64Array | undefined)[]): number {
  return errors.reduce((most, each) => each?.reduce((m, e) => Math.max(m, Math.abs(e)), most) ?? most, 0);
}
