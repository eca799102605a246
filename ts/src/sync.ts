/**
 * The direct form: the same names as `refloat`, in this thread, returning values instead of
 * promises. For scripts, tests and workers of your own; on a page it would stop the drawing.
 *
 * @packageDocumentation
 */
import { openDirect } from './direct-full.js';
import type { WasmSource } from './engine/open.js';
import type { About, Engine, Memory } from './engine/engine.js';
import type { Host } from './engine/host.js';
import { presetNamed, today } from './mismatch.js';
import type { Preset, PresetName, SlotMode } from './params.js';
import { Ciphertext } from './sync/ciphertext.js';
import { Gates } from './sync/gates.js';
import { BootstrapKeys, KeySet } from './sync/key-set.js';

export { GateCiphertext } from './sync/gate-ciphertext.js';
export { GateKeySet } from './sync/gate-key-set.js';
export type { GateEncryptOptions } from './sync/gate-key-set.js';
export { GateKeys } from './sync/gate-keys.js';
export type { GateRunOptions } from './sync/gate-keys.js';
export { Gates } from './sync/gates.js';
export { BootstrapKeys, KeySet } from './sync/key-set.js';
export type { BootstrapOptions, EncryptOptions } from './sync/key-set.js';
export { Ciphertext } from './sync/ciphertext.js';
export type { SyncResource } from './sync/resource.js';
export { SyncRun } from './sync/run.js';
export { complexFromParts, imaginaryParts, realParts } from './complex.js';
export { RefloatError } from './errors.js';
export type { About, Memory, WasmSource };
export type { ErrorCode, RefloatErrorOptions, ServerProblem } from './errors.js';
export type { CircuitGate, CircuitInfo, CircuitSignal } from './gates/circuit.js';
export type { CircuitEvent, GateEvent, GateProgress, GateStageId, GateView } from './gates/events.js';
export type { CarryForm } from './gates/gates.js';
export type { GateName, GatePreset, GatePresetName } from './gates/params.js';
export type {
  Fact,
  GateInfo,
  KeyPartInfo,
  Method,
  Preset,
  PresetName,
  Scheme,
  SetInfo,
  SlotMode,
  StageInfo,
} from './params.js';
export type {
  ConventionalStageId,
  KeyProgress,
  ShipStageId,
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
  /** Where the module of conventional sets is, which `loadPresets()` loads. */
  readonly conventionalWasm?: WasmSource;
  /** Where the module of gates is; it is loaded with `gates()`. */
  readonly gatesWasm?: WasmSource;
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
  readonly #host: Host;
  readonly #about: About;
  #presets: readonly Preset[];
  #conventional: Engine | undefined;

  private constructor(host: Host) {
    const { about, presets } = host.engine.describe();
    this.#host = host;
    this.#about = about;
    this.#presets = presets;
  }

  /**
   * Loads the wasm module into this thread; only loading takes a promise. There is one instance per
   * thread, and the first call decides where it comes from. A failed load can be tried again, and
   * after a crash the next call makes a fresh instance.
   */
  static async load(options: LoadOptions = {}): Promise<Refloat> {
    return new Refloat(await openDirect(options));
  }

  /** Version, kernels and artefact in use. */
  about(): About {
    return this.#about;
  }

  /** The parameter sets there are without waiting: those of SHIP, and the conventional ones after `loadPresets()`. */
  presets(): readonly Preset[] {
    return today(this.#presets);
  }

  /** All parameter sets of this version; loads the module of the conventional ones, which nothing else here does. */
  async loadPresets(): Promise<readonly Preset[]> {
    const engine = await this.#host.conventional();
    if (this.#conventional !== engine) {
      const own = this.#host.engine.describe().presets;
      this.#presets = [...own, ...engine.describe().presets];
      this.#conventional = engine;
    }
    return today(this.#presets);
  }

  /** One of `presets()` by name. */
  params(name: PresetName | (string & {})): Preset {
    return presetNamed(this.#presets, name);
  }

  /**
   * Gates, look-ups and circuits on encrypted bits and small integers. Their module is loaded with the
   * first call, which is why this takes a promise too.
   */
  async gates(): Promise<Gates> {
    return new Gates(await this.#host.openGates());
  }

  /** Memory of the wasm instance, and of that of gates. */
  memory(): Memory {
    return this.#host.memory();
  }

  /** Makes a secret key from fresh randomness of the platform; `ship13` if no set is named. */
  keygen(preset: PresetName | (string & {}) = 'ship13', options: KeygenOptions = {}): KeySet {
    const params = this.params(preset);
    const engine = this.#engineOf(params);
    const info = engine.keygen(params.name, options.allowInsecure === true, options.seed);
    return new KeySet(engine, info, params);
  }

  /** Takes back what `KeySet.exportSecret()` gave. */
  importKeys(bytes: Uint8Array, options: { readonly allowInsecure?: boolean } = {}): KeySet {
    const engine = this.#engineFor(bytes);
    const info = engine.importSecret(bytes, options.allowInsecure === true);
    return new KeySet(engine, info, this.params(info.preset));
  }

  /** Reads a ciphertext of any of the sets; damaged or foreign bytes throw `BAD_BYTES`. Say `mode` if it is not the set's. */
  ciphertextFromBytes(bytes: Uint8Array, options: { readonly mode?: SlotMode } = {}): Ciphertext {
    const engine = this.#engineFor(bytes);
    const info = engine.ciphertextFromBytes(bytes);
    return new Ciphertext(engine, info, options.mode ?? this.params(info.preset).mode);
  }

  /** Squares every slot; takes one level. */
  square(ciphertext: Ciphertext, keys: BootstrapKeys): Ciphertext {
    keys.mustMatch(ciphertext);
    const engine = this.#engineOf(keys.params);
    const info = engine.square(ciphertext.handleIn(engine), keys.handleIn(engine));
    return new Ciphertext(engine, info, ciphertext.mode);
  }

  /** Drops the primes that multiplications would spend, down to `params.inputLevel`. */
  exhaust(ciphertext: Ciphertext): Ciphertext {
    const engine = this.#engineOf(this.params(ciphertext.preset));
    const info = engine.exhaust(ciphertext.handleIn(engine));
    return new Ciphertext(engine, info, ciphertext.mode);
  }

  /** Compares the vector kernels in use with the scalar ones; gives a sentence, or throws. */
  kernelSelfCheck(seed = 1): string {
    return this.#host.engine.kernelSelfCheck(seed);
  }

  #engineOf(params: Preset): Engine {
    return params.method === 'ckks-conventional' && this.#conventional ? this.#conventional : this.#host.engine;
  }

  #engineFor(bytes: Uint8Array): Engine {
    return this.#conventional && this.#host.engine.isForeign(bytes) ? this.#conventional : this.#host.engine;
  }
}
