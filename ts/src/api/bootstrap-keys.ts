import { DIGITS, only, readDigits, type DigitOptions } from '../digits/run.js';
import type { GlueBootstrapKeys } from '../engine/glue.js';
import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { INSPECTED_ORDER, INSPECTED_SIGN, answer, type InspectedOrderOptions } from '../link/run.js';
import type { Preset } from '../params.js';
import type { Numbers } from '../program/encode.js';
import { runProgram } from '../program/here.js';
import { LOOK_UP, MOD, QUANTISE, type OrderOptions, type Program, type Value } from '../program/program.js';
import { PROGRAM, type ProgramEvent, type ProgramOptions } from '../program/run.js';
import type { SteppableRun } from '../run.js';
import type { StageEvent } from '../stages.js';
import { checkOptions } from './check-options.js';
import type { Ciphertext } from './ciphertext.js';
import { EvaluationKeys, type KeyOwner } from './evaluation-keys.js';

/**
 * The public keys a bootstrapping needs, resident in the wasm instance. Made by
 * `KeySet.bootstrapKeys()`; see there for an example.
 *
 * Those of a set for modular reduction (`ckks-msb`) also read digits, with methods named as those of {@link Value} for programs. Results
 * are refreshed: they have the levels of the set, less those of the tables that are looked up in. Every digit is a pass of its own through
 * all stages. `progress` events of `look_up` count the digits, and the first event says how many there will be, before anything is
 * computed. A reading that the noise or the levels of its numbers do not allow is refused before anything is computed.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy-msb10', { allowInsecure: true });
 * using boot = await keys.bootstrapKeys();
 * using x = await keys.encrypt([1000.75, -0.25, 41]);
 * using fraction = await boot.mod(x, 1);
 * console.log((await keys.decrypt(fraction)).slice(0, 2)); // nearly 0.75, 0.75
 * const run = boot.intMod(x, 24);
 * for await (const e of run) if (e.kind === 'progress') console.log(`${e.done} of ${e.total} digits`);
 * using hour = await run;
 * console.log(Math.round((await keys.decrypt(hour))[2] ?? 0)); // 17
 * rf.close();
 * ```
 *
 * Those of a set that links numbers to gates (`scheme-switching`) compare the first slots of a ciphertext, with the same methods as
 * {@link Value}: every pair is a blind rotation, which `progress` events of `compare` count.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy-link', { allowInsecure: true });
 * using boot = await keys.bootstrapKeys();
 * using scores = await keys.encrypt([0.25, 0.875, 0.5]);
 * using winner = await boot.argmax(scores, 3, { bounds: 'unit' });
 * console.log((await keys.decrypt(winner)).slice(0, 3).map(Math.round)); // 0, 1, 0
 * rf.close();
 * ```
 */
export class BootstrapKeys extends EvaluationKeys<GlueBootstrapKeys, Preset> {
  /** Whether all keys are in memory; otherwise each track makes its own, on all available threads. */
  readonly resident: boolean;

  /** @internal */
  constructor(port: Port, handle: Handle<GlueBootstrapKeys>, owner: KeyOwner<Preset>, memoryBytes: number, resident: boolean) {
    super(port, handle, owner, memoryBytes, 'the bootstrapping keys', 'BootstrapKeys', 'bootstrapKeys');
    this.resident = resident;
  }

  /**
   * Runs a program in the page, as `Server.run()` does on a server: the same steps, the same events and the same bytes. Bootstraps are
   * inserted where levels run out; here they take one thread each, unlike `bootstrap()`. A program that does not fit the set is refused
   * before anything is computed, and the error names the node.
   *
   * @example
   * ```ts
   * import { Program, Refloat } from 'refloat';
   *
   * const rf = await Refloat.load();
   * using keys = await rf.keygen('toy-conventional11', { allowInsecure: true });
   * using boot = await keys.bootstrapKeys();
   * const p = new Program(keys.params);
   * p.output('score', p.input('x').mul([0.5, -0.25, 1]).rotateSum(4).polynomial([0.5, 0.25, 0, -0.02]));
   * using x = await keys.encrypt([0.5, 1, -1]);
   * const run = boot.run(p, { x });
   * for await (const e of run) if (e.kind === 'progress') console.log(`${Math.round(100 * (e.fraction ?? 0))} %`);
   * const { score } = await run;
   * if (score) console.log((await keys.decrypt(score))[0]); // nearly 0.27
   * rf.close();
   * ```
   */
  run(
    program: Program,
    inputs: Readonly<Record<string, Ciphertext>>,
    options: ProgramOptions = {},
  ): SteppableRun<Record<string, Ciphertext>, ProgramEvent> {
    checkOptions(options, 'run()', PROGRAM);
    const { port, keyId, params } = this;
    const tools = { bootstrap: this.handle, stages: params.stages.length };
    return runProgram({ port, program, inputs, keyId, params, what: 'these bootstrapping keys', tools }, options);
  }

  /**
   * x modulo `modulus`, for x up to 2^20 and up to 2^20 times the modulus. The result lies in [0, `modulus`), or around 0 if `centred`, and
   * is right to `bits` bits (15 by default). A slot near one end of the range may come back at the other end.
   */
  mod(
    x: Ciphertext,
    modulus: number,
    options: DigitOptions & { readonly bits?: number | undefined; readonly centred?: boolean | undefined } = {},
  ): SteppableRun<Ciphertext, StageEvent> {
    checkOptions(options, 'mod()', { ...DIGITS, ...MOD });
    const { inspect, signal, ...how } = options;
    return this.#read(x, (value) => [value.mod(modulus, how)], options, only);
  }

