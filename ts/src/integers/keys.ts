import { checkOptions, objectOf, type Kinds } from '../api/check-options.js';
import { EvaluationKeys, type KeyOwner } from '../api/evaluation-keys.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { SecretKey } from '../api/secret.js';
import { keyMismatch } from '../api/sets.js';
import { EngineRun, freeing } from '../engine/engine-run.js';
import { Fraction } from '../engine/fraction.js';
import type { GlueIntegerCiphertext, GlueIntegerKeys, GlueIntegerProgram, GlueIntegerRun } from '../engine/glue.js';
import { INTEGERS, classOf, type Handle, type Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import type { Program } from '../program/program.js';
import { PROGRAM, inputsOf, mustHaveSlots, runHere, type ProgramOptions } from '../program/run.js';
import { SteppableRun } from '../run.js';
import { IntegerCiphertext } from './ciphertext.js';
import type { IntegerKeySet } from './key-set.js';
import type { IntegerEvent, IntegerPreset, IntegerProgramEvent, IntegerStageId, IntegerView } from './params.js';

/** Options of `IntegerKeys.bootstrap`. */
export interface IntegerBootstrapOptions extends SignalOptions {
  /** The secret key, to add `view` events with what the run holds: for the owner's eyes, in this page alone. */
  readonly inspect?: IntegerKeySet;
}

const BOOTSTRAP: Kinds<IntegerBootstrapOptions> = { ...SIGNAL, inspect: objectOf('the key set that decrypts the input', SecretKey) };

/**
 * The public keys for computing on encrypted integers, resident in the wasm instance. Made by `IntegerKeySet.evaluationKeys()`. Operations
 * without keys, such as sums, are methods of the ciphertexts: see {@link IntegerCiphertext}.
 *
 * Results are exact modulo `params.modulus`, and an operation that could lose them is refused with the code `LIMIT`.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
 * using evaluation = await keys.evaluationKeys();
 * using x = await keys.encrypt([3, 1, 4]);
 * using square = await evaluation.multiply(x, x);
 * using sum = await square.add(x);
 * const run = evaluation.bootstrap(sum);
 * for await (const e of run) if (e.kind === 'exit') console.log(e.stage, e.level);
 * using fresh = await run;
 * console.log((await keys.decrypt(fresh)).slice(0, 3)); // 12, 2, 20
 * rf.close();
 * ```
 */
export class IntegerKeys extends EvaluationKeys<GlueIntegerKeys, IntegerPreset> {
  /** @internal */
  constructor(port: Port, handle: Handle<GlueIntegerKeys>, owner: KeyOwner<IntegerPreset>, memoryBytes: number) {
    super(port, handle, owner, memoryBytes, 'the evaluation keys', 'IntegerKeys', 'evaluationKeys');
  }

  /** x y, slot by slot; takes one level. */
  async multiply(x: IntegerCiphertext, y: IntegerCiphertext): Promise<IntegerCiphertext> {
    return this.#made(this.port.call(this.handle, 'multiply', this.#handle(x, PLAIN), this.#handle(y, PLAIN)));
  }

  /**
   * Both rows moved to the left by `steps` slots, cyclically: slot j of a row gets the value of slot j + steps; negative `steps` move to
   * the right. It is composed of rotations that there are keys for: one for a power of two, a few for other steps.
   */
  async rotate(x: IntegerCiphertext, steps: number): Promise<IntegerCiphertext> {
    if (!Number.isInteger(steps)) throw new RefloatError('INVALID_ARGUMENT', `a rotation by ${steps} slots; pass an integer`);
    // Reduced cyclically in a row, so that it fits 32 bits.
    return this.#made(this.port.call(this.handle, 'rotate', this.#handle(x), steps % (this.params.slots / 2)));
  }

  /** Exchanges the two rows. */
  async swapRows(x: IntegerCiphertext): Promise<IntegerCiphertext> {
    return this.#made(this.port.call(this.handle, 'swapRows', this.#handle(x)));
  }

  /**
   * Refreshes in the page: from `params.inputLevel` or above to `params.outputLevel`. The ciphertext passed in stays as it is. With
   * `inspect`, `view` events tell the digits that the run holds.
   */
  bootstrap(x: IntegerCiphertext, options: IntegerBootstrapOptions = {}): SteppableRun<IntegerCiphertext, IntegerEvent> {
    const { port, handle: keys } = this;
    checkOptions(options, 'bootstrap()', BOOTSTRAP);
    const ct = this.#handle(x);
    const secret = options.inspect?.handleIn(port);
    const { stages } = this.params;
    return new SteppableRun((control) => {
      const begun = port.call(classOf(INTEGERS, 'IntegerRun'), 'begin', ct);
      return freeing(port, begun, async (handle) => {
        const run = new EngineRun<GlueIntegerRun, IntegerEvent>(port, handle, control, Fraction.of(stages.map(({ id }) => id)));
        let stage: IntegerStageId | 'input' = 'input';
        const look = async (): Promise<void> => {
          if (!secret) return;
          const seen: Pick<IntegerView, 'place' | 'low' | 'high'> = await port.call(handle, 'digits', secret);
          control.emit({ kind: 'view', stage, atMs: run.busyMs, ...seen });
        };
        await look();
        for (;;) {
          await control.gate();
          const { value: finished, events } = await run.step('step', keys);
          stage = (events.at(-1) as IntegerEvent | undefined)?.stage ?? stage;
          await look();
          if (finished) return new IntegerCiphertext(port, await port.call(handle, 'finish'));
        }
      });
    }, options.signal);
  }

  /**
   * Runs a program on integers in the page, as `Server.run()` does on a server: the same steps and the same bytes. Bootstraps are inserted
   * where levels run out, or where noise would leave no room for a result. A program that does not fit the set is refused before anything
   * is computed, and the error names the node.
   *
   * @example
   * ```ts
   * import { Program, Refloat } from 'refloat';
   *
   * const rf = await Refloat.load();
   * using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
   * using evaluation = await keys.evaluationKeys();
   * const p = new Program(keys.params);
   * const [x, y] = [p.input('x'), p.input('y')];
   * p.output('z', x.mul(y).add(x).polynomial([1, 0, 1])); // 1 + (x y + x)^2
   * const { z } = await evaluation.run(p, { x: await keys.encrypt([2]), y: await keys.encrypt([3]) });
   * if (z) console.log((await keys.decrypt(z))[0]); // 65
   * rf.close();
   * ```
   */
  run(
    program: Program,
    inputs: Readonly<Record<string, IntegerCiphertext>>,
    options: ProgramOptions = {},
  ): SteppableRun<Record<string, IntegerCiphertext>, IntegerProgramEvent> {
    checkOptions(options, 'run()', PROGRAM);
    const { port, handle: keys } = this;
    const { bootstraps, signal } = options;
    const [first, all] = inputsOf(program, inputs, IntegerCiphertext);
    const [x, bytes] = [this.#handle(first), program.toBytes()];
    mustHaveSlots(program, this.params);
    const others = all.slice(1).map((ciphertext) => ciphertext.handleIn(port));
    return runHere<GlueIntegerProgram, IntegerCiphertext, IntegerProgramEvent>(
      port,
      program,
      this.params.stages.length,
      {
        begin: () => asSent(port, x, (x) => port.call(classOf(INTEGERS, 'IntegerProgram'), 'begin', bytes, bootstraps !== 'as-written', x)),
        give: async (handle) => {
          for (const other of others) await asSent(port, other, (y) => port.call(handle, 'give', y));
        },
        plan: (handle) => port.call(handle, 'plan', keys),
        step: (run) => run.step('step', keys),
        take: async (handle, index) => new IntegerCiphertext(port, await port.call(handle, 'finish', index)),
      },
      signal,
    );
  }

  async #made(made: Promise<Made<GlueIntegerCiphertext>>): Promise<IntegerCiphertext> {
    return new IntegerCiphertext(this.port, await made);
  }

  #handle(x: IntegerCiphertext, plain?: string): Handle<GlueIntegerCiphertext> {
    keyMismatch(this.keyId, x, 'these evaluation keys', plain);
    return x.handleIn(this.port);
  }
}

/** What multiplies a ciphertext by plain integers. */
const PLAIN = 'multiplyPlain() of the ciphertext';

/** Passes a ciphertext on as a server would read it, with the noise that the wire form states, so that results are the same bytes. */
async function asSent<R>(port: Port, x: Handle<GlueIntegerCiphertext>, use: (x: Handle<GlueIntegerCiphertext>) => Promise<R>): Promise<R> {
  const bytes = await port.call(x, 'toBytes');
  return freeing(port, port.call(classOf(INTEGERS, 'IntegerCiphertext'), 'fromBytes', bytes), use);
}
