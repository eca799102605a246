import { RefloatError, throwIfAborted } from '../errors.js';
import type { About, Memory } from '../engine/engine.js';
import type { Port } from '../engine/port.js';
import { Gates } from '../gates/gates.js';
import { keyMismatch } from '../mismatch.js';
import type { Preset, PresetName, SlotMode } from '../params.js';
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
  readonly #presets: readonly Preset[];

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
    const params = this.params(preset);
    const allow = options.allowInsecure === true;
    const info = await this.#port.call('keygen', params.name, allow, copied(options.seed));
    return new KeySet(this.#port, info, params);
  }

  /** Takes back what `KeySet.exportSecret()` gave. */
  async importKeys(bytes: Uint8Array, options: ImportOptions = {}): Promise<KeySet> {
    throwIfAborted(options.signal);
    const info = await this.#port.call('importSecret', Uint8Array.from(bytes), options.allowInsecure === true);
    return new KeySet(this.#port, info, this.params(info.preset));
  }

  /** Reads a ciphertext of any of the sets; damaged or foreign bytes throw `BAD_BYTES`. Say `mode` if it is not the set's. */
  async ciphertextFromBytes(
    bytes: Uint8Array,
    options: { readonly mode?: SlotMode } = {},
  ): Promise<Ciphertext> {
    const info = await this.#port.call('ciphertextFromBytes', Uint8Array.from(bytes));
    return new Ciphertext(this.#port, info, options.mode ?? this.params(info.preset).mode);
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

  /** Compares the vector kernels in use with the scalar ones; resolves to a sentence, or throws. */
  kernelSelfCheck(seed = 1): Promise<string> {
    return this.#port.call('kernelSelfCheck', seed);
  }

  /** A refloat server; nothing is asked of it before the first call. */
  server(url: string | URL, options: ServerOptions = {}): Server {
    return new Server(this.#port, this.#presets, url, options);
  }

  /** Ends the instance and its worker; everything made with it is gone. */
  close(): void {
    this.#port.close();
  }

  /** As `close()`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }
}
