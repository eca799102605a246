import { levelUpTo } from '../api/arguments.js';
import { Encrypted } from '../api/encrypted.js';
import { keyMismatch } from '../api/sets.js';
import type { GlueIntegerCiphertext } from '../engine/glue.js';
import { INTEGERS, type Handle, type Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { everywhere, integerPreset, integers } from './arguments.js';

/**
 * An encrypted vector of integers, inside the wasm instance: two rows, each with half the slots. If a slot has several integers, it is an
 * element of a Galois ring, with the ring's sums and products.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
 * using ct = await keys.encrypt([3, 1, 4]);
 * using again = await rf.integers.ciphertextFromBytes(await ct.toBytes());
 * using sum = await again.add(await ct.addPlain(10)); // no keys: only products, rotations and bootstraps take them
 * console.log(sum.level, sum.capacity > 60, (await keys.decrypt(sum)).slice(0, 3)); // 5, true, 16, 12, 18
 * rf.close();
 * ```
 */
export class IntegerCiphertext extends Encrypted<GlueIntegerCiphertext> {
  /** Products left before it must be bootstrapped, plus the level a bootstrapping starts from. */
  readonly level: number;
  /** log2 of its modulus. */
  readonly logQ: number;
  /** Bits by which its estimated noise may grow before the integers are lost. */
  readonly capacity: number;

  /** @internal */
  constructor(port: Port, made: Made<GlueIntegerCiphertext>) {
    super(port, made, 'IntegerCiphertext', 'rf.integers.ciphertextFromBytes', 'the ciphertext of exact integers');
    this.level = made.level;
    this.logQ = made.logQ;
    this.capacity = made.capacity;
  }

  /**
   * The sum with another ciphertext, slot by slot; no keys are needed. It is at the lower of the two levels if both result from the same
   * number of successive products. Otherwise it may take one level of the higher one, or of both if they are at the same level.
   */
  async add(other: IntegerCiphertext): Promise<IntegerCiphertext> {
    return this.#made(this.port.call(INTEGERS, 'addIntegers', this.handle, this.#second(other)));
  }

  /** The difference: this ciphertext minus another, slot by slot; levels are those of {@link IntegerCiphertext.add}. */
  async subtract(other: IntegerCiphertext): Promise<IntegerCiphertext> {
    return this.#made(this.port.call(INTEGERS, 'subtractIntegers', this.handle, this.#second(other)));
  }

  /** The negative, slot by slot. */
  async negate(): Promise<IntegerCiphertext> {
    return this.#made(this.port.call(INTEGERS, 'negateIntegers', this.handle));
  }

  /**
   * The sum with known integers: one number for all slots, or an array with one per slot (`params.slotDegree` per slot), where missing ones
   * are 0.
   */
  async addPlain(values: number | ArrayLike<number>): Promise<IntegerCiphertext> {
    return this.#made(this.port.call(INTEGERS, 'addPlain', this.handle, await this.#plain(values)));
  }

  /** The product with known integers, as {@link IntegerCiphertext.addPlain} takes them; takes one level. */
  async multiplyPlain(values: number | ArrayLike<number>): Promise<IntegerCiphertext> {
    return this.#made(this.port.call(INTEGERS, 'multiplyPlain', this.handle, await this.#plain(values)));
  }

  /** The same integers at a lower level. */
  async dropToLevel(level: number): Promise<IntegerCiphertext> {
    return this.#made(this.port.call(INTEGERS, 'dropToLevel', this.handle, levelUpTo(this.level, level)));
  }

  async #plain(values: number | ArrayLike<number>): Promise<Uint32Array> {
    const params = await integerPreset(this.port, this.preset);
    return typeof values === 'number' ? everywhere(values, params) : integers(values, params);
  }

  #second(other: IntegerCiphertext): Handle<GlueIntegerCiphertext> {
    keyMismatch(this.keyId, other, 'this ciphertext', 'addPlain()');
    return other.handleIn(this.port);
  }

  async #made(made: Promise<Made<GlueIntegerCiphertext>>): Promise<IntegerCiphertext> {
    return new IntegerCiphertext(this.port, await made);
  }
}
