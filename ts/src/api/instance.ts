import { RefloatError, throwIfAborted } from '../errors.js';
import type { Memory } from '../engine/engine.js';
import { ckks, classOf } from '../engine/handle.js';
import { moduleOf, type CkksMethod } from '../engine/modules.js';
import type { Port } from '../engine/port.js';
import { Gates } from '../gates/gates.js';
import { IntegerCiphertext } from '../integers/ciphertext.js';
import { Integers } from '../integers/integers.js';
import type { Clamp, Preset, PresetName, Reduction, SlotMode } from '../params.js';
import type { ServerOptions } from '../remote/options.js';
import { Server } from '../remote/server.js';
import { uncloneable } from '../uncloneable.js';
import { unlessAborted } from './abandon.js';
import { NUMBERS, bytesOf, mustBe } from './arguments.js';
import { BootstrapKeys } from './bootstrap-keys.js';
import { NUMBER, checkOptions } from './check-options.js';
import { Ciphertext } from './ciphertext.js';
import { KeySet } from './key-set.js';
import type { About } from './loader.js';
import { IMPORT, KEYGEN, MODE, type ImportOptions, type KeygenOptions } from './options.js';
import { PublicKey } from './public-key.js';
import { copied } from './secret.js';
import { keyMismatch, type Sets } from './sets.js';

/** One loaded instance; the entry points export it as `Refloat` with their own `load()`. */
export class Instance {
  /** Gates, look-ups and circuits on encrypted bits and small integers. */
  readonly gates: Gates;
  /** Exact arithmetic on encrypted integers modulo a prime. */
  readonly integers: Integers;
  readonly #port: Port;
  readonly #about: About;
  readonly #sets: Sets;

  /** @internal */
  protected constructor(port: Port, about: About, sets: Sets) {
    // JavaScript does not keep anybody from calling it.
    if ((port as Port | undefined) === undefined) {
      throw new RefloatError('INVALID_ARGUMENT', 'an instance is made by load(), and new Refloat() was called; write await Refloat.load()');
    }
    this.#port = port;
    this.#about = about;
    this.#sets = sets;
    this.gates = new Gates(port);
    this.integers = new Integers(port);
    uncloneable(this, 'Refloat', 'call Refloat.load() there');
  }

  /** Version, kernels and artefact in use. */
  about(): About {
    return this.#about;
  }

  /** The parameter sets known so far: those of the first module, and those of other modules once these are loaded. */
  presets(): readonly Preset[] {
    return this.#sets.today;
  }

  /** All parameter sets of CKKS that run in the page, or those of one method; loads the modules that have them. */
  async loadPresets(method?: CkksMethod): Promise<readonly Preset[]> {
    await this.#sets.load(method);
    return method === undefined ? this.#sets.today : this.#sets.today.filter((set) => set.method === method);
  }

  /** One of `presets()` by name. */
  params(name: PresetName | (string & {})): Preset {
    return this.#sets.named(name);
  }

