import type { GlueArithmeticKeys, GlueCiphertext } from '../engine/glue.js';
import type { Handle, Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { runProgram } from '../program/here.js';
import type { Program } from '../program/program.js';
import type { ProgramEvent } from '../program/run.js';
import type { SteppableRun } from '../run.js';
import type { Preset, SlotMode } from '../params.js';
import { stepsWithin } from './arguments.js';
import { checkOptions } from './check-options.js';
import { Ciphertext, joinedMode } from './ciphertext.js';
import { EvaluationKeys, type KeyOwner } from './evaluation-keys.js';
import { SIGNAL, type SignalOptions } from './options.js';
import { ARITHMETIC, repaired } from './repairs.js';
import { keyMismatch } from './sets.js';

/**
 * The public keys for products, rotations and conjugation, without those of a bootstrapping; resident in the wasm instance. Made by
 * `KeySet.arithmeticKeys()`. Operations without keys, such as sums, are methods of the ciphertexts: see {@link Ciphertext}.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy-conventional11', { allowInsecure: true });
 * using arithmetic = await keys.arithmeticKeys({ rotations: [1] }); // two keys: products, and one rotation
 * console.log(arithmetic.memoryBytes);
 * using x = await keys.encrypt([0.5, -0.25, 1]);
 * using square = await arithmetic.multiply(x, x);
 * using next = await arithmetic.rotate(square, 1);
 * using sum = await square.add(next);
 * console.log((await keys.decrypt(sum)).slice(0, 2)); // nearly 0.3125, 1.0625
 * rf.close();
 * ```
 */
export class ArithmeticKeys extends EvaluationKeys<GlueArithmeticKeys, Preset> {
  /** @internal */
  constructor(port: Port, handle: Handle<GlueArithmeticKeys>, owner: KeyOwner<Preset>, memoryBytes: number) {
    super(port, handle, owner, memoryBytes, 'the keys for arithmetic', 'ArithmeticKeys', 'arithmeticKeys');
  }

  /** x y, slot by slot: relinearised, and one level below the lower of the two. */
  async multiply(x: Ciphertext, y: Ciphertext): Promise<Ciphertext> {
    const [left, right] = [this.#handle(x, PLAIN), this.#handle(y, PLAIN)];
    return this.#made(this.port.call(this.handle, 'multiply', left, right), joinedMode(x, y));
  }

  /**
   * Slots moved to the left by `steps`, cyclically: slot j gets the value of slot j + steps; negative `steps` move to the right. It is
   * composed of rotations that there are keys for.
   */
  async rotate(x: Ciphertext, steps: number): Promise<Ciphertext> {
    const hop = stepsWithin(this.params.slots, steps);
    return this.#made(repaired(this.port.call(this.handle, 'rotate', this.#handle(x), hop), ARITHMETIC), x.mode);
  }

  /** The complex conjugates of the slots. */
  async conjugate(x: Ciphertext): Promise<Ciphertext> {
    return this.#made(repaired(this.port.call(this.handle, 'conjugate', this.#handle(x)), ARITHMETIC), x.mode);
  }

  /**
   * Runs a program without bootstraps in the page, as {@link BootstrapKeys.run} does. A program with bootstraps, or one that needs more
   * levels than there are, is refused before anything is computed.
   */
  run(
    program: Program,
    inputs: Readonly<Record<string, Ciphertext>>,
    options: SignalOptions = {},
  ): SteppableRun<Record<string, Ciphertext>, ProgramEvent> {
    checkOptions(options, 'run()', SIGNAL);
    const { port, keyId, params } = this;
    const tools = { arithmetic: this.handle };
    return runProgram({ port, program, inputs, keyId, params, what: 'these keys for arithmetic', tools }, options);
  }

  async #made(made: Promise<Made<GlueCiphertext>>, mode: SlotMode): Promise<Ciphertext> {
    return new Ciphertext(this.port, await made, mode);
  }

  #handle(x: Ciphertext, plain?: string): Handle<GlueCiphertext> {
    keyMismatch(this.keyId, x, 'these keys for arithmetic', plain);
    return x.handleIn(this.port);
  }
}

/** What multiplies a ciphertext by plain numbers. */
const PLAIN = 'multiplyPlain() of the ciphertext';
