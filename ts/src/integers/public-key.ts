import { EncryptingKey } from '../api/encrypting-key.js';
import type { GlueIntegerPublicKey } from '../engine/glue.js';
import type { Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { IntegerCiphertext } from './ciphertext.js';
import { encrypted } from './encrypting.js';
import type { IntegerEncryptOptions } from './options.js';
import type { IntegerPreset } from './params.js';

/**
 * Encrypts integers for the owner of a secret key, and decrypts nothing. `IntegerKeySet.publicKey()` makes it, and its bytes may go to
 * anybody. What several parties encrypt with it is all under one key, so it can be added and multiplied.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
 * const bytes = await (await keys.publicKey()).toBytes(); // to the other party
 * using theirs = await rf.integers.publicKeyFromBytes(bytes, { allowInsecure: true });
 * using x = await theirs.encrypt([7]);
 * using y = await keys.encrypt([35]);
 * using sum = await x.add(y);
 * console.log((await keys.decrypt(sum))[0]); // 42
 * rf.close();
 * ```
 */
export class IntegerPublicKey extends EncryptingKey<IntegerPreset, GlueIntegerPublicKey> {
  /** @internal */
  constructor(port: Port, made: Made<GlueIntegerPublicKey>, params: IntegerPreset) {
    super(port, made, params, 'IntegerPublicKey', 'rf.integers.publicKeyFromBytes');
  }

  /**
   * Encrypts integers as `IntegerKeySet.encrypt()` does; the noise is larger by some bits, which the ciphertext's `capacity` accounts for.
   */
  async encrypt(values: ArrayLike<number>, options: IntegerEncryptOptions = {}): Promise<IntegerCiphertext> {
    return encrypted({ port: this.port, handle: this.handle, params: this.params }, values, options);
  }
}
