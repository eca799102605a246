import type { Machine } from '../machine.js';

/** One kind of comparison, both ways, as `refloat reproduce scheme-switching --crossing --json` prints it. */
export interface Crossing {
  readonly numbers: string;
  readonly gates: string;
  /** Blind rotations of one comparison. */
  readonly rotations: number;
  /** Seconds for the way to the gates and back, and for one comparison. */
  readonly gatesFixed: number;
  readonly gatesEach: number;
  readonly digits: string;
  readonly passes: number;
  /** Comparisons in one ciphertext, and seconds for all of them. */
  readonly slots: number;
  readonly digitsSeconds: number;
  /** The crossing by the survey's rule, and as measured, in comparisons. */
  readonly published: number;
  readonly crossing: number | null;
  /** Number of comparisons whose bits come back together. */
  readonly atOnce: number;
  readonly wrong: number;
}

/** A method of the survey and ours, as `refloat reproduce demystifying --json` prints them. */
export interface Surveyed {
  readonly method: string;
  readonly publishedSlots: number;
  readonly publishedBits: string;
  readonly publishedSeconds: number;
  readonly publishedSlotsPerSecond: number;
  readonly params: string | null;
  readonly measured: { readonly slots: number; readonly bits: number; readonly seconds: number; readonly slotsPerSecond: number } | null;
  readonly note: string;
}

/** What a command printed. */
export interface Printed<Row> {
  readonly source: string;
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

/** What both commands printed. */
export interface Recorded {
  readonly crossing: Printed<Crossing>;
  readonly survey: Printed<Surveyed>;
}

/** Seconds for `count` comparisons by gates: the way there and back is taken once for every `atOnce` bits. */
export function byGates({ gatesFixed, gatesEach, atOnce }: Crossing, count: number): number {
  return gatesFixed * Math.ceil(count / atOnce) + gatesEach * count;
}

/** Seconds for `count` comparisons by digits: a ciphertext is compared whole, however few numbers it has. */
export function byDigits({ digitsSeconds, slots }: Crossing, count: number): number {
  return digitsSeconds * Math.ceil(count / slots);
}

/** Number of comparisons from which digits are cheaper; nothing if gates stay cheaper for as many as come back together. */
export function crossingOf({ crossing, atOnce }: Crossing): number | undefined {
  return crossing === null || crossing > atOnce ? undefined : crossing;
}

/** Number of slots from which one bootstrap is faster than a gate or look-up for each; nothing for the gates themselves. */
export function slotsToFill(row: Surveyed, gate: Surveyed): number | undefined {
  if (!row.measured || !gate.measured || row.measured.slots === 1) return undefined;
  return row.measured.seconds / gate.measured.seconds;
}

/** Our gates and look-ups, the slowest last. */
export function gatesOf(rows: readonly Surveyed[]): Surveyed[] {
  const own = rows.filter(({ measured }) => measured?.slots === 1);
  return own.sort((a, b) => (a.measured?.seconds ?? 0) - (b.measured?.seconds ?? 0));
}
