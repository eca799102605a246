import type { CiphertextInfo, Engine } from '../engine/engine.js';
import type { SlotMode } from '../params.js';
import { SyncResource } from './resource.js';

/** An encrypted vector; see `Ciphertext` of the main entry. */
export class Ciphertext extends SyncResource<Engine> {
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
  /** What its slots hold, as far as this program knows: the wire form does not say. */
  readonly mode: SlotMode;

  /** @internal */
  constructor(engine: Engine, info: CiphertextInfo, mode: SlotMode) {
    super(engine, info.handle, 'the ciphertext');
    this.preset = info.preset;
    this.keyId = info.keyId;
    this.level = info.level;
    this.logQ = info.logQ;
    this.logScale = info.logScale;
    this.byteLength = info.byteLength;
    this.mode = mode;
  }

  /** The wire form, in a fresh array. */
  toBytes(): Uint8Array {
    return this.engine.ciphertextToBytes(this.handle);
  }
}
