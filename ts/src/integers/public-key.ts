import { levelUpTo } from '../api/arguments.js';
import { checkOptions } from '../api/check-options.js';
import { EncryptingKey } from '../api/encrypting-key.js';
import { copied } from '../api/secret.js';
import type { GlueIntegerPublicKey } from '../engine/glue.js';
import type { Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { throwIfAborted } from '../errors.js';
import { integers } from './arguments.js';
import { IntegerCiphertext } from './ciphertext.js';
import { ENCRYPT, type IntegerEncryptOptions } from './options.js';
import type { IntegerPreset } from './params.js';

/**
 * Encrypts integers for the owner of a secret key, and decrypts nothing. `IntegerKeySet.publicKey()` makes it, and its bytes may go to
 * anybody: what several parties encrypt with it is under one key, and adds and multiplies.
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

  /** Encrypts integers as `IntegerKeySet.encrypt()` does; the noise is larger by some bits, which `capacity` of the ciphertext counts. */
  async encrypt(values: ArrayLike<number>, options: IntegerEncryptOptions = {}): Promise<IntegerCiphertext> {
    checkOptions(options, 'encrypt()', ENCRYPT);
    throwIfAborted(options.signal);
    const data = integers(values, this.params);
    const level = levelUpTo(this.params.outputLevel, options.level ?? this.params.outputLevel);
    return new IntegerCiphertext(this.port, await this.port.call(this.handle, 'encrypt', data, level, copied(options.seed)));
  }
}
