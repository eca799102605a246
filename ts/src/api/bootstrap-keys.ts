import type { GlueBootstrapKeys } from '../engine/glue.js';
import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { Preset } from '../params.js';
import { Resource } from './resource.js';

/**
 * The public keys a bootstrapping needs, resident in the wasm instance. Made by
 * `KeySet.bootstrapKeys()`; see there for an example.
 */
export class BootstrapKeys extends Resource<GlueBootstrapKeys> {
  /** The parameter set. */
  readonly params: Preset;
  /** Hexadecimal id of the secret key they belong to. */
  readonly keyId: string;
  /** Bytes they take in memory between bootstrappings. */
  readonly memoryBytes: number;
  /** Whether all of them are in memory; otherwise tracks make their own, on all threads there are. */
  readonly resident: boolean;

  /** @internal */
  constructor(
    port: Port,
    handle: Handle<GlueBootstrapKeys>,
    { params, id }: { readonly params: Preset; readonly id: string },
    memoryBytes: number,
    resident: boolean,
  ) {
    super(port, handle, 'the bootstrapping keys');
    this.params = params;
    this.keyId = id;
    this.memoryBytes = memoryBytes;
    this.resident = resident;
  }
}
