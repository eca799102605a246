import { checkOptions } from '../api/check-options.js';
import type { KeyOwner } from '../api/evaluation-keys.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { INTEGER_ARITHMETIC, type Repairs } from '../api/repairs.js';
import type { GlueIntegerArithmeticKeys } from '../engine/glue.js';
import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { Program } from '../program/program.js';
import type { SteppableRun } from '../run.js';
import type { IntegerCiphertext } from './ciphertext.js';
import { IntegerEvaluation } from './evaluation.js';
import { runIntegers } from './here.js';
import type { IntegerPreset, IntegerProgramEvent } from './params.js';

/**
 * The public keys for products, rotations and the swap of rows, without those of a bootstrapping; resident in the wasm instance. Made by
 * `IntegerKeySet.arithmeticKeys()`. Operations without keys, such as sums, are methods of the ciphertexts: see {@link IntegerCiphertext}.
 *
 * Results are exact modulo `params.modulus`, and an operation that could lose them is refused with the code `LIMIT`.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
 * using arithmetic = await keys.arithmeticKeys({ rotations: [1] }); // two keys: products, and one rotation
 * console.log(arithmetic.memoryBytes);
 * using x = await keys.encrypt([3, 1, 4]);
 * using square = await arithmetic.multiply(x, x);
 * using next = await arithmetic.rotate(square, 1);
 * using sum = await square.add(next);
 * console.log((await keys.decrypt(sum)).slice(0, 2)); // 10, 17
 * rf.close();
 * ```
 */
export class IntegerArithmeticKeys extends IntegerEvaluation<GlueIntegerArithmeticKeys> {
  /** @internal */
  protected get called(): string {
    return 'these keys for arithmetic';
  }

  /** @internal */
  protected override get repairs(): Repairs {
    return INTEGER_ARITHMETIC;
  }

  /** @internal */
  constructor(port: Port, handle: Handle<GlueIntegerArithmeticKeys>, owner: KeyOwner<IntegerPreset>, memoryBytes: number) {
    super(port, handle, owner, memoryBytes, 'the keys for arithmetic', 'IntegerArithmeticKeys', 'arithmeticKeys');
  }

  /**
   * Runs a program without bootstraps in the page, as {@link IntegerKeys.run} does. A program with bootstraps, or one that needs more
   * levels than there are, is refused before anything is computed.
   */
  run(
    program: Program,
    inputs: Readonly<Record<string, IntegerCiphertext>>,
    options: SignalOptions = {},
  ): SteppableRun<Record<string, IntegerCiphertext>, IntegerProgramEvent> {
    checkOptions(options, 'run()', SIGNAL);
    const { port, keyId, params, called: what } = this;
    const tools = { arithmetic: this.handle };
    return runIntegers({ port, program, inputs, keyId, params, what, tools }, options);
  }
}
