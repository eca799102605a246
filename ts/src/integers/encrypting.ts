import { unlessAborted } from '../api/abandon.js';
import { freshLevel } from '../api/arguments.js';
import { checkOptions } from '../api/check-options.js';
import { copied } from '../api/secret.js';
import type { GlueIntegerCiphertext } from '../engine/glue.js';
import type { Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { integers } from './arguments.js';
import { IntegerCiphertext } from './ciphertext.js';
import { ENCRYPT, type IntegerEncryptOptions } from './options.js';
import type { IntegerPreset } from './params.js';

/** The wasm side of a key that encrypts. */
type Encrypt = (values: Uint32Array, level: number, seed: Uint8Array | undefined) => Promise<Made<GlueIntegerCiphertext>>;

/** The shared part of `encrypt()` of secret and public keys. @internal */
export async function encrypted(
  { port, params }: { readonly port: Port; readonly params: IntegerPreset },
  values: ArrayLike<number>,
  options: IntegerEncryptOptions,
  encrypt: Encrypt,
): Promise<IntegerCiphertext> {
  checkOptions(options, 'encrypt()', ENCRYPT);
  const data = integers(values, params);
  const level = freshLevel(params.outputLevel, options.level ?? params.outputLevel);
  return unlessAborted(options.signal, async () => new IntegerCiphertext(port, await encrypt(data, level, copied(options.seed))));
}
