import { unlessAborted } from '../api/abandon.js';
import { rotationsOf } from '../api/arguments.js';
import { checkOptions } from '../api/check-options.js';
import { eachKey, eachPart, mustFitIn } from '../api/key-parts.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { SecretKey, type IdentifiedKey } from '../api/secret.js';
import { keyMismatch } from '../api/sets.js';
import { completing } from '../engine/engine-run.js';
import { INTEGERS, classOf } from '../engine/handle.js';
import type { GlueIntegerSecretKey } from '../engine/glue.js';
import type { Port } from '../engine/port.js';
import { fromHex } from '../hex.js';
import { SteppableRun } from '../run.js';
import type { KeyProgress } from '../stages.js';
import { IntegerArithmeticKeys } from './arithmetic-keys.js';
import type { IntegerCiphertext } from './ciphertext.js';
import { encrypted } from './encrypting.js';
import { IntegerKeys } from './keys.js';
import { ARITHMETIC_KEYS, type IntegerArithmeticKeysOptions, type IntegerEncryptOptions } from './options.js';
import type { IntegerPreset } from './params.js';
import { IntegerPublicKey } from './public-key.js';

/**
 * A secret key for integers. It stays inside the wasm instance; `exportSecret()` is the only way out.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
 * using ct = await keys.encrypt(Uint32Array.of(3, 1, 4));
 * console.log((await keys.decrypt(ct)).slice(0, 3)); // 3, 1, 4
 * rf.close();
 * ```
 */
export class IntegerKeySet extends SecretKey<IntegerPreset, GlueIntegerSecretKey> {
  /** @internal */
  constructor(port: Port, made: IdentifiedKey<GlueIntegerSecretKey>, params: IntegerPreset) {
    super(port, made, params, 'IntegerKeySet', 'rf.integers.importKeys');
  }

  /**
   * Encrypts integers from 0 to `params.modulus` - 1, `params.slotDegree` for each slot. A shorter list is padded with zeros. The input is
   * copied.
   */
  async encrypt(values: ArrayLike<number>, options: IntegerEncryptOptions = {}): Promise<IntegerCiphertext> {
    return encrypted({ port: this.port, handle: this.handle, params: this.params }, values, options);
  }

  /**
   * Decrypts into a fresh array, `params.slotDegree` integers for each slot. A wrong integer, however rare, reveals something about the
   * key: see `params.logFailure` before showing results to others.
   */
  async decrypt(ciphertext: IntegerCiphertext, options: SignalOptions = {}): Promise<Uint32Array> {
    checkOptions(options, 'decrypt()', SIGNAL);
    keyMismatch(this.id, ciphertext, 'this key set');
    return unlessAborted(options.signal, () => this.port.call(this.handle, 'decrypt', ciphertext.handleIn(this.port)));
  }

  /** The key with which others encrypt for the owner of this one; {@link IntegerPublicKey} has an example. */
  async publicKey(): Promise<IntegerPublicKey> {
    return new IntegerPublicKey(this.port, await this.port.call(this.handle, 'publicKey'), this.params);
  }

  /**
   * Makes the keys for products, and for the rotations that are asked for, in the page, one by one. All have the same size, so the first
   * event says how many bytes they will take together: a fraction of those of `evaluationKeys()`, on every set. They bootstrap nothing.
   */
  arithmeticKeys(options: IntegerArithmeticKeysOptions = {}): SteppableRun<IntegerArithmeticKeys, KeyProgress> {
    checkOptions(options, 'arithmeticKeys()', ARITHMETIC_KEYS);
    const { port, handle: secret, params } = this;
    const rotations = rotationsOf(options.rotations);
    return new SteppableRun((control) => {
      const classes = classOf(INTEGERS, 'IntegerArithmeticKeys');
      const begun = port.call(classes, 'begin', params.name, fromHex(this.id), rotations, options.swapRows === true);
      return completing(port, begun, async (keys) => {
        const bytes = await eachKey(keys, control, params, (index) => port.step(keys, 'addFromSecret', secret, index));
        return new IntegerArithmeticKeys(port, keys, this, bytes);
      });
    }, options.signal);
  }

  /**
   * Makes the public keys for products, rotations and bootstraps in the page, part by part. Look at `params.expandedKeyBytes` first: they
   * take up to that many bytes of memory, 3.1 GB with `bgv15`. Let a server hold the keys of 128-bit sets
   * (`rf.server(url).uploadKeys(keys)`); keys that are too large for a page are refused with the code `LIMIT`. If nothing is bootstrapped
   * in the page, {@link IntegerKeySet.arithmeticKeys} is enough.
   */
  evaluationKeys(options: SignalOptions = {}): SteppableRun<IntegerKeys, KeyProgress> {
    checkOptions(options, 'evaluationKeys()', SIGNAL);
    const { port, handle: secret, params } = this;
    const repair = 'let a server hold them (rf.server(url).uploadKeys(keys)), or make arithmeticKeys() for products and rotations alone';
    mustFitIn(params.expandedKeyBytes, `the evaluation keys of ${params.name}`, repair);
    return new SteppableRun((control) => {
      const begun = port.call(classOf(INTEGERS, 'IntegerKeys'), 'begin', params.name, fromHex(this.id));
      return completing(port, begun, async (keys) => {
        await eachPart(params, control, (index) => port.step(keys, 'addFromSecret', secret, index));
        const { state } = await port.step(keys, 'finish');
        return new IntegerKeys(port, keys, this, state.memoryBytes);
      });
    }, options.signal);
  }
}
