import { copied, type SignalOptions } from '../api/key-set.js';
import { Resource } from '../api/resource.js';
import type { GateKeyInfo } from '../engine/gates.js';
import type { Port } from '../engine/port.js';
import { throwIfAborted } from '../errors.js';
import { keyMismatch } from '../mismatch.js';
import { checkBits, natural } from './arguments.js';
import { GateCiphertext } from './ciphertext.js';
import { GateKeys } from './keys.js';
import type { GatePreset } from './params.js';

/** Options of `GateKeySet.encrypt` and `encryptIntegers`. */
export interface GateEncryptOptions extends SignalOptions {
  /** 32 bytes that fix the randomness; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array;
}

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
export class GateKeySet extends Resource {
  /** Hexadecimal id, the same for everything made with this key. */
  readonly id: string;
  /** The parameter set. */
  readonly params: GatePreset;

  /** @internal */
  constructor(port: Port, info: GateKeyInfo, params: GatePreset) {
    super(port, info.handle, 'the key set');
    this.id = info.id;
    this.params = params;
  }

  /** Encrypts a bit, or several. */
  async encrypt(bits: boolean | readonly boolean[], options: GateEncryptOptions = {}): Promise<GateCiphertext> {
    const list = typeof bits === 'boolean' ? [bits] : bits;
    return this.#encrypt(Uint32Array.from(list, Number), 0, options);
  }

  /** Encrypts integers below `messages`, by default `params.gates.messages`, for look-ups. */
  async encryptIntegers(
    values: number | readonly number[],
    options: GateEncryptOptions & { readonly messages?: number } = {},
  ): Promise<GateCiphertext> {
    const list = typeof values === 'number' ? [values] : values;
    const messages = options.messages ?? this.params.gates.messages;
    for (const value of list) natural(value, 'the integer');
    return this.#encrypt(Uint32Array.from(list), natural(messages, 'messages'), options);
  }

  /**
   * Decrypts bits, for the owner of this key. A wrong result, however rare, tells about the key:
   * see `params.logFailure` before showing results to others.
   */
  async decrypt(ciphertext: GateCiphertext, options: SignalOptions = {}): Promise<boolean[]> {
    checkBits(ciphertext.messages);
    return (await this.decryptIntegers(ciphertext, options)).map((value) => value === 1);
  }

  /** Decrypts integers, for the owner of this key; bits as 0 and 1. */
  async decryptIntegers(ciphertext: GateCiphertext, options: SignalOptions = {}): Promise<number[]> {
    throwIfAborted(options.signal);
    keyMismatch(this.id, ciphertext, 'this key set');
    return Array.from(await this.port.call('gateDecrypt', this.handle, ciphertext.handleIn(this.port)));
  }

  /** Makes the public keys that gates are evaluated with, in the page. */
  async evaluationKeys(options: SignalOptions = {}): Promise<GateKeys> {
    throwIfAborted(options.signal);
    const { handle, memoryBytes } = await this.port.call('gateKeys', this.handle);
    return new GateKeys(this.port, handle, this.params, this.id, memoryBytes);
  }

  /** One part of the evaluation keys in wire form: bodies, and the seed of the rest. The same index always gives the same bytes. */
  async keyPart(index: number): Promise<Uint8Array> {
    return this.port.call('gateKeyPart', this.handle, index);
  }

  /** The secret key itself, for safe keeping. Whoever has these bytes can decrypt everything. */
  async exportSecret(): Promise<Uint8Array> {
    return this.port.call('gateExportSecret', this.handle);
  }

  async #encrypt(values: Uint32Array, messages: number, options: GateEncryptOptions): Promise<GateCiphertext> {
    throwIfAborted(options.signal);
    const info = await this.port.call('gateEncrypt', this.handle, values, messages, copied(options.seed));
    return new GateCiphertext(this.port, info);
  }
}
