import { stepsWithin } from '../api/arguments.js';
import { EvaluationKeys } from '../api/evaluation-keys.js';
import { repaired, type Repairs } from '../api/repairs.js';
import { keyMismatch } from '../api/sets.js';
import type { GlueIntegerArithmeticKeys, GlueIntegerCiphertext } from '../engine/glue.js';
import type { Handle, Made } from '../engine/handle.js';
import { IntegerCiphertext } from './ciphertext.js';
import type { IntegerPreset } from './params.js';

/** What multiplies a ciphertext by plain integers. */
const PLAIN = 'multiplyPlain() of the ciphertext';

/** What all keys for computing on integers have in an instance. */
type Operations = Pick<GlueIntegerArithmeticKeys, 'multiply' | 'rotate' | 'swapRows'>;

/** Public keys for products, rotations and the swap of rows, with or without those of a bootstrapping. */
export abstract class IntegerEvaluation<T extends Operations> extends EvaluationKeys<T, IntegerPreset> {
  /** x y, slot by slot; takes one level. */
  async multiply(x: IntegerCiphertext, y: IntegerCiphertext): Promise<IntegerCiphertext> {
    const [left, right] = [this.handleOf(x, PLAIN), this.handleOf(y, PLAIN)];
    return this.#made(this.port.call(this.#operations, 'multiply', left, right));
  }

  /**
   * Both rows moved to the left by `steps` slots, cyclically: slot j of a row gets the value of slot j + steps; negative `steps` move to
   * the right. It is composed of rotations that there are keys for: if there are keys for all powers of two, one for a power of two, and a
   * few for other steps.
   */
  async rotate(x: IntegerCiphertext, steps: number): Promise<IntegerCiphertext> {
    const hop = stepsWithin(this.params.slots / 2, steps);
    return this.#made(repaired(this.port.call(this.#operations, 'rotate', this.handleOf(x), hop), this.repairs));
  }

  /** Exchanges the two rows. */
  async swapRows(x: IntegerCiphertext): Promise<IntegerCiphertext> {
    return this.#made(repaired(this.port.call(this.#operations, 'swapRows', this.handleOf(x)), this.repairs));
  }

  /** How error messages call these keys. @internal */
  protected abstract get called(): string;

  /** What these keys say instead of the core's repairs. @internal */
  protected get repairs(): Repairs {
    return [];
  }

  /** The handle of a ciphertext under the same key; `plain` is what takes plain integers instead. @internal */
  protected handleOf(x: IntegerCiphertext, plain?: string): Handle<GlueIntegerCiphertext> {
    keyMismatch(this.keyId, x, this.called, plain);
    return x.handleIn(this.port);
  }

  get #operations(): Handle<Operations> {
    return this.handle;
  }

  async #made(made: Promise<Made<GlueIntegerCiphertext>>): Promise<IntegerCiphertext> {
    return new IntegerCiphertext(this.port, await made);
  }
}
