import type { GlueCiphertext } from '../engine/glue.js';
import type { Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { SlotMode } from '../params.js';
import { Resource } from './resource.js';

/**
 * An encrypted vector, inside the wasm instance.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy10', { allowInsecure: true });
 * using ct = await keys.encrypt([0.5, -0.25]);
 * const bytes = await ct.toBytes(); // for a file, a database, a server
 * using again = await rf.ciphertextFromBytes(bytes);
 * console.log(again.level, (await keys.decrypt(again)).slice(0, 2));
 * rf.close();
 * ```
 */
export class Ciphertext extends Resource<GlueCiphertext> {
  /** Name of the parameter set. */
  readonly preset: string;
  /** Hexadecimal id of the key it is encrypted under. */
  readonly keyId: string;
  /** Multiplications left before it is exhausted, plus the level a bootstrapping starts from. */
  readonly level: number;
  /** log2 of its modulus. */
  readonly logQ: number;
  /** log2 of its scale. */
  readonly logScale: number;
  /** Bytes on the wire. */
  readonly byteLength: number;
  /** What its slots hold, as far as this page knows: the wire form does not say. */
  readonly mode: SlotMode;

  /** @internal */
  constructor(port: Port, made: Made<GlueCiphertext>, mode: SlotMode) {
    super(port, made, 'the ciphertext');
    this.preset = made.preset;
    this.keyId = made.keyId;
    this.level = made.level;
    this.logQ = made.logQ;
    this.logScale = made.logScale;
    this.byteLength = made.byteLength;
    this.mode = mode;
  }

  /** The wire form, in an array that is the caller's to keep or to transfer. */
  async toBytes(): Promise<Uint8Array> {
    return this.port.call(this.handle, 'toBytes');
  }
}
