import type { GateEngine, GateKeyInfo } from '../engine/gates.js';
import { checkBits, natural } from '../gates/arguments.js';
import type { GatePreset } from '../gates/params.js';
import { keyMismatch } from '../mismatch.js';
import { GateCiphertext } from './gate-ciphertext.js';
import { GateKeys } from './gate-keys.js';
import { SyncResource } from './resource.js';

/** Options of `GateKeySet.encrypt` and `encryptIntegers` in their direct form. */
export interface GateEncryptOptions {
  /** 32 bytes that fix the randomness; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array;
}

/** A secret key for bits and small integers; see `GateKeySet` of the main entry. */
export class GateKeySet extends SyncResource<GateEngine> {
  /** Hexadecimal id, the same for everything made with this key. */
  readonly id: string;
  /** The parameter set. */
  readonly params: GatePreset;

  /** @internal */
  constructor(engine: GateEngine, info: GateKeyInfo) {
    super(engine, info.handle, 'the key set');
    this.id = info.id;
    this.params = engine.gatePreset(info.preset);
  }

  /** Encrypts a bit, or several. */
  encrypt(bits: boolean | readonly boolean[], options: GateEncryptOptions = {}): GateCiphertext {
    const list = typeof bits === 'boolean' ? [bits] : bits;
    return this.#encrypt(Uint32Array.from(list, Number), 0, options);
  }

  /** Encrypts integers below `messages`, by default `params.gates.messages`, for look-ups. */
  encryptIntegers(
    values: number | readonly number[],
    options: GateEncryptOptions & { readonly messages?: number } = {},
  ): GateCiphertext {
    const list = typeof values === 'number' ? [values] : values;
    for (const value of list) natural(value, 'the integer');
    return this.#encrypt(Uint32Array.from(list), natural(options.messages ?? this.params.gates.messages, 'messages'), options);
  }

  /** Decrypts bits, for the owner of this key; see the main entry before showing results to others. */
  decrypt(ciphertext: GateCiphertext): boolean[] {
    checkBits(ciphertext.messages);
    return this.decryptIntegers(ciphertext).map((value) => value === 1);
  }

  /** Decrypts integers, for the owner of this key; bits as 0 and 1. */
  decryptIntegers(ciphertext: GateCiphertext): number[] {
    keyMismatch(this.id, ciphertext, 'this key set');
    return Array.from(this.engine.gateDecrypt(this.handle, ciphertext.handleIn(this.engine)));
  }

  /** Makes the public keys that gates are evaluated with. */
  evaluationKeys(): GateKeys {
    const { handle, memoryBytes } = this.engine.gateKeys(this.handle);
    return new GateKeys(this.engine, handle, this.params, this.id, memoryBytes);
  }

  /** One part of the evaluation keys in wire form. */
  keyPart(index: number): Uint8Array {
    return this.engine.gateKeyPart(this.handle, index);
  }

  /** The secret key itself, for safe keeping. Whoever has these bytes can decrypt everything. */
  exportSecret(): Uint8Array {
    return this.engine.gateExportSecret(this.handle);
  }

  #encrypt(values: Uint32Array, messages: number, options: GateEncryptOptions): GateCiphertext {
    return new GateCiphertext(this.engine, this.engine.gateEncrypt(this.handle, values, messages, options.seed));
  }
}
