import { unlessAborted } from '../api/abandon.js';
import { freshLevel } from '../api/arguments.js';
import { checkOptions } from '../api/check-options.js';
import type { Encrypting } from '../api/encrypting.js';
import { copied } from '../api/secret.js';
import type { GlueIntegerPublicKey, GlueIntegerSecretKey } from '../engine/glue.js';
import { integers } from './arguments.js';
import { IntegerCiphertext } from './ciphertext.js';
import { ENCRYPT, type IntegerEncryptOptions } from './options.js';
import type { IntegerPreset } from './params.js';

/** A key for integers, secret or public. */
type Key = Encrypting<GlueIntegerSecretKey | GlueIntegerPublicKey, IntegerPreset>;

/** What `encrypt()` of secret and public keys does. @internal */
export async function encrypted({ port, handle, params }: Key, values: ArrayLike<number>, options: IntegerEncryptOptions): Promise<IntegerCiphertext> {
  checkOptions(options, 'encrypt()', ENCRYPT);
  const data = integers(values, params);
  const level = freshLevel(params.outputLevel, options.level ?? params.outputLevel);
  return unlessAborted(options.signal, async () => new IntegerCiphertext(port, await port.call(handle, 'encrypt', data, level, copied(options.seed))));
}
