import type { Engine, KeyInfo } from '../engine/engine.js';
import { keyMismatch } from '../mismatch.js';
import { oracle, type BootstrapChoices, type EncryptChoices } from '../options.js';
import type { Preset } from '../params.js';
import type { KeyProgress, StageEvent } from '../stages.js';
import { Ciphertext } from './ciphertext.js';
import { SyncResource } from './resource.js';
import { SyncRun } from './run.js';

export type { BootstrapChoices as BootstrapOptions, EncryptChoices as EncryptOptions };

/** A secret key and what can be done with it; see `KeySet` of the main entry. */
export class KeySet extends SyncResource<Engine> {
  /** Hexadecimal id, the same for everything made with this key. */
  readonly id: string;
  /** The parameter set. */
  readonly params: Preset;

  /** @internal */
  constructor(engine: Engine, info: KeyInfo, params: Preset) {
    super(engine, info.handle, 'the key set');
    this.id = info.id;
    this.params = params;
  }

  /** Encrypts numbers; the input is copied. */
  encrypt(values: ArrayLike<number>, options: EncryptChoices = {}): Ciphertext {
    const data = Float64Array.from(values);
    const mode = options.mode ?? this.params.mode;
    const info = this.engine.encrypt(this.handle, data, mode, options.level, options.seed);
    return new Ciphertext(this.engine, info, mode);
  }

  /** Decrypts into a fresh array, for the owner of this key alone. */
  decrypt(ciphertext: Ciphertext): Float64Array {
    keyMismatch(this.id, ciphertext, 'this key set');
    return this.engine.decrypt(this.handle, ciphertext.handleIn(this.engine), ciphertext.mode);
  }

  /** Makes the bootstrapping keys, a part a step; see `KeySet.bootstrapKeys` of the main entry. */
  bootstrapKeys(options: { readonly resident?: boolean } = {}): SyncRun<BootstrapKeys, KeyProgress> {
    const { engine, handle, params, id } = this;
    if (options.resident === false) {
      return new SyncRun({
        step: () => true,
        finish: () => {
          const made = engine.bootGenerated(handle);
          return new BootstrapKeys(engine, made.handle, params, id, made.memoryBytes);
        },
        abandon: () => undefined,
      });
    }
    const parts = params.keyParts;
    const boot = engine.bootBegin(params.name, id);
    let done = 0;
    let bytes = 0;
    return new SyncRun({
      step(emit) {
        const part = parts[done];
        if (part) {
          engine.bootPart(boot, handle, part.index);
          done += 1;
          bytes += part.bytes;
          const totalBytes = params.keyBytes;
          emit({ kind: 'progress', done, total: parts.length, bytes, totalBytes, label: part.label });
        }
        return done === parts.length;
      },
      finish: () => new BootstrapKeys(engine, boot, params, id, engine.bootFinish(boot)),
      abandon: () => engine.free(boot),
    });
  }

  /** Bootstraps, a stage, track or tree level a step. */
  bootstrap(ciphertext: Ciphertext, keys: BootstrapKeys, options: BootstrapChoices = {}): SyncRun<Ciphertext, StageEvent> {
    keyMismatch(this.id, ciphertext, 'this key set');
    keys.mustMatch(ciphertext);
    const { engine } = this;
    const secret = options.inspect ? this.handle : undefined;
    const { mode } = ciphertext;
    const [ct, boot, message] = [ciphertext.handleIn(engine), keys.handleIn(engine), oracle(options.inspect)];
    const run = engine.runBegin(ct, boot, mode, secret, message, options.rounds);
    return new SyncRun({
      step(emit) {
        const { events, finished } = engine.runStep(run);
        for (const event of events) emit(event);
        return finished;
      },
      finish: () => new Ciphertext(engine, engine.runFinish(run), mode),
      abandon: () => engine.free(run),
    });
  }

  /** One part of the bootstrapping keys in wire form. */
  keyPart(index: number): Uint8Array {
    return this.engine.keyPart(this.handle, index);
  }

  /** The secret key itself, for safe keeping. Whoever has these bytes can decrypt everything. */
  exportSecret(): Uint8Array {
    return this.engine.exportSecret(this.handle);
  }
}

/** The public keys a bootstrapping needs. */
export class BootstrapKeys extends SyncResource<Engine> {
  /** The parameter set. */
  readonly params: Preset;
  /** Hexadecimal id of the secret key they belong to. */
  readonly keyId: string;
  /** Bytes they take in memory. */
  readonly memoryBytes: number;

  /** @internal */
  constructor(engine: Engine, handle: number, params: Preset, keyId: string, memoryBytes: number) {
    super(engine, handle, 'the bootstrapping keys');
    this.params = params;
    this.keyId = keyId;
    this.memoryBytes = memoryBytes;
  }

  /** @internal */
  mustMatch(ciphertext: Ciphertext): void {
    keyMismatch(this.keyId, ciphertext, 'these bootstrapping keys');
  }
}
