import type { GlueCiphertext, GlueGateCiphertext, GlueIntegerCiphertext } from '../engine/glue.js';
import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { Resource, asBytes } from './resource.js';

/** A ciphertext of any scheme. */
type AnyCiphertext = GlueCiphertext | GlueGateCiphertext | GlueIntegerCiphertext;

/** What is known of a new ciphertext, whatever it holds. */
type Known = Pick<Encrypted<AnyCiphertext>, 'preset' | 'keyId' | 'byteLength'>;

/** Something encrypted, inside the wasm instance. */
export abstract class Encrypted<C extends AnyCiphertext> extends Resource<C> {
  /** Name of the parameter set. */
  readonly preset: string;
  /** Hexadecimal id of the key it is encrypted under. */
  readonly keyId: string;
  /** Bytes on the wire. */
  readonly byteLength: number;

  /** @internal */
  constructor(port: Port, made: Handle<C> & Known, name: string, read: string, what = 'the ciphertext') {
    super(port, made, what, asBytes(name, read));
    this.preset = made.preset;
    this.keyId = made.keyId;
    this.byteLength = made.byteLength;
  }

  /** The wire form, in an array that is the caller's to keep or to transfer. */
  async toBytes(): Promise<Uint8Array> {
    const ciphertext: Handle<AnyCiphertext> = this.handle;
    return this.port.call(ciphertext, 'toBytes');
  }
}
