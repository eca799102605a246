import { unlessAborted } from '../api/abandon.js';
import { listOf } from '../api/arguments.js';
import { NUMBER, checkOptions, type Kinds } from '../api/check-options.js';
import { SEED, SIGNAL, type SignalOptions } from '../api/options.js';
import { SecretKey, copied, type IdentifiedKey } from '../api/secret.js';
import { keyMismatch } from '../api/sets.js';
import type { GlueGateSecretKey } from '../engine/glue.js';
import { GATES, classOf } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { bit, bitsOf, checkBits, natural } from './arguments.js';
import { GateCiphertext } from './ciphertext.js';
import { GateKeys } from './keys.js';
import type { GatePreset } from './params.js';

/** Options of `GateKeySet.encrypt` and `encryptIntegers`. */
export interface GateEncryptOptions extends SignalOptions {
  /** 32 bytes that fix the randomness; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array | undefined;
}

const ENCRYPT: Kinds<GateEncryptOptions> = { ...SIGNAL, seed: SEED };

/**
 * A secret key for bits and small integers. It stays inside the wasm instance; `exportSecret()` is
 * the only way out.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.gates.keygen('toy-bool', { allowInsecure: true });
 * using ct = await keys.encrypt([true, false]);
 * console.log(await keys.decrypt(ct)); // [ true, false ]
 * rf.close();
 * ```
 */
export class GateKeySet extends SecretKey<GatePreset, GlueGateSecretKey> {
  /** @internal */
  constructor(port: Port, made: IdentifiedKey<GlueGateSecretKey>, params: GatePreset) {
    super(port, made, params, 'GateKeySet', 'rf.gates.importKeys');
  }

  /** Encrypts a bit, or several. */
  async encrypt(bits: boolean | readonly boolean[], options: GateEncryptOptions = {}): Promise<GateCiphertext> {
    checkOptions(options, 'encrypt()', ENCRYPT);
    const list = typeof bits === 'boolean' ? [bits] : listOf(bits, 'encrypt()', 'true, false, or a list of bits, such as [true] or [1] (for integers there is encryptIntegers())');
    return this.#encrypt(Uint32Array.from(list, bit), 0, options);
  }

  /** Encrypts an integer in binary: `width` bits, the lowest first, as adders and other circuits take it. */
  async encryptBinary(value: number | bigint, width: number, options: GateEncryptOptions = {}): Promise<GateCiphertext> {
    checkOptions(options, 'encryptBinary()', ENCRYPT);
    return this.#encrypt(bitsOf(value, width), 0, options);
  }

  /** The integer whose bits, the lowest first, a ciphertext holds; for the owner of this key, as `decrypt()`. */
  async decryptBinary(ciphertext: GateCiphertext, options: SignalOptions = {}): Promise<bigint> {
    checkOptions(options, 'decryptBinary()', SIGNAL);
    return (await this.decrypt(ciphertext, options)).reduceRight((value, bit) => 2n * value + BigInt(bit), 0n);
  }

  /** Encrypts integers below `messages`, by default `params.gates.messages`, for look-ups. */
  async encryptIntegers(
    values: number | readonly number[],
    options: GateEncryptOptions & { readonly messages?: number | undefined } = {},
  ): Promise<GateCiphertext> {
    checkOptions(options, 'encryptIntegers()', { ...ENCRYPT, messages: NUMBER });
    const list = typeof values === 'number' ? [values] : values;
    const messages = options.messages ?? this.params.gates.messages;
    listOf(list, 'encryptIntegers()', 'an integer, or a list of integers');
    for (const value of list) natural(value, 'the integer');
    return this.#encrypt(Uint32Array.from(list), natural(messages, 'messages'), options);
  }

  /**
   * Decrypts bits, for the owner of this key. A wrong result, however rare, reveals something about the key:
   * see `params.logFailure` before showing results to others.
   */
  async decrypt(ciphertext: GateCiphertext, options: SignalOptions = {}): Promise<boolean[]> {
    checkOptions(options, 'decrypt()', SIGNAL);
    checkBits(ciphertext);
    return (await this.decryptIntegers(ciphertext, options)).map((value) => value === 1);
  }

  /** Decrypts integers, for the owner of this key; bits as 0 and 1. */
  async decryptIntegers(ciphertext: GateCiphertext, options: SignalOptions = {}): Promise<number[]> {
    checkOptions(options, 'decryptIntegers()', SIGNAL);
    keyMismatch(this.id, ciphertext, 'this key set');
    return Array.from(await unlessAborted(options.signal, () => this.port.call(this.handle, 'decrypt', ciphertext.handleIn(this.port))));
  }

  /** Makes the public keys that gates are evaluated with, in the page. */
  async evaluationKeys(options: SignalOptions = {}): Promise<GateKeys> {
    checkOptions(options, 'evaluationKeys()', SIGNAL);
    const { port, handle: secret } = this;
    return unlessAborted(
      options.signal,
      async () => new GateKeys(port, await port.call(classOf(GATES, 'GateKeys'), 'generate', secret), this.params),
    );
  }

  async #encrypt(values: Uint32Array, messages: number, options: GateEncryptOptions): Promise<GateCiphertext> {
    const { port, handle: secret } = this;
    return unlessAborted(
      options.signal,
      async () => new GateCiphertext(port, await port.call(secret, 'encrypt', values, messages, copied(options.seed))),
    );
  }
}
