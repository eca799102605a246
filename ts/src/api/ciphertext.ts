import type { GlueCiphertext } from '../engine/glue.js';
import { ckks, type Handle, type Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { SlotMode } from '../params.js';
import { levelUpTo, numbers } from './arguments.js';
import { Encrypted } from './encrypted.js';
import { keyMismatch } from './sets.js';

/**
 * An encrypted vector, inside the wasm instance.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy10', { allowInsecure: true });
 * using ct = await keys.encrypt([0.5, -0.25]);
 * const bytes = await ct.toBytes(); // for a file, a database, a server
 * using again = await rf.ciphertextFromBytes(bytes);
 * console.log(again.level, (await keys.decrypt(again)).slice(0, 2));
 * rf.close();
 * ```
 */
export class Ciphertext extends Encrypted<GlueCiphertext> {
  /** Multiplications left before it is exhausted, plus the level a bootstrapping starts from. */
  readonly level: number;
  /** log2 of its modulus. */
  readonly logQ: number;
  /** log2 of its scale. */
  readonly logScale: number;
  /** What its slots hold, as far as this page knows: the wire form does not say. */
  readonly mode: SlotMode;

  /** @internal */
  constructor(port: Port, made: Made<GlueCiphertext>, mode: SlotMode) {
    super(port, made, 'Ciphertext', 'rf.ciphertextFromBytes');
    this.level = made.level;
    this.logQ = made.logQ;
    this.logScale = made.logScale;
    this.mode = mode;
  }

  /**
   * The sum with another ciphertext, slot by slot; no keys are needed. It is at the lower of the two levels, or one below it if both
   * are at one level with different scales, as after products of different kinds.
   */
  async add(other: Ciphertext): Promise<Ciphertext> {
    const [x, y] = [this.handle, this.#second(other)];
    return this.#made(this.port.call(ckks(x.module), 'add', x, y), joinedMode(this, other));
  }

  /** The difference: this ciphertext minus another, slot by slot; levels are those of {@link Ciphertext.add}. */
  async subtract(other: Ciphertext): Promise<Ciphertext> {
    const [x, y] = [this.handle, this.#second(other)];
    return this.#made(this.port.call(ckks(x.module), 'subtract', x, y), joinedMode(this, other));
  }

  /** The negative, slot by slot. */
  async negate(): Promise<Ciphertext> {
    const x = this.handle;
    return this.#made(this.port.call(ckks(x.module), 'negate', x));
  }

  /**
   * The sum with known numbers: one number for every slot, or an array with one number per slot (re, im pairs if `mode` is `complex`),
   * where missing ones are 0. Results may leave [-1, 1], but only values within it can be bootstrapped.
   */
  async addPlain(values: number | ArrayLike<number>): Promise<Ciphertext> {
    const x = this.handle;
    return this.#made(this.port.call(ckks(x.module), 'addPlain', x, ...this.#plain(values, 'addPlain()')));
  }

  /**
   * The product with known numbers, as {@link Ciphertext.addPlain} takes them. It takes one level, except for a single integer up to 256.
   */
  async multiplyPlain(values: number | ArrayLike<number>): Promise<Ciphertext> {
    const x = this.handle;
    return this.#made(this.port.call(ckks(x.module), 'multiplyPlain', x, ...this.#plain(values, 'multiplyPlain()')));
  }

  /** The same numbers at a lower level. */
  async dropToLevel(level: number): Promise<Ciphertext> {
    const x = this.handle;
    return this.#made(this.port.call(ckks(x.module), 'dropToLevel', x, levelUpTo(this.level, level)));
  }

  /** The numbers, their mode, and whether a single one is for every slot; a single one is real in any mode. */
  #plain(values: number | ArrayLike<number>, where: string): [Float64Array, SlotMode, boolean] {
    if (typeof values !== 'number') return [numbers(values, where, 'a number or a list of numbers'), this.mode, false];
    return [numbers([values], where), this.mode === 'complex' ? 'real' : this.mode, true];
  }

  #second(other: Ciphertext): Handle<GlueCiphertext> {
    keyMismatch(this.keyId, other, 'this ciphertext', 'addPlain()');
    return other.handleIn(this.port);
  }

  async #made(made: Promise<Made<GlueCiphertext>>, mode = this.mode): Promise<Ciphertext> {
    return new Ciphertext(this.port, await made, mode);
  }
}

/** The mode of a result of two ciphertexts. @internal */
export function joinedMode(x: { readonly mode: SlotMode }, y: { readonly mode: SlotMode }): SlotMode {
  return x.mode === 'complex' ? x.mode : y.mode;
}
