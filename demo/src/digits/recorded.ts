import type { Pass } from './passes.js';
import type { ReadingName } from './readings.js';
import type { Seen } from './state.js';

/**
 * A pass as JSON: integers as they are, errors to seven digits. The result is kept whole: rounded to seven digits it would show no error.
 */
interface RecordedPass {
  readonly base: number;
  readonly factor: number;
  readonly steps: readonly number[];
  readonly digits: readonly number[];
  readonly wound: readonly number[];
  readonly outward: readonly number[];
  readonly along: readonly number[];
  readonly left: readonly number[];
}

/** A run as JSON. */
export interface RecordedDigits {
  readonly reading: ReadingName;
  readonly recorded: string;
  readonly level: number;
  readonly outputLevel: number;
  readonly ms: number;
  readonly numbers: readonly number[];
  readonly output: readonly number[];
  readonly passes: readonly RecordedPass[];
}

/** A recorded run as the page shows it. */
export function decode(run: RecordedDigits): Seen {
  const { reading, recorded, level, outputLevel, ms } = run;
  const passes = run.passes.map(
    (pass): Pass => ({
      base: pass.base,
      factor: pass.factor,
      steps: Int32Array.from(pass.steps),
      digits: Int32Array.from(pass.digits),
      wound: Float64Array.from(pass.wound),
      outward: Float64Array.from(pass.outward),
      along: Float64Array.from(pass.along),
      left: Float64Array.from(pass.left),
    }),
  );
  const [numbers, output] = [Float64Array.from(run.numbers), Float64Array.from(run.output)];
  return { reading, table: [], numbers, passes, output, level, outputLevel, ms, recorded };
}

/** The first `slots` slots of a finished run, to be recorded. */
export function encode(seen: Seen, slots: number, recorded: string): RecordedDigits {
  const few = (values: Float64Array | Int32Array | undefined): number[] => {
    if (!values) throw new Error('the run is not finished');
    return Array.from(values.subarray(0, slots), (x) => (Number.isInteger(x) ? x : Number(x.toPrecision(7))));
  };
  const passes = seen.passes.map(({ base, factor, steps, digits, wound, outward, along, left }) => ({
    base,
    factor,
    steps: few(steps),
    digits: few(digits),
    wound: few(wound),
    outward: few(outward),
    along: few(along),
    left: few(left),
  }));
  const { reading, level, outputLevel, ms, output } = seen;
  if (!output) throw new Error('the run is not finished');
  return { reading, recorded, level, outputLevel: outputLevel ?? 0, ms: Math.round(ms), numbers: few(seen.numbers), output: Array.from(output.subarray(0, slots)), passes };
}
