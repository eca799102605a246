import type { GluePublicKey, GlueSecretKey } from '../engine/glue.js';
import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { Preset } from '../params.js';
import { unlessAborted } from './abandon.js';
import { freshLevel, numbers } from './arguments.js';
import { checkOptions } from './check-options.js';
import { Ciphertext } from './ciphertext.js';
import { ENCRYPT, type EncryptOptions } from './options.js';
import { copied } from './secret.js';

/** A key that encrypts, with its set. @internal */
export interface Encrypting<K, P> {
  readonly port: Port;
  readonly handle: Handle<K>;
  readonly params: P;
}

/** What `encrypt()` of secret and public keys does. @internal */
export async function encrypted(
  { port, handle, params }: Encrypting<GlueSecretKey | GluePublicKey, Preset>,
  values: ArrayLike<number>,
  options: EncryptOptions,
): Promise<Ciphertext> {
  checkOptions(options, 'encrypt()', ENCRYPT);
  const data = numbers(values, 'encrypt()');
  const mode = options.mode ?? params.mode;
  const level = options.level === undefined ? undefined : freshLevel(params.outputLevel, options.level);
  return unlessAborted(options.signal, async () => {
    const made = await port.call(handle, 'encrypt', data, mode, level, copied(options.seed));
    return new Ciphertext(port, made, mode);
  });
}
