import { throwIfAborted } from '../errors.js';
import type { KeyInfo, StepResult } from '../engine/engine.js';
import type { Port } from '../engine/port.js';
import { keyMismatch } from '../mismatch.js';
import { oracle, type BootstrapChoices, type EncryptChoices } from '../options.js';
import type { Preset } from '../params.js';
import { SteppableRun } from '../run.js';
import type { KeyProgress, StageEvent } from '../stages.js';
import { BootstrapKeys } from './bootstrap-keys.js';
import { Ciphertext } from './ciphertext.js';
import { multiplyTogether } from './groups.js';
import { Resource } from './resource.js';
import { rotateTogether } from './tracks.js';

/** Options that every call with a way to stop has. */
export interface SignalOptions {
  /** Stops the operation; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `KeySet.encrypt`. */
export interface EncryptOptions extends EncryptChoices, SignalOptions {}

/** Options of `KeySet.bootstrapKeys`. */
export interface BootstrapKeysOptions extends SignalOptions {
  /**
   * `true` (default): all keys are made now and stay in memory. `false`: each bootstrapping makes
   * them again, track by track, and drops them: slower, in a small part of the memory. Such keys
   * hold the secret key, which is wiped once both are freed. Conventional sets, which have no tracks,
   * have no such keys.
   */
  readonly resident?: boolean;
}

/** Options of `KeySet.bootstrap`. */
export interface BootstrapOptions extends BootstrapChoices, SignalOptions {}

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
export class KeySet extends Resource {
  /** Hexadecimal id, the same for everything made with this key. */
  readonly id: string;
  /** The parameter set. */
  readonly params: Preset;

  /** @internal */
  constructor(port: Port, info: KeyInfo, params: Preset) {
    super(port, info.handle, 'the key set');
    this.id = info.id;
    this.params = params;
  }

  /**
   * Encrypts numbers: reals in [-1, 1] (`real`), interleaved re, im pairs (`complex`), or zeros and
   * ones (`bits`). Fewer than `params.slots` are padded with zeros. The input is copied.
   */
  async encrypt(values: ArrayLike<number>, options: EncryptOptions = {}): Promise<Ciphertext> {
    throwIfAborted(options.signal);
    const data = Float64Array.from(values);
    const mode = options.mode ?? this.params.mode;
    const info = await this.port.call('encrypt', this.handle, data, mode, options.level, copied(options.seed));
    return new Ciphertext(this.port, info, mode);
  }

  /**
   * Decrypts into a fresh array. The numbers are for the owner of this key: showing the decryption
   * of an approximate scheme to others reveals the key, and none of today's sets has room for the
   * noise that would prevent it.
   */
  async decrypt(ciphertext: Ciphertext, options: SignalOptions = {}): Promise<Float64Array> {
    throwIfAborted(options.signal);
    this.#mustBeMine(ciphertext);
    return this.port.call('decrypt', this.handle, ciphertext.handleIn(this.port), ciphertext.mode);
  }

  /**
   * Makes the bootstrapping keys in the page, part by part. Look at `params.keyBytes` first: in
   * memory they take about twice that. For 128-bit sets pass `resident: false`, or let a server hold
   * them (`rf.server(url).uploadKeys(keys)`).
   */
  bootstrapKeys(options: BootstrapKeysOptions = {}): SteppableRun<BootstrapKeys, KeyProgress> {
    const parts = this.params.keyParts;
    const secret = this.handle;
    return new SteppableRun(async (control) => {
      if (options.resident === false) {
        await control.gate();
        // Other threads start while the common keys are made here.
        if (this.params.method === 'ckks-ship') this.port.pool?.start(this.params.name);
        const { handle, memoryBytes } = await this.port.call('bootGenerated', secret);
        return new BootstrapKeys(this.port, handle, this.params, this.id, memoryBytes, false);
      }
      const totalBytes = this.params.keyBytes;
      const boot = await this.port.call('bootBegin', this.params.name, this.id);
      let bytes = 0;
      try {
        for (const [done, part] of parts.entries()) {
          await control.gate();
          await this.port.call('bootPart', boot, secret, part.index);
          bytes += part.bytes;
          control.emit({ kind: 'progress', done: done + 1, total: parts.length, bytes, totalBytes, label: part.label });
        }
        await control.gate();
        const memoryBytes = await this.port.call('bootFinish', boot);
        return new BootstrapKeys(this.port, boot, this.params, this.id, memoryBytes, true);
      } catch (error) {
        this.port.release(boot);
        throw error;
      }
    }, options.signal);
  }

  /**
   * Bootstraps in the page, with keys that are not resident on as many threads as there are
   * (`LoadOptions.threads`). The ciphertext is lowered to `params.inputLevel` first if it is higher,
   * and comes back at `params.outputLevel`; the one passed in stays as it is.
   */
  bootstrap(
    ciphertext: Ciphertext,
    keys: BootstrapKeys,
    options: BootstrapOptions = {},
  ): SteppableRun<Ciphertext, StageEvent> {
    this.#mustBeMine(ciphertext);
    keyMismatch(keys.keyId, ciphertext, 'these bootstrapping keys');
    const [secret, ct, boot] = [this.handle, ciphertext.handleIn(this.port), keys.handleIn(this.port)];
    const inspector = options.inspect ? secret : undefined;
    const message = oracle(options.inspect);
    const { rounds } = options;
    const { mode } = ciphertext;
    const pool = keys.resident ? undefined : this.port.pool;
    const total = this.params.tracks;
    return new SteppableRun(async (control) => {
      const run = await this.port.call('runBegin', ct, boot, mode, inspector, message, rounds);
      const step = (waitedMs: number): Promise<StepResult> => this.port.call('runStep', run, waitedMs);
      const ahead = async (): Promise<number> =>
        pool ? multiplyTogether({ port: this.port, pool, run, preset: this.params.name }, control) : 0;
      try {
        await control.gate();
        let waited = await ahead();
        for (;;) {
          const { events, finished, nextTrack: first } = await step(waited);
          waited = 0;
          for (const event of events) control.emit(event);
          if (pool && first !== undefined) {
            await rotateTogether({ port: this.port, pool, run, secret, mode, first, total }, control, step);
          }
          if (finished) return new Ciphertext(this.port, await this.port.call('runFinish', run), mode);
          await control.gate();
          // A further round begins as the first did.
          if (pool && rounds !== undefined && (await this.port.call('runGroups', run)) > 0) waited = await ahead();
        }
      } catch (error) {
        this.port.release(run);
        throw error;
      }
    }, options.signal);
  }

  /**
   * One part of the bootstrapping keys in wire form, for an upload of the caller's own. The same
   * index always gives the same bytes.
   */
  async keyPart(index: number): Promise<Uint8Array> {
    return this.port.call('keyPart', this.handle, index);
  }

  /** The secret key itself, for safe keeping. Whoever has these bytes can decrypt everything. */
  async exportSecret(): Promise<Uint8Array> {
    return this.port.call('exportSecret', this.handle);
  }

  #mustBeMine(ciphertext: Ciphertext): void {
    keyMismatch(this.id, ciphertext, 'this key set');
  }
}

/** A copy that can be sent away without taking the caller's array along. */
export function copied(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : Uint8Array.from(bytes);
}
