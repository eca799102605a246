import { Ciphertext } from '../api/ciphertext.js';
import { objectOf, type Kinds } from '../api/check-options.js';
import type { KeySet } from '../api/key-set.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { SecretKey } from '../api/secret.js';
import { keyMismatch } from '../api/sets.js';
import { EngineRun, freeing } from '../engine/engine-run.js';
import { Fraction } from '../engine/fraction.js';
import type { GlueBootstrapKeys, GlueDigitRun } from '../engine/glue.js';
import { ckks, classOf, type Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import { Program, type Value } from '../program/program.js';
import { SteppableRun } from '../run.js';
import type { StageEvent, StageIds } from '../stages.js';

/** Options for reading digits in the page. */
export interface DigitOptions extends SignalOptions {
  /** The secret key: adds `view` events, what the ciphertexts hold after each stage, decrypted here. */
  readonly inspect?: KeySet | undefined;
}

/** @internal */
export const DIGITS: Kinds<DigitOptions> = { ...SIGNAL, inspect: objectOf('the key set that decrypts the input', SecretKey) };

/** What is read, and the keys to read it with. @internal */
export interface Readings {
  readonly keys: Handle<GlueBootstrapKeys>;
  readonly keyId: string;
  readonly slots: number;
  readonly preset: string;
  /** Stages of a pass. */
  readonly stages: readonly string[];
  /** Adds the readings of a value. */
  readonly read: (x: Value) => readonly Value[];
  /** A number that is added to the numbers before reading. */
  readonly shift?: number;
}

/** The stage that only the first pass has, and only when fractions are read; it does not count. */
const ROUNDING: StageIds['ckks-msb'] = 'discretise';

/** Reads digits of a ciphertext, stage by stage; `result` makes something of what was read. @internal */
export function readDigits<T>(
  port: Port,
  ciphertext: Ciphertext,
  { keys, keyId, slots, preset, stages, read, shift = 0 }: Readings,
  { inspect, signal }: DigitOptions,
  result: (read: readonly Ciphertext[]) => T,
): SteppableRun<T, StageEvent> {
  if (keys.module !== 'digits') {
    throw new RefloatError('INVALID_ARGUMENT', `${preset} reads no digits; take a set whose method is ckks-msb, such as toy-msb10`);
  }
  keyMismatch(keyId, ciphertext, 'these bootstrapping keys');
  if (inspect) keyMismatch(inspect.id, ciphertext, 'the key set to inspect with');
  const program = new Program({ slots });
  const values = read(program.input('x'));
  values.forEach((value, i) => program.output(String(i), value));
  const bytes = program.toBytes();
  const [x, secret] = [ciphertext.handleIn(port), inspect?.handleIn(port)];
  const { mode } = ciphertext;
  return new SteppableRun((control) => {
    const begun = port.call(classOf(ckks(x.module), 'DigitRun'), 'begin', x, bytes, shift);
    return freeing(port, begun, async (handle) => {
      const run = new EngineRun<GlueDigitRun, StageEvent>(port, handle, control, Fraction.of(stages.filter((stage) => stage !== ROUNDING), handle.passes));
      // The cost: the number of passes through all stages.
      control.emit({ kind: 'progress', stage: 'look_up', done: 0, total: handle.passes, fraction: 0, atMs: 0 });
      for (let [finished, stage] = [false, handle.stage]; !finished; ) {
        await control.gate();
        run.enter(stage);
        const step = await (secret ? run.step('stepInspected', keys, secret) : run.step('step', keys));
        [finished, stage] = [step.value, step.state.stage];
      }
      const results: Ciphertext[] = [];
      for (const index of values.keys()) results.push(new Ciphertext(port, await port.call(handle, 'finish', index), mode));
      return result(results);
    });
  }, signal);
}

/** The one result of a reading. @internal */
export function only(results: readonly Ciphertext[]): Ciphertext {
  const [result] = results;
  if (!result) throw new RefloatError('INVALID_ARGUMENT', 'nothing was read; ask for one reading at least');
  return result;
}
