import { checkOptions, objectOf, type Kinds } from '../api/check-options.js';
import type { KeyOwner } from '../api/evaluation-keys.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { SecretKey } from '../api/secret.js';
import { EngineRun, freeing } from '../engine/engine-run.js';
import { Fraction } from '../engine/fraction.js';
import type { GlueIntegerKeys, GlueIntegerRun } from '../engine/glue.js';
import { INTEGERS, classOf, type Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { Program } from '../program/program.js';
import { PROGRAM, type ProgramOptions } from '../program/run.js';
import { SteppableRun } from '../run.js';
import { IntegerCiphertext } from './ciphertext.js';
import { IntegerEvaluation } from './evaluation.js';
import { runIntegers } from './here.js';
import type { IntegerKeySet } from './key-set.js';
import type { IntegerEvent, IntegerPreset, IntegerProgramEvent, IntegerStageId, IntegerView } from './params.js';

/** Options of `IntegerKeys.bootstrap`. */
export interface IntegerBootstrapOptions extends SignalOptions {
  /** The secret key, to add `view` events with what the run holds: for the owner's eyes, in this page alone. */
  readonly inspect?: IntegerKeySet | undefined;
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
export class IntegerKeys extends IntegerEvaluation<GlueIntegerKeys> {
  /** @internal */
  protected get called(): string {
    return 'these evaluation keys';
  }

  /** @internal */
  constructor(port: Port, handle: Handle<GlueIntegerKeys>, owner: KeyOwner<IntegerPreset>, memoryBytes: number) {
    super(port, handle, owner, memoryBytes, 'the evaluation keys', 'IntegerKeys', 'evaluationKeys');
  }

  /**
   * Refreshes in the page: from `params.inputLevel` or above to `params.outputLevel`. The ciphertext passed in stays as it is. With
   * `inspect`, `view` events tell the digits that the run holds.
   */
  bootstrap(x: IntegerCiphertext, options: IntegerBootstrapOptions = {}): SteppableRun<IntegerCiphertext, IntegerEvent> {
    const { port, handle: keys } = this;
    checkOptions(options, 'bootstrap()', BOOTSTRAP);
    const ct = this.handleOf(x);
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
        for (let next = handle.stage; ; ) {
          await control.gate();
          run.enter(next);
          const { value: finished, events, state } = await run.step('step', keys);
          next = state.stage;
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
    const { port, keyId, params, called: what } = this;
    const tools = { bootstrap: this.handle, stages: params.stages.length };
    return runIntegers({ port, program, inputs, keyId, params, what, tools }, options);
  }
}
