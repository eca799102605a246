import type { GluePublicKey } from '../engine/glue.js';
import type { Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { Preset } from '../params.js';
import type { Ciphertext } from './ciphertext.js';
import { encrypted } from './encrypting.js';
import { EncryptingKey } from './encrypting-key.js';
import type { EncryptOptions } from './options.js';

/**
 * Encrypts for the owner of a secret key, and decrypts nothing. `KeySet.publicKey()` makes it, and its bytes may go to anybody. What
 * several parties encrypt with it is all under one key, so it can be added and multiplied.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy10', { allowInsecure: true });
 * using made = await keys.publicKey();
 * const bytes = await made.toBytes(); // to the other party
 * using theirs = await rf.publicKeyFromBytes(bytes, { allowInsecure: true });
 * using x = await theirs.encrypt([0.25]);
 * using y = await keys.encrypt([0.5]);
 * using sum = await x.add(y);
 * console.log((await keys.decrypt(sum))[0]); // nearly 0.75
 * rf.close();
 * ```
 */
export class PublicKey extends EncryptingKey<Preset, GluePublicKey> {
  /** @internal */
  constructor(port: Port, made: Made<GluePublicKey>, params: Preset) {
    super(port, made, params, 'PublicKey', 'rf.publicKeyFromBytes');
  }

  /** Encrypts numbers as `KeySet.encrypt()` does; the noise is larger by some bits. */
  async encrypt(values: ArrayLike<number>, options: EncryptOptions = {}): Promise<Ciphertext> {
    return encrypted({ port: this.port, handle: this.handle, params: this.params }, values, options);
  }
}
