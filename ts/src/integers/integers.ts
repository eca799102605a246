import { unlessAborted } from '../api/abandon.js';
import { bytesOf } from '../api/arguments.js';
import { checkOptions } from '../api/check-options.js';
import { IMPORT, KEYGEN, type ImportOptions, type KeygenOptions } from '../api/options.js';
import { copied } from '../api/secret.js';
import { setName } from '../api/sets.js';
import { mustHold } from '../api/wire-kinds.js';
import { INTEGERS, classOf } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { integerPreset } from './arguments.js';
import { IntegerCiphertext } from './ciphertext.js';
import { IntegerKeySet } from './key-set.js';
import type { DigitRemoval, IntegerPreset, IntegerPresetName } from './params.js';
import { IntegerPublicKey } from './public-key.js';

/**
 * Exact arithmetic on encrypted integers (BGV): thousands of slots of integers modulo `params.modulus`, multiplied, added, rotated and
 * refreshed without error. Their wasm module is loaded with the first call.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
 * console.log(keys.params.slots, keys.params.modulus); // 1024 65537
 * using x = await keys.encrypt([2, 300, 65536]);
 * using evaluation = await keys.evaluationKeys();
 * using square = await evaluation.multiply(x, x);
 * console.log((await keys.decrypt(square)).slice(0, 3)); // 4, 24463, 1
 * rf.close();
 * ```
 */
export class Integers {
  readonly #port: Port;

  /** @internal */
  constructor(port: Port) {
    this.#port = port;
  }

  /** The parameter sets of this version, the default first. */
  async presets(): Promise<readonly IntegerPreset[]> {
    const names: readonly string[] = await this.#port.call(INTEGERS, 'integerPresetNames');
    return Promise.all(names.map((name) => this.params(name)));
  }

  /** One parameter set by name. */
  async params(name: IntegerPresetName | (string & {})): Promise<IntegerPreset> {
    return integerPreset(this.#port, name);
  }

  /** The polynomial that removes the low digit in a set's bootstraps, in the clear. */
  async removal(name: IntegerPresetName | (string & {})): Promise<DigitRemoval> {
    return (await this.#port.call(INTEGERS, 'integerRemoval', setName(name))) as DigitRemoval;
  }

  /**
   * Makes a secret key from fresh randomness of the platform.
   *
   * @param preset name of a parameter set, `bgv15` (128 bits) if left out
   */
  async keygen(preset: IntegerPresetName | (string & {}) = 'bgv15', options: KeygenOptions = {}): Promise<IntegerKeySet> {
    checkOptions(options, 'keygen()', KEYGEN);
    setName(preset);
    return unlessAborted(options.signal, async () => {
      const made = await this.#port.call(SECRET_KEY, 'generate', preset, options.allowInsecure === true, copied(options.seed));
      return new IntegerKeySet(this.#port, made, await this.params(made.preset));
    });
  }

  /** Reads back what `IntegerKeySet.exportSecret()` gave. */
  async importKeys(bytes: Uint8Array, options: ImportOptions = {}): Promise<IntegerKeySet> {
    checkOptions(options, 'importKeys()', IMPORT);
    const own = bytesOf(bytes, 'importKeys()');
    mustHold(own, 'secret key', 'integers.importKeys()');
    return unlessAborted(options.signal, async () => {
      const made = await this.#port.call(SECRET_KEY, 'importSecret', own, options.allowInsecure === true);
      return new IntegerKeySet(this.#port, made, await this.params(made.preset));
    });
  }

  /**
   * Reads a public key of any of the sets, which its owner made with `IntegerKeySet.publicKey()`; damaged or foreign bytes throw
   * `BAD_BYTES`. What is encrypted with a toy set's key is not secret, so such sets need `allowInsecure`.
   */
  async publicKeyFromBytes(bytes: Uint8Array, options: ImportOptions = {}): Promise<IntegerPublicKey> {
    checkOptions(options, 'publicKeyFromBytes()', IMPORT);
    const keys = classOf(INTEGERS, 'IntegerPublicKey');
    const own = bytesOf(bytes, 'publicKeyFromBytes()');
    mustHold(own, 'public key', 'integers.publicKeyFromBytes()');
    return unlessAborted(options.signal, async () => {
      const made = await this.#port.call(keys, 'fromBytes', own, options.allowInsecure === true);
      return new IntegerPublicKey(this.#port, made, await this.params(made.preset));
    });
  }

  /** Reads a ciphertext of any of the sets; damaged or foreign bytes throw `BAD_BYTES`. */
  async ciphertextFromBytes(bytes: Uint8Array): Promise<IntegerCiphertext> {
    const own = bytesOf(bytes, 'ciphertextFromBytes()');
    mustHold(own, 'ciphertext of exact integers', 'integers.ciphertextFromBytes()');
    const made = await this.#port.call(classOf(INTEGERS, 'IntegerCiphertext'), 'fromBytes', own);
    return new IntegerCiphertext(this.#port, made);
  }
}

const SECRET_KEY = classOf(INTEGERS, 'IntegerSecretKey');
