import type { GlueGateSecretKey, GlueIntegerSecretKey, GlueSecretKey } from '../engine/glue.js';
import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import type { SetWithParts } from '../params.js';
import { shown } from './arguments.js';
import { Resource, asSecret } from './resource.js';

/** A secret key of any scheme. */
type AnySecretKey = GlueSecretKey | GlueGateSecretKey | GlueIntegerSecretKey;

/** The handle of a secret key, and its id. @internal */
export type IdentifiedKey<K extends AnySecretKey> = Handle<K> & { readonly keyId: string };

/** A secret key of a set. It stays inside the wasm instance; `exportSecret()` is the only way out. */
export abstract class SecretKey<P extends SetWithParts = SetWithParts, K extends AnySecretKey = AnySecretKey> extends Resource<K> {
  /** Hexadecimal id, the same for everything made with this key. */
  readonly id: string;
  /** The parameter set. */
  readonly params: P;

  /** @internal */
  constructor(port: Port, made: IdentifiedKey<K>, params: P, name: string, read: string) {
    super(port, made, 'the key set', asSecret(name, read));
    this.id = made.keyId;
    this.params = params;
  }

  /**
   * One part of the evaluation keys in wire form, for callers that upload keys themselves: bodies, and the seed of the rest. The same index
   * always gives the same bytes.
   */
  async keyPart(index: number): Promise<Uint8Array> {
    const key: Handle<AnySecretKey> = this.handle;
    if (!Number.isInteger(index) || index < 0) {
      throw new RefloatError('INVALID_ARGUMENT', `part ${shown(index)} of the keys; pass an integer from 0 to ${this.params.keyParts.length - 1}`);
    }
    return this.port.call(key, 'keyPart', index);
  }

  /** The secret key itself, for safe keeping. Whoever has these bytes can decrypt everything. */
  async exportSecret(): Promise<Uint8Array> {
    const key: Handle<AnySecretKey> = this.handle;
    return this.port.call(key, 'exportSecret');
  }
}

/** A copy that can be transferred without taking the caller's array along. */
export function copied(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : Uint8Array.from(bytes);
}
