import { mustBe } from '../api/arguments.js';
import { Encrypted } from '../api/encrypted.js';
import type { GlueGateCiphertext } from '../engine/glue.js';
import type { Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { sliceRange } from './arguments.js';

/**
 * One or several encrypted bits, or small integers, inside the wasm instance. Gates work on all of
 * them, place by place.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.gates.keygen('toy-bool', { allowInsecure: true });
 * using bits = await keys.encrypt([true, false, true]);
 * using last = await bits.slice(2);
 * using again = await rf.gates.ciphertextFromBytes(await bits.toBytes());
 * console.log(again.length, await keys.decrypt(last)); // 3 [ true ]
 * rf.close();
 * ```
 */
export class GateCiphertext extends Encrypted<GlueGateCiphertext> {
  /** Number of bits or integers. */
  readonly length: number;
  /** 0 for bits; otherwise the integers are below this number. */
  readonly messages: number;

  /** @internal */
  constructor(port: Port, made: Made<GlueGateCiphertext>) {
    super(port, made, 'GateCiphertext', 'rf.gates.ciphertextFromBytes', 'the ciphertext for gates');
    this.length = made.length;
    this.messages = made.messages;
  }

  /** A copy of the items from `start` to before `end`. */
  async slice(start: number, end: number = this.length): Promise<GateCiphertext> {
    sliceRange(start, end, this.length);
    return new GateCiphertext(this.port, await this.port.call(this.handle, 'slice', start, end));
  }

  /** A copy with the items of the others after this ciphertext's own. */
  async concat(...others: readonly GateCiphertext[]): Promise<GateCiphertext> {
    const handles = [this as GateCiphertext, ...others].map((list) => {
      mustBe(list, GateCiphertext, 'concat()', 'ciphertexts of bits, which encrypt() of a key set of rf.gates makes');
      return list.handleIn(this.port);
    });
    return new GateCiphertext(this.port, await this.port.ask('concat', [handles]));
  }
}