  /** Integers modulo an integer, in [0, `modulus`), exact except for noise. */
  intMod(x: Ciphertext, modulus: number, options: DigitOptions = {}): SteppableRun<Ciphertext, StageEvent> {
    checkOptions(options, 'intMod()', DIGITS);
    return this.#read(x, (value) => [value.intMod(modulus)], options, only);
  }

  /**
   * The bits of floor(2^count x) for x modulo 1, the lowest first; close to the end of a step, a bit may be that of the neighbouring step.
   */
  bits(x: Ciphertext, count: number, options: DigitOptions = {}): SteppableRun<readonly Ciphertext[], StageEvent> {
    checkOptions(options, 'bits()', DIGITS);
    return this.#read(x, (value) => value.bits(count), options, (bits) => bits);
  }

  /**
   * The entry floor(t x) of a table of length t, for x modulo 1; close to the end of a step, the neighbouring entry may be returned. With
   * `exact` the slots are multiples of 1/t, and one digit is read instead of two.
   */
  lookUp(
    x: Ciphertext,
    table: Numbers,
    options: DigitOptions & { readonly exact?: boolean | undefined } = {},
  ): SteppableRun<Ciphertext, StageEvent> {
    checkOptions(options, 'lookUp()', { ...DIGITS, ...LOOK_UP });
    const { inspect, signal, ...how } = options;
    return this.#read(x, (value) => [value.lookUp(table, how)], options, only);
  }

  /** The largest multiple of 1/`steps` that is not above x modulo 1, or the nearest one. */
  quantise(
    x: Ciphertext,
    steps: number,
    options: DigitOptions & { readonly nearest?: boolean | undefined } = {},
  ): SteppableRun<Ciphertext, StageEvent> {
    checkOptions(options, 'quantise()', { ...DIGITS, ...QUANTISE });
    return this.#read(x, (value) => [value.quantise(steps)], options, only, options.nearest ? 0.5 / steps : 0);
  }

  /**
   * 1 in the slot of the largest of the first `count` slots, and 0 in all others. Slots lie in [-1, 1], unless `bounds` says otherwise.
   * Values that are close may be mistaken for each other, except on a grid, where the first of several equal ones counts as the largest.
   */
  argmax(x: Ciphertext, count: number, options: InspectedOrderOptions = {}): SteppableRun<Ciphertext, StageEvent> {
    return this.#order('argmax()', x, (value, how) => value.argmax(count, how), options);
  }

  /** 1 in the slot of the smallest of the first `count` slots, and 0 in all others. */
  argmin(x: Ciphertext, count: number, options: InspectedOrderOptions = {}): SteppableRun<Ciphertext, StageEvent> {
    return this.#order('argmin()', x, (value, how) => value.argmin(count, how), options);
  }

  /** In each of the first `count` slots, the number of the others that are smaller; 0 in all remaining slots. */
  rank(x: Ciphertext, count: number, options: InspectedOrderOptions = {}): SteppableRun<Ciphertext, StageEvent> {
    return this.#order('rank()', x, (value, how) => value.rank(count, how), options, Math.max(1, Math.ceil(Math.log2(count))));
  }

  /** 1 in the slots of the `most` largest of the first `count` slots, and 0 in all others. */
  top(x: Ciphertext, count: number, most: number, options: InspectedOrderOptions = {}): SteppableRun<Ciphertext, StageEvent> {
    return this.#order('top()', x, (value, how) => value.top(count, most, how), options);
  }

  /** 1 in each of the first `count` slots, which lie in [-1, 1], that is at least 0; 0 in all other slots. */
  sign(x: Ciphertext, count: number, options: Omit<InspectedOrderOptions, 'bounds'> = {}): SteppableRun<Ciphertext, StageEvent> {
    checkOptions(options, 'sign()', INSPECTED_SIGN);
    return this.#ask(x, (value) => value.sign(count, { by: options.by }), options);
  }

  #order(
    where: string,
    x: Ciphertext,
    ask: (x: Value, how: OrderOptions) => Value,
    options: InspectedOrderOptions,
    lookUps = 1,
  ): SteppableRun<Ciphertext, StageEvent> {
    checkOptions(options, where, INSPECTED_ORDER);
    const { inspect, signal, ...how } = options;
    return this.#ask(x, (value) => ask(value, how), options, lookUps);
  }

  #ask(
    x: Ciphertext,
    ask: (x: Value) => Value,
    options: InspectedOrderOptions,
    lookUps = 1,
  ): SteppableRun<Ciphertext, StageEvent> {
    const { name: preset, slots } = this.params;
    return answer(this.port, x, { keys: this.handle, keyId: this.keyId, slots, preset, ask, lookUps }, options);
  }

  #read<T>(
    x: Ciphertext,
    read: (x: Value) => readonly Value[],
    options: DigitOptions,
    result: (read: readonly Ciphertext[]) => T,
    shift = 0,
  ): SteppableRun<T, StageEvent> {
    const { name: preset, slots } = this.params;
    const stages = this.params.stages.map(({ id }) => id);
    return readDigits(this.port, x, { keys: this.handle, keyId: this.keyId, slots, preset, stages, read, shift }, options, result);
  }
}
