import { CLOSE_GATES, type State } from './views.js';

/** An addition, and the bootstrapping of one gate, as JSON. */
export interface RecordedGates {
  /** What made it. */
  readonly made: string;
  readonly set: string;
  readonly numbers: readonly [number, number];
  /** Milliseconds of each gate, and of all of them on `threads` threads. */
  readonly times: readonly number[];
  readonly total: number;
  readonly threads: number;
  readonly sum: number;
  /** The gate whose bootstrapping is shown: its operands, phases in turns, and what its result decrypts to. */
  readonly close: {
    readonly gate: string;
    readonly operands: readonly boolean[];
    readonly before: number;
    readonly rounded: number;
    readonly after: number;
    readonly ms: number;
    /** How many coefficients the accumulator has. */
    readonly coefficients: number;
    /** The coefficients that are drawn, at the end. */
    readonly accumulator: readonly number[];
    readonly result: boolean;
  };
}

/** A recorded run as the page shows it. */
export function decode(run: RecordedGates): Pick<State, 'recorded' | 'numbers' | 'times' | 'total' | 'threads' | 'sum' | 'gate' | 'operands' | 'seen' | 'result'> {
  const { gate, operands, accumulator, result, ...seen } = run.close;
  return {
    recorded: run.made,
    numbers: [...run.numbers],
    times: [...run.times],
    total: run.total,
    threads: run.threads,
    sum: run.sum,
    gate: CLOSE_GATES.find((name) => name === gate) ?? 'nand',
    operands: [...operands],
    seen: { ...seen, recorded: true, accumulator: Float64Array.from(accumulator) },
    result,
  };
}
