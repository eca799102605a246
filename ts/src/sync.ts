/**
 * The direct form: the same names as `refloat`, in this thread, returning values instead of
 * promises. For scripts, tests and workers of your own; on a page it would stop the drawing.
 *
 * @packageDocumentation
 */
import { openDirect } from './direct-full.js';
import type { WasmSource } from './engine/open.js';
import { RefloatError } from './errors.js';
import type { About, Engine, Memory } from './engine/engine.js';
import type { Preset, PresetName, SlotMode } from './params.js';
import { Ciphertext } from './sync/ciphertext.js';
import { BootstrapKeys, KeySet } from './sync/key-set.js';

export { BootstrapKeys, KeySet } from './sync/key-set.js';
export type { BootstrapOptions, EncryptOptions } from './sync/key-set.js';
export { Ciphertext } from './sync/ciphertext.js';
export type { SyncResource } from './sync/resource.js';
export { SyncRun } from './sync/run.js';
export { complexFromParts, imaginaryParts, realParts } from './complex.js';
export { RefloatError } from './errors.js';
export type { About, Memory, WasmSource };
export type { ErrorCode, RefloatErrorOptions, ServerProblem } from './errors.js';
export type { KeyPartInfo, Preset, PresetName, SlotMode, StageInfo } from './params.js';
export type {
  KeyProgress,
  StageCounters,
  StageEnter,
  StageEvent,
  StageExit,
  StageId,
  StageProgress,
  StageView,
} from './stages.js';

/** Options of `Refloat.load()` in its direct form. */
export interface LoadOptions {
  /** Where the wasm module is; by default the file in the package. */
  readonly wasm?: WasmSource;
}

/** Options of `Refloat.keygen()` in its direct form. */
export interface KeygenOptions {
  /** Needed for sets whose `secure` is false. */
  readonly allowInsecure?: boolean;
  /** 32 bytes that fix the key; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array;
}

/**
 * The entrance, in its direct form.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat/sync';
 *
 * const rf = await Refloat.load();
 * using keys = rf.keygen('toy10', { allowInsecure: true });
 * using ct = keys.encrypt([0.5, -0.25, 1]);
 * console.log(keys.decrypt(ct).slice(0, 3));
 * ```
 */
export class Refloat {
  readonly #engine: Engine;
  readonly #about: About;
  readonly #presets: readonly Preset[];

  private constructor(engine: Engine) {
    const { about, presets } = engine.describe();
    this.#engine = engine;
    this.#about = about;
    this.#presets = presets;
  }

  /**
   * Loads the wasm module into this thread; only loading takes a promise. There is one instance per
   * thread, and the first call decides where it comes from. A failed load can be tried again, and
   * after a crash the next call makes a fresh instance.
   */
  static async load(options: LoadOptions = {}): Promise<Refloat> {
    return new Refloat((await openDirect([options.wasm])).engine);
  }

  /** Version, kernels and artefact in use. */
  about(): About {
    return this.#about;
  }

  /** The parameter sets of this version. */
  presets(): readonly Preset[] {
    return this.#presets;
  }

  /** One parameter set by name. */
  params(name: PresetName | (string & {})): Preset {
    const preset = this.#presets.find((p) => p.name === name);
    if (preset) return preset;
    const names = this.#presets.map((p) => p.name).join(', ');
    throw new RefloatError('INVALID_ARGUMENT', `no parameter set is called "${name}": there are ${names}`);
  }

  /** Memory of the wasm instance. */
  memory(): Memory {
    return this.#engine.memory();
  }

  /** Makes a secret key from fresh randomness of the platform; `ship13` if no set is named. */
  keygen(preset: PresetName | (string & {}) = 'ship13', options: KeygenOptions = {}): KeySet {
    const params = this.params(preset);
    const info = this.#engine.keygen(params.name, options.allowInsecure === true, options.seed);
    return new KeySet(this.#engine, info, params);
  }

  /** Takes back what `KeySet.exportSecret()` gave. */
  importKeys(bytes: Uint8Array, options: { readonly allowInsecure?: boolean } = {}): KeySet {
    const info = this.#engine.importSecret(bytes, options.allowInsecure === true);
    return new KeySet(this.#engine, info, this.params(info.preset));
  }

  /** Reads a ciphertext of any of the sets; damaged or foreign bytes throw `BAD_BYTES`. Say `mode` if it is not the set's. */
  ciphertextFromBytes(bytes: Uint8Array, options: { readonly mode?: SlotMode } = {}): Ciphertext {
    const info = this.#engine.ciphertextFromBytes(bytes);
    return new Ciphertext(this.#engine, info, options.mode ?? this.params(info.preset).mode);
  }

  /** Squares every slot; takes one level. */
  square(ciphertext: Ciphertext, keys: BootstrapKeys): Ciphertext {
    keys.mustMatch(ciphertext);
    const info = this.#engine.square(ciphertext.handleIn(this.#engine), keys.handleIn(this.#engine));
    return new Ciphertext(this.#engine, info, ciphertext.mode);
  }

  /** Drops the primes that multiplications would spend, down to `params.inputLevel`. */
  exhaust(ciphertext: Ciphertext): Ciphertext {
    const info = this.#engine.exhaust(ciphertext.handleIn(this.#engine));
    return new Ciphertext(this.#engine, info, ciphertext.mode);
  }

  /** Compares the vector kernels in use with the scalar ones; gives a sentence, or throws. */
  kernelSelfCheck(seed = 1): string {
    return this.#engine.kernelSelfCheck(seed);
  }
}
