import { EngineRun, completing, freeing } from '../engine/engine-run.js';
import { Fraction, stepsOf } from '../engine/fraction.js';
import type { GlueRun, GlueSecretKey, GlueTasks } from '../engine/glue.js';
import { ckks, classOf } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import { fromHex } from '../hex.js';
import type { Preset } from '../params.js';
import { SteppableRun } from '../run.js';
import { prepareHelpers, shareBootstrap } from '../sharing/bootstrap.js';
import type { KeyProgress, StageEvent } from '../stages.js';
import { unlessAborted } from './abandon.js';
import { mustBe, numbers, rotationsOf } from './arguments.js';
import { ArithmeticKeys } from './arithmetic-keys.js';
import { BootstrapKeys } from './bootstrap-keys.js';
import { FLAG, checkOptions, type Kinds } from './check-options.js';
import { Ciphertext } from './ciphertext.js';
import { encrypted } from './encrypting.js';
import { eachKey, eachPart, mustFitIn } from './key-parts.js';
import { ROTATIONS, ROUNDS, SIGNAL, type EncryptOptions, type RoundsChoice, type SignalOptions } from './options.js';
import { PublicKey } from './public-key.js';
import { SecretKey, type IdentifiedKey } from './secret.js';
import { keyMismatch } from './sets.js';

/** Options of `KeySet.arithmeticKeys`. */
export interface ArithmeticKeysOptions extends SignalOptions {
  /**
   * Rotations of the slots to make keys for; other rotations are composed of these, with one key switch each. By default the powers of two,
   * of which every rotation is composed; `[]` for none.
   */
  readonly rotations?: readonly number[] | undefined;
  /** Whether to make the key of conjugation; `false` by default. */
  readonly conjugation?: boolean | undefined;
}

const ARITHMETIC_KEYS: Kinds<ArithmeticKeysOptions> = { ...SIGNAL, rotations: ROTATIONS, conjugation: FLAG };

/** Options of `KeySet.bootstrapKeys`. */
export interface BootstrapKeysOptions extends SignalOptions {
  /**
   * `true` (default): all keys are made now and stay in memory. `false`: each bootstrapping makes
   * them again, track by track, and drops them: slower, in a small part of the memory. Such keys
   * hold the secret key, which is wiped once both are freed. Sets without tracks, such as `n15`, have
   * no such keys.
   */
  readonly resident?: boolean | undefined;
}

const BOOTSTRAP_KEYS: Kinds<BootstrapKeysOptions> = { ...SIGNAL, resident: FLAG };

/** Options of `KeySet.bootstrap`. */
export interface BootstrapOptions extends RoundsChoice, SignalOptions {
  /**
   * Adds `view` events: what the ciphertexts hold after each step, decrypted here. Errors are
   * counted from `message`, the numbers that were encrypted, or with `true` from what the input
   * decrypts to. Not with several rounds.
   */
  readonly inspect?: boolean | { readonly message: ArrayLike<number> } | undefined;
}

const BOOTSTRAP: Kinds<BootstrapOptions> = {
  ...ROUNDS,
  ...SIGNAL,
  inspect: [
    (value) => typeof value === 'boolean' || (typeof value === 'object' && value !== null && 'message' in value),
    'true, false, or { message } with the numbers that were encrypted',
  ],
};

/**
 * A secret key and what can be done with it. It stays inside the wasm instance; `exportSecret()` is
 * the only way out.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy10', { allowInsecure: true });
 * using ct = await keys.encrypt([0.5, -0.25, 1], { level: keys.params.inputLevel });
 *
 * using boot = await keys.bootstrapKeys();
 * const run = keys.bootstrap(ct, boot);
 * for await (const e of run) if (e.kind === 'exit') console.log(e.stage, e.level);
 * using fresh = await run; // exhausted in, refreshed out
 * console.log((await keys.decrypt(fresh)).slice(0, 3));
 * rf.close();
 * ```
 */
export class KeySet extends SecretKey<Preset, GlueSecretKey> {
  /** @internal */
  constructor(port: Port, made: IdentifiedKey<GlueSecretKey>, params: Preset) {
    super(port, made, params, 'KeySet', 'rf.importKeys');
  }

  /**
   * Encrypts numbers: reals in [-1, 1] (`real`), interleaved re, im pairs (`complex`), or zeros and
   * ones (`bits`). Fewer than `params.slots` are padded with zeros. The input is copied.
   */
  async encrypt(values: ArrayLike<number>, options: EncryptOptions = {}): Promise<Ciphertext> {
    return encrypted({ port: this.port, handle: this.handle, params: this.params }, values, options);
  }

  /**
   * Decrypts into a fresh array. The numbers are for the owner of this key: showing the decryption
   * of an approximate scheme to others can reveal the key. This package does not add the noise that
   * would prevent it; the Rust library does, in `decrypt_for_release`.
   */
  async decrypt(ciphertext: Ciphertext, options: SignalOptions = {}): Promise<Float64Array> {
    checkOptions(options, 'decrypt()', SIGNAL);
    this.#mustBeMine(ciphertext);
    return unlessAborted(options.signal, () => this.port.call(this.handle, 'decrypt', ciphertext.handleIn(this.port), ciphertext.mode));
  }

  /** The key with which others encrypt for the owner of this one; {@link PublicKey} has an example. */
  async publicKey(): Promise<PublicKey> {
    return new PublicKey(this.port, await this.port.call(this.handle, 'publicKey'), this.params);
  }

