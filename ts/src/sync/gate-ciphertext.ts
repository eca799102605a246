import type { GateCiphertextInfo, GateEngine } from '../engine/gates.js';
import { sliceRange } from '../gates/arguments.js';
import { SyncResource } from './resource.js';

/** Encrypted bits or small integers; see `GateCiphertext` of the main entry. */
export class GateCiphertext extends SyncResource<GateEngine> {
  /** Name of the parameter set. */
  readonly preset: string;
  /** Hexadecimal id of the key it is encrypted under. */
  readonly keyId: string;
  /** Number of bits or integers. */
  readonly length: number;
  /** 0 for bits; otherwise the integers are below this. */
  readonly messages: number;
  /** Bytes on the wire. */
  readonly byteLength: number;

  /** @internal */
  constructor(engine: GateEngine, info: GateCiphertextInfo) {
    super(engine, info.handle, 'the ciphertext');
    this.preset = info.preset;
    this.keyId = info.keyId;
    this.length = info.length;
    this.messages = info.messages;
    this.byteLength = info.byteLength;
  }

  /** A copy of the items from `start` to before `end`. */
  slice(start: number, end: number = this.length): GateCiphertext {
    sliceRange(start, end, this.length);
    return new GateCiphertext(this.engine, this.engine.gateSlice(this.handle, start, end));
  }

  /** A copy with the items of others after its own. */
  concat(...others: readonly GateCiphertext[]): GateCiphertext {
    const handles = [this as GateCiphertext, ...others].map((list) => list.handleIn(this.engine));
    return new GateCiphertext(this.engine, this.engine.gateConcat(handles));
  }

  /** The wire form, in a fresh array. */
  toBytes(): Uint8Array {
    return this.engine.gateToBytes(this.handle);
  }
}
