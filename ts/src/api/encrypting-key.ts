import type { GlueIntegerPublicKey, GluePublicKey } from '../engine/glue.js';
import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { Resource, asBytes } from './resource.js';

/** A public key of any scheme that has them. */
type AnyPublicKey = GluePublicKey | GlueIntegerPublicKey;

/** A public key: it encrypts for the owner of a secret key, and decrypts nothing. */
export abstract class EncryptingKey<P, K extends AnyPublicKey> extends Resource<K> {
  /** The parameter set. */
  readonly params: P;
  /** Hexadecimal id of the key that decrypts. */
  readonly keyId: string;

  /** @internal */
  constructor(port: Port, made: Handle<K> & { readonly keyId: string }, params: P, name: string, read: string) {
    super(port, made, 'the public key', asBytes(name, read));
    this.params = params;
    this.keyId = made.keyId;
  }

  /** The wire form, in an array that is the caller's to keep or to transfer: give it to everybody who is to encrypt. */
  async toBytes(): Promise<Uint8Array> {
    const key: Handle<AnyPublicKey> = this.handle;
    return this.port.call(key, 'toBytes');
  }
}
