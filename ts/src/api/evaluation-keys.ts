import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { Resource, byMaking } from './resource.js';

/** Public keys for computing, of any scheme. */
export abstract class EvaluationKeys<T, P> extends Resource<T> {
  /** The parameter set. */
  readonly params: P;
  /** Hexadecimal id of the secret key they belong to. */
  readonly keyId: string;
  /** Bytes they take in memory between computations. */
  readonly memoryBytes: number;

  /** @internal */
  constructor(port: Port, handle: Handle<T>, owner: KeyOwner<P>, memoryBytes: number, what: string, name: string, make: string) {
    super(port, handle, what, byMaking(name, make));
    this.params = owner.params;
    this.keyId = owner.id;
    this.memoryBytes = memoryBytes;
  }
}

/** The owner of keys: a key set, or what is known of it. @internal */
export interface KeyOwner<P> {
  readonly params: P;
  readonly id: string;
}
