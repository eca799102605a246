import { throwIfAborted } from '../errors.js';
import type { About, Memory } from '../engine/engine.js';
import type { Port } from '../engine/port.js';
import { Gates } from '../gates/gates.js';
import { keyMismatch, presetNamed, today } from '../mismatch.js';
import type { Preset, PresetName, Reduction, SlotMode } from '../params.js';
import { Server, type ServerOptions } from '../remote/server.js';
import type { BootstrapKeys } from './bootstrap-keys.js';
import { Ciphertext } from './ciphertext.js';
import { KeySet, copied, type SignalOptions } from './key-set.js';

/** Options of `Refloat.keygen`. */
export interface KeygenOptions extends SignalOptions {
  /** Needed for sets whose `secure` is false: toys that show how things work and protect nothing. */
  readonly allowInsecure?: boolean;
  /** 32 bytes that fix the key; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array;
}

/** Options of `Refloat.importKeys`. */
export interface ImportOptions extends SignalOptions {
  /** As in {@link KeygenOptions}. */
  readonly allowInsecure?: boolean;
}

/** One loaded instance; the entry points export it as `Refloat` with their own `load()`. */
export class Instance {
  /** Gates, look-ups and circuits on encrypted bits and small integers. */
  readonly gates: Gates;
  readonly #port: Port;
  readonly #about: About;
  #presets: readonly Preset[];
  #conventional: Promise<void> | undefined;

  /** @internal */
  protected constructor(port: Port, about: About, presets: readonly Preset[]) {
    this.#port = port;
    this.#about = about;
    this.#presets = presets;
    this.gates = new Gates(port);
  }

  /** Version, kernels and artefact in use. */
  about(): About {
    return this.#about;
  }

  /** The parameter sets that are known already: those of SHIP, and the conventional ones once their module is loaded. */
  presets(): readonly Preset[] {
    return today(this.#presets);
  }

  /** All parameter sets of this version; loads the module of the conventional ones. */
  async loadPresets(): Promise<readonly Preset[]> {
    this.#conventional ??= this.#port.call('conventionalPresets').then((sets) => {
      this.#presets = [...this.#presets, ...sets];
    });
    try {
      await this.#conventional;
    } catch (error) {
      this.#conventional = undefined;
      throw error;
    }
    return today(this.#presets);
  }

  /** One of `presets()` by name. */
  params(name: PresetName | (string & {})): Preset {
    return presetNamed(this.#presets, name);
  }

  /** Memory of the wasm instance, and of those of further threads. */
  async memory(): Promise<Memory> {
    const [own, pool] = await Promise.all([this.#port.call('memory'), this.#port.pool?.memory()]);
    if (!pool) return own;
    return {
      bytes: own.bytes + pool.bytes,
      objects: own.objects + pool.objects,
      instances: own.instances + pool.instances,
    };
  }

  /**
   * Makes a secret key from fresh randomness of the platform.
   *
   * @param preset name of a parameter set, `ship13` (128 bits) if left out
   */
  async keygen(preset: PresetName | (string & {}) = 'ship13', options: KeygenOptions = {}): Promise<KeySet> {
    throwIfAborted(options.signal);
    const params = await this.#named(preset);
    const allow = options.allowInsecure === true;
    const info = await this.#port.call('keygen', params.name, allow, copied(options.seed));
    return new KeySet(this.#port, info, params);
  }

  /** Takes back what `KeySet.exportSecret()` gave. */
  async importKeys(bytes: Uint8Array, options: ImportOptions = {}): Promise<KeySet> {
    throwIfAborted(options.signal);
    const info = await this.#port.call('importSecret', Uint8Array.from(bytes), options.allowInsecure === true);
    return new KeySet(this.#port, info, await this.#named(info.preset));
  }

  /** Reads a ciphertext of any of the sets; damaged or foreign bytes throw `BAD_BYTES`. Say `mode` if it is not the set's. */
  async ciphertextFromBytes(
    bytes: Uint8Array,
    options: { readonly mode?: SlotMode } = {},
  ): Promise<Ciphertext> {
    const info = await this.#port.call('ciphertextFromBytes', Uint8Array.from(bytes));
    return new Ciphertext(this.#port, info, options.mode ?? (await this.#named(info.preset)).mode);
  }

  /** Squares every slot; takes one level. */
  async square(ciphertext: Ciphertext, keys: BootstrapKeys): Promise<Ciphertext> {
    keyMismatch(keys.keyId, ciphertext, 'these bootstrapping keys');
    const info = await this.#port.call('square', ciphertext.handleIn(this.#port), keys.handleIn(this.#port));
    return new Ciphertext(this.#port, info, ciphertext.mode);
  }

  /** Drops the primes that multiplications would spend, down to `params.inputLevel`. */
  async exhaust(ciphertext: Ciphertext): Promise<Ciphertext> {
    const info = await this.#port.call('exhaust', ciphertext.handleIn(this.#port));
    return new Ciphertext(this.#port, info, ciphertext.mode);
  }

  /**
   * The polynomial of a conventional set and its values at `points`, in units of q0; with `degree`, that of
   * another cosine in its place.
   */
  async reduction(
    preset: PresetName | (string & {}),
    points: ArrayLike<number> = [],
    options: { readonly degree?: number } = {},
  ): Promise<Reduction> {
    return this.#port.call('reduction', (await this.#named(preset)).name, options.degree, Float64Array.from(points));
  }

  /** Compares the vector kernels in use with the scalar ones; resolves to a sentence, or throws. */
  kernelSelfCheck(seed = 1): Promise<string> {
    return this.#port.call('kernelSelfCheck', seed);
  }

  /** A refloat server; nothing is asked of it before the first call. */
  server(url: string | URL, options: ServerOptions = {}): Server {
    return new Server(this.#port, () => this.#presets, url, options);
  }

  /** Ends the instance and its worker; everything made with it is gone. */
  close(): void {
    this.#port.close();
  }

  /** As `close()`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** A set by name, of either kind. */
  async #named(name: string): Promise<Preset> {
    return this.#presets.find((p) => p.name === name) ?? presetNamed((await this.loadPresets(), this.#presets), name);
  }
}
