import type { Machine } from '../machine.js';

/** One kind of comparison, both ways, as `refloat reproduce scheme-switching --crossing --json` prints it. */
export interface Crossing {
  readonly numbers: string;
  readonly gates: string;
  /** Rotations of one comparison. */
  readonly rotations: number;
  /** Seconds there and back, and of one comparison. */
  readonly gatesFixed: number;
  readonly gatesEach: number;
  readonly digits: string;
  readonly passes: number;
  /** Comparisons of one ciphertext, and seconds of all of them. */
  readonly slots: number;
  readonly digitsSeconds: number;
  /** The survey's rule, in comparisons. */
  readonly published: number;
  readonly crossing: number | null;
  /** Comparisons whose bits come back at once. */
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

/** Seconds of so many comparisons by gates: as many ways there and back as their bits take. */
export function byGates({ gatesFixed, gatesEach, atOnce }: Crossing, count: number): number {
  return gatesFixed * Math.ceil(count / atOnce) + gatesEach * count;
}

/** Seconds of so many comparisons by digits: a ciphertext is compared whole, however few numbers it has. */
export function byDigits({ digitsSeconds, slots }: Crossing, count: number): number {
  return digitsSeconds * Math.ceil(count / slots);
}

/** Comparisons from which on digits are cheaper; nothing where gates stay the cheaper way as long as bits come back at once. */
export function crossingOf({ crossing, atOnce }: Crossing): number | undefined {
  return crossing === null || crossing > atOnce ? undefined : crossing;
}

/** Slots from which on a bootstrap of all is faster than a gate or look-up for each; nothing for the gates themselves. */
export function slotsToFill(row: Surveyed, gate: Surveyed): number | undefined {
  if (!row.measured || !gate.measured || row.measured.slots === 1) return undefined;
  return row.measured.seconds / gate.measured.seconds;
}

/** Our gates and look-ups, slowest last. */
export function gatesOf(rows: readonly Surveyed[]): Surveyed[] {
  const own = rows.filter(({ measured }) => measured?.slots === 1);
  return own.sort((a, b) => (a.measured?.seconds ?? 0) - (b.measured?.seconds ?? 0));
}
