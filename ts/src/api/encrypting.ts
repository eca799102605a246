import type { GlueCiphertext } from '../engine/glue.js';
import type { Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { Preset, SlotMode } from '../params.js';
import { unlessAborted } from './abandon.js';
import { freshLevel, numbers } from './arguments.js';
import { checkOptions } from './check-options.js';
import { Ciphertext } from './ciphertext.js';
import { ENCRYPT, type EncryptOptions } from './options.js';
import { copied } from './secret.js';

/** The wasm side of a key that encrypts. */
type Encrypt = (values: Float64Array, mode: SlotMode, level: number | undefined, seed: Uint8Array | undefined) => Promise<Made<GlueCiphertext>>;

/** The shared part of `encrypt()` of secret and public keys. @internal */
export async function encrypted(
  { port, params }: { readonly port: Port; readonly params: Preset },
  values: ArrayLike<number>,
  options: EncryptOptions,
  encrypt: Encrypt,
): Promise<Ciphertext> {
  checkOptions(options, 'encrypt()', ENCRYPT);
  const data = numbers(values, 'encrypt()');
  const mode = options.mode ?? params.mode;
  const level = options.level === undefined ? undefined : freshLevel(params.outputLevel, options.level);
  return unlessAborted(options.signal, async () => new Ciphertext(port, await encrypt(data, mode, level, copied(options.seed)), mode));
}