  /**
   * Makes the keys for products, and for the rotations that are asked for, in the page, one by one. All have the same size, so the first
   * event says how many bytes they will take together.
   */
  arithmeticKeys(options: ArithmeticKeysOptions = {}): SteppableRun<ArithmeticKeys, KeyProgress> {
    checkOptions(options, 'arithmeticKeys()', ARITHMETIC_KEYS);
    const { port, handle: secret, params } = this;
    const rotations = rotationsOf(options.rotations);
    return new SteppableRun((control) => {
      const classes = classOf(ckks(secret.module), 'ArithmeticKeys');
      const begun = port.call(classes, 'begin', params.name, fromHex(this.id), rotations, options.conjugation === true);
      return completing(port, begun, async (keys) => {
        const bytes = await eachKey(keys, control, params, (index) => port.step(keys, 'addFromSecret', secret, index));
        return new ArithmeticKeys(port, keys, this, bytes);
      });
    }, options.signal);
  }

  /**
   * Makes the bootstrapping keys in the page, part by part. Look at `params.expandedKeyBytes` first:
   * they take up to that many bytes of memory. For 128-bit sets pass `resident: false`, or let a server hold
   * them (`rf.server(url).uploadKeys(keys)`).
   */
  bootstrapKeys(options: BootstrapKeysOptions = {}): SteppableRun<BootstrapKeys, KeyProgress> {
    checkOptions(options, 'bootstrapKeys()', BOOTSTRAP_KEYS);
    const { port, handle: secret, params } = this;
    const keys = classOf(ckks(secret.module), 'BootstrapKeys');
    if (options.resident !== false) mustFit(params);
    return new SteppableRun(async (control) => {
      if (options.resident === false) {
        await control.gate();
        if (secret.module !== 'main') throw neededAtOnce(params.name);
        // Other threads start while the common keys are made here.
        if (port.pool) prepareHelpers(port.pool, params.name);
        const { value: made } = await port.step(keys, 'generated', secret);
        return new BootstrapKeys(port, made, this, made.memoryBytes, false);
      }
      const begun = port.call(keys, 'begin', params.name, fromHex(this.id));
      return completing(port, begun, async (boot) => {
        await eachPart(params, control, (index) => port.step(boot, 'addFromSecret', secret, index));
        const { state } = await port.step(boot, 'finish');
        return new BootstrapKeys(port, boot, this, state.memoryBytes, true);
      });
    }, options.signal);
  }

  /**
   * Bootstraps in the page; with keys that are not resident, on all available threads
   * (`LoadOptions.threads`). The ciphertext is first lowered to `params.inputLevel` if it is higher,
   * and comes back at `params.outputLevel`; the one passed in stays as it is.
   */
  bootstrap(
    ciphertext: Ciphertext,
    keys: BootstrapKeys,
    options: BootstrapOptions = {},
  ): SteppableRun<Ciphertext, StageEvent> {
    checkOptions(options, 'bootstrap()', BOOTSTRAP);
    this.#mustBeMine(ciphertext);
    mustBe(keys, BootstrapKeys, 'bootstrap()', 'the keys that bootstrapKeys() makes');
    keyMismatch(keys.keyId, ciphertext, 'these bootstrapping keys');
    const { port, handle: secret, params } = this;
    const [ct, boot] = [ciphertext.handleIn(port), keys.handleIn(port)];
    const { inspect, rounds } = options;
    const message = typeof inspect === 'object' ? numbers(inspect.message, 'inspect.message') : undefined;
    const { mode } = ciphertext;
    const pool = keys.resident ? undefined : port.pool;
    return new SteppableRun((control) => {
      const begun = port.call(classOf(ckks(ct.module), 'BootstrapRun'), 'begin', ct, mode, message, rounds);
      return freeing(port, begun, async (handle) => {
        const run = new EngineRun<GlueRun, StageEvent>(port, handle, control, new Fraction(stepsOf(params), rounds));
        const inspected = inspect ? secret : undefined;
        const step = () =>
          inspected ? port.step(handle, 'stepInspected', boot, inspected) : port.step(handle, 'step', boot);
        let shown = !inspected;
        for (let { tasks, stage }: { tasks?: GlueTasks | undefined; stage?: string | undefined } = handle; ; ) {
          await control.gate();
          // The input is shown before the first stage begins, and before work is begun for other threads.
          if (inspected && !shown) await run.step('inspectInput', inspected);
          shown = true;
          run.enter(stage);
          let last: Awaited<ReturnType<typeof step>>;
          if (pool && tasks) {
            last = await shareBootstrap(run, pool, tasks, { boot, secret, preset: params.name, step });
          } else {
            last = await step();
            run.report(last);
          }
          if (last.value) return new Ciphertext(port, await port.call(handle, 'finish'), mode);
          ({ tasks, stage } = last.state);
        }
      });
    }, options.signal);
  }

  #mustBeMine(ciphertext: Ciphertext): void {
    keyMismatch(this.id, ciphertext, 'this key set');
  }
}

function mustFit({ name, keyBytes, expandedKeyBytes, tracks }: Preset): void {
  // A page does not hold what a server precomputes for all tracks together.
  const needed = tracks > 1 ? 2 * keyBytes : expandedKeyBytes;
  mustFitIn(needed, `the bootstrapping keys of ${name}`, 'let a server hold them (rf.server(url).uploadKeys(keys))');
}

function neededAtOnce(name: string): RefloatError {
  return new RefloatError(
    'INVALID_ARGUMENT',
    `a bootstrapping of ${name} needs all its keys at once; leave { resident: false } out, or let a server hold them`,
  );
}