  /** Memory of the wasm instance and of the instances of further threads. */
  async memory(): Promise<Memory> {
    const [own, pool] = await Promise.all([this.#port.ask('memory', []), this.#port.pool?.memory()]);
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
    checkOptions(options, 'keygen()', KEYGEN);
    return unlessAborted(options.signal, async () => {
      const params = await this.#sets.find(preset);
      throwIfAborted(options.signal);
      const keys = classOf(ckks(moduleOf(params.method)), 'SecretKey');
      const made = await this.#port.call(keys, 'generate', params.name, options.allowInsecure === true, copied(options.seed));
      return new KeySet(this.#port, made, params);
    });
  }

  /** Takes back what `KeySet.exportSecret()` gave. */
  async importKeys(bytes: Uint8Array, options: ImportOptions = {}): Promise<KeySet> {
    checkOptions(options, 'importKeys()', IMPORT);
    const own = bytesOf(bytes, 'importKeys()');
    return unlessAborted(options.signal, async () => {
      const keys = classOf(ckks(await this.#sets.moduleFor(own, 'secret key', 'importKeys()')), 'SecretKey');
      throwIfAborted(options.signal);
      const made = await this.#port.call(keys, 'importSecret', own, options.allowInsecure === true);
      return new KeySet(this.#port, made, await this.#sets.find(made.preset));
    });
  }

  /** Reads a ciphertext of any of the sets; damaged or foreign bytes throw `BAD_BYTES`. Pass `mode` if it differs from the set's. */
  async ciphertextFromBytes(
    bytes: Uint8Array,
    options: { readonly mode?: SlotMode | undefined } = {},
  ): Promise<Ciphertext> {
    checkOptions(options, 'ciphertextFromBytes()', { mode: MODE });
    const own = bytesOf(bytes, 'ciphertextFromBytes()');
    const ciphertexts = classOf(ckks(await this.#sets.moduleFor(own, 'ciphertext', 'ciphertextFromBytes()')), 'Ciphertext');
    const made = await this.#port.call(ciphertexts, 'fromBytes', own);
    return new Ciphertext(this.#port, made, options.mode ?? (await this.#sets.find(made.preset)).mode);
  }

  /**
   * Reads a public key of any of the sets, which its owner made with `KeySet.publicKey()`; damaged or foreign bytes throw `BAD_BYTES`. What
   * is encrypted with a toy set's key is not secret, so such sets need `allowInsecure`.
   */
  async publicKeyFromBytes(bytes: Uint8Array, options: ImportOptions = {}): Promise<PublicKey> {
    checkOptions(options, 'publicKeyFromBytes()', IMPORT);
    const own = bytesOf(bytes, 'publicKeyFromBytes()');
    return unlessAborted(options.signal, async () => {
      const keys = classOf(ckks(await this.#sets.moduleFor(own, 'public key', 'publicKeyFromBytes()')), 'PublicKey');
      throwIfAborted(options.signal);
      const made = await this.#port.call(keys, 'fromBytes', own, options.allowInsecure === true);
      return new PublicKey(this.#port, made, await this.#sets.find(made.preset));
    });
  }

  /** Squares every slot; takes one level. */
  async square(ciphertext: Ciphertext, keys: BootstrapKeys): Promise<Ciphertext> {
    mustBe(ciphertext, Ciphertext, 'square()', NUMBERS, [IntegerCiphertext, 'multiply() of its evaluation keys takes that']);
    mustBe(keys, BootstrapKeys, 'square()', 'the keys that bootstrapKeys() makes');
    keyMismatch(keys.keyId, ciphertext, 'these bootstrapping keys');
    const [x, by] = [ciphertext.handleIn(this.#port), keys.handleIn(this.#port)];
    return new Ciphertext(this.#port, await this.#port.call(ckks(x.module), 'square', x, by), ciphertext.mode);
  }

  /** Drops the primes that multiplications would spend, down to `params.inputLevel`. */
  async exhaust(ciphertext: Ciphertext): Promise<Ciphertext> {
    mustBe(ciphertext, Ciphertext, 'exhaust()', NUMBERS, [IntegerCiphertext, 'it has dropToLevel()']);
    const x = ciphertext.handleIn(this.#port);
    return new Ciphertext(this.#port, await this.#port.call(ckks(x.module), 'exhaust', x), ciphertext.mode);
  }

  /**
   * The polynomial of a conventional set and its values at `points`, in units of q0; with `degree`, the polynomial of another cosine
   * instead.
   */
  async reduction(
    preset: PresetName | (string & {}),
    points: ArrayLike<number> = [],
    options: { readonly degree?: number | undefined } = {},
  ): Promise<Reduction> {
    checkOptions(options, 'reduction()', { degree: NUMBER });
    const { name, method } = await this.#sets.find(preset);
    if (method === 'ckks-conventional') {
      return this.#port.call(ckks('conventional'), 'reduction', name, options.degree, Float64Array.from(points));
    }
    throw new RefloatError(
      'INVALID_ARGUMENT',
      `${name} bootstraps without a polynomial; name a set whose method is ckks-conventional`,
    );
  }

  /**
   * The polynomial of an odd `degree` that is close to x for |x| up to 1 - `margin`, and to the sign of x from 1 to 1 + `overshoot`. A
   * program uses it to keep its values in [-1, 1] when errors of bootstraps would push them out. It takes log2(degree + 1) levels, rounded
   * up, and one for its interval.
   *
   * @example
   * ```ts
   * import { Program, Refloat } from 'refloat';
   *
   * const rf = await Refloat.load();
   * const { coefficients, interval, error } = await rf.clamp({ overshoot: 0.05, margin: 0.125, degree: 31 });
   * const p = new Program({ slots: 1024 });
   * p.output('kept', p.input('x').polynomial(coefficients, { interval }));
   * console.log(error < 2 ** -12); // true
   * rf.close();
   * ```
   *
   * @throws RefloatError `INVALID_ARGUMENT` for an overshoot outside [0.001, 1], a margin outside [0, 0.5], and a degree that
   *   is even or above 63.
   */
  async clamp(options: { readonly overshoot: number; readonly margin?: number | undefined; readonly degree: number }): Promise<Clamp> {
    checkOptions(options, 'clamp()', { overshoot: NUMBER, margin: NUMBER, degree: NUMBER });
    const { overshoot, margin = 0, degree } = options;
    if (!Number.isInteger(degree) || degree < 1 || degree > 63) {
      throw new RefloatError('INVALID_ARGUMENT', `a clamp of degree ${degree}; pass an odd integer up to 63`);
    }
    const fit: Clamp = await this.#port.call(ckks('conventional'), 'clamp', overshoot, margin, degree);
    const [from, to] = fit.interval;
    return { ...fit, interval: [from, to] };
  }

  /** Compares the vector kernels in use with the scalar ones; resolves to a sentence, or throws. */
  kernelSelfCheck(seed = 1): Promise<string> {
    return this.#port.call(ckks('main'), 'kernelSelfCheck', seed);
  }

  /**
   * A refloat server; nothing is sent to it before the first call. A relative address is resolved against the page or, in a worker, against
   * the worker's own file.
   */
  server(url: string | URL, options: ServerOptions = {}): Server {
    return new Server(this.#port, this.#sets, url, options);
  }

  /** Ends the instance and its worker for everyone whose `load()` had equal options; everything made with it is gone. */
  close(): void {
    this.#port.close();
  }

  /** As `close()`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }
}
