import { Resource } from '../api/resource.js';
import type { GlueIntegerCiphertext } from '../engine/glue.js';
import type { Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';

/**
 * An encrypted vector of integers, inside the wasm instance: two rows of half the slots each.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
 * using ct = await keys.encrypt([3, 1, 4]);
 * using again = await rf.integers.ciphertextFromBytes(await ct.toBytes());
 * console.log(again.level, again.capacity > 60, (await keys.decrypt(again)).slice(0, 3));
 * rf.close();
 * ```
 */
export class IntegerCiphertext extends Resource<GlueIntegerCiphertext> {
  /** Name of the parameter set. */
  readonly preset: string;
  /** Hexadecimal id of the key it is encrypted under. */
  readonly keyId: string;
  /** Products left before it must be bootstrapped, plus the level a bootstrapping starts from. */
  readonly level: number;
  /** log2 of its modulus. */
  readonly logQ: number;
  /** Bits that its noise may grow by, as it is estimated, before the integers are lost. */
  readonly capacity: number;
  /** Bytes on the wire. */
  readonly byteLength: number;

  /** @internal */
  constructor(port: Port, made: Made<GlueIntegerCiphertext>) {
    super(port, made, 'the ciphertext');
    this.preset = made.preset;
    this.keyId = made.keyId;
    this.level = made.level;
    this.logQ = made.logQ;
    this.capacity = made.capacity;
    this.byteLength = made.byteLength;
  }

  /** The wire form, in an array that is the caller's to keep or to transfer. */
  async toBytes(): Promise<Uint8Array> {
    return this.port.call(this.handle, 'toBytes');
  }
}
