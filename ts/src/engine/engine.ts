import { RefloatError } from '../errors.js';
import type { Preset, Reduction } from '../params.js';
import type { StageEvent } from '../stages.js';
import { fromHex, toHex } from '../hex.js';
import { Objects, freed, unpacked, type Digested, type Handle, type Memory } from './objects.js';
import type {
  Glue,
  GlueBootstrapKeys,
  GlueCiphertext,
  GlueListener,
  GlueMatrixWorker,
  GlueSecretKey,
  GlueRun,
  GlueShipRun,
  GlueTrackWorker,
  MatrixInput,
} from './glue.js';

export { freed } from './objects.js';
export type { Handle, Memory } from './objects.js';

/** What is known about a secret key without holding it. */
export interface KeyInfo {
  readonly handle: Handle;
  readonly preset: string;
  readonly id: string;
}

/** What is known about a ciphertext without holding it. */
export interface CiphertextInfo {
  readonly handle: Handle;
  readonly preset: string;
  readonly keyId: string;
  readonly level: number;
  readonly logQ: number;
  readonly logScale: number;
  readonly byteLength: number;
}

/** Result of one step of a run. */
export interface StepResult {
  readonly events: StageEvent[];
  readonly finished: boolean;
  /** The track whose turn is next, while tracks are being rotated. */
  readonly nextTrack: number | undefined;
}

/** A track that was computed in another instance. */
export interface TrackResult {
  readonly bytes: Uint8Array;
  readonly counters: Float64Array;
}

/** Version and backend of the wasm module. */
export interface About {
  /** Version of the core. */
  readonly version: string;
  /** Kernels in use, `simd128` in the published artefacts. */
  readonly backend: string;
  /** Compilation target. */
  readonly target: string;
  /** Which artefact is loaded: `client` has no bootstrapping in the page. */
  readonly artefact: 'client' | 'full';
  /** Threads that a bootstrapping whose keys are made on the way may use; see `LoadOptions.threads`. */
  readonly threads: number;
}

/** How every object on the wire begins, in hexadecimal, and where the fingerprint of its set is. */
const MAGIC = '897265666c6f6174';
const FINGERPRINT = [16, 32] as const;

/** The names of what only the full artefact has. */
type FullOnly = { [K in keyof Glue]-?: undefined extends Glue[K] ? K : never }[keyof Glue];

/** Does some of a run's work; its events are stamped with the milliseconds of work before them. */
function timed<T>(running: Running, work: (stamp: GlueListener) => T): { events: StageEvent[]; value: T } {
  const events: StageEvent[] = [];
  const start = performance.now();
  const value = work((event, now) => events.push({ ...event, atMs: running.busyMs + now - start } as StageEvent));
  running.busyMs += performance.now() - start;
  return { events, value };
}

interface Running {
  readonly run: GlueRun;
  readonly boot: Handle;
  readonly secret: Handle | undefined;
  busyMs: number;
}

/**
 * The operations of an instance of the client, the full or the conventional module, on handles: plain values in, plain
 * values out, nothing that points into wasm memory. It is called directly by `refloat/sync` and
 * through messages otherwise.
 */
export class Engine extends Objects<Glue> {
  readonly #runs = new Map<Handle, Running>();
  #presets: Preset[] | undefined;

  describe(): { about: About; presets: Preset[] } {
    return this.guard(() => ({
      about: {
        ...this.glue.about(),
        artefact: this.glue.BootstrapRun ? 'full' : 'client',
        threads: 1,
      },
      presets: this.#described(),
    }));
  }

  /** Whether a set is one of this module's. */
  knows(preset: string): boolean {
    return this.guard(() => this.#described().some(({ name }) => name === preset));
  }

  /** Whether bytes are an object of this package, but of a set that is not one of this module's. */
  isForeign(bytes: Uint8Array): boolean {
    if (toHex(bytes.subarray(0, MAGIC.length / 2)) !== MAGIC || bytes.length < FINGERPRINT[1]) return false;
    const fingerprint = toHex(bytes.subarray(...FINGERPRINT));
    return this.guard(() => this.#described().every((preset) => preset.fingerprint !== fingerprint));
  }

  override has(handle: Handle): boolean {
    return this.#runs.has(handle) || super.has(handle);
  }

  override memory(): Memory {
    const { objects, ...rest } = super.memory();
    return { ...rest, objects: objects + this.#runs.size };
  }

  keygen(preset: string, allowInsecure: boolean, seed: Uint8Array | undefined): KeyInfo {
    return this.guard(() => this.#key(this.glue.SecretKey.generate(preset, allowInsecure, seed)));
  }

  importSecret(bytes: Uint8Array, allowInsecure: boolean): KeyInfo {
    return this.guard(() => this.#key(this.glue.SecretKey.importSecret(bytes, allowInsecure)));
  }

  exportSecret(secret: Handle): Uint8Array {
    return this.guard(() => this.#secret(secret).exportSecret());
  }

  keyPart(secret: Handle, index: number): Uint8Array {
    return this.guard(() => this.#secret(secret).keyPart(index));
  }

  /** A part of the keys and its digest, as a server wants it. */
  keyPiece(secret: Handle, index: number): Digested {
    return this.guard(() => this.digested(this.#secret(secret).keyPart(index)));
  }

  /** The token of the keys at the server of an origin. */
  serverToken(secret: Handle, origin: string): string {
    return this.guard(() => toHex(this.#secret(secret).serverToken(origin)));
  }

  encrypt(
    secret: Handle,
    values: Float64Array,
    mode: string | undefined,
    level: number | undefined,
    seed: Uint8Array | undefined,
  ): CiphertextInfo {
    return this.guard(() => this.#ciphertextInfo(this.#secret(secret).encrypt(values, mode, level, seed)));
  }

  decrypt(secret: Handle, ciphertext: Handle, mode: string | undefined): Float64Array {
    return this.guard(() => this.#secret(secret).decrypt(this.#ciphertext(ciphertext), mode));
  }

  ciphertextToBytes(ciphertext: Handle): Uint8Array {
    return this.guard(() => this.#ciphertext(ciphertext).toBytes());
  }

  ciphertextFromBytes(bytes: Uint8Array): CiphertextInfo {
    return this.guard(() => this.#ciphertextInfo(this.glue.Ciphertext.fromBytes(bytes)));
  }

  bootBegin(preset: string, keyId: string): Handle {
    return this.guard(() => this.keep(this.#full('BootstrapKeys').begin(preset, fromHex(keyId))));
  }

  /** Keys made while a run needs them, and how many bytes they take between. */
  bootGenerated(secret: Handle): { handle: Handle; memoryBytes: number } {
    return this.guard(() => {
      const factory = this.#full('BootstrapKeys');
      if (!factory.generated) {
        throw new RefloatError(
          'INVALID_ARGUMENT',
          "a conventional bootstrapping needs all its keys at once: leave { resident: false } out, or let a server hold them",
        );
      }
      const keys = factory.generated(this.#secret(secret));
      return { handle: this.keep(keys), memoryBytes: keys.memoryBytes() };
    });
  }

  bootPart(boot: Handle, secret: Handle, index: number): void {
    this.guard(() => this.#boot(boot).addFromSecret(this.#secret(secret), index));
  }

  bootAdd(boot: Handle, index: number, bytes: Uint8Array): void {
    this.guard(() => this.#boot(boot).add(index, bytes));
  }

  /** Completes a set and tells how many bytes it takes in memory. */
  bootFinish(boot: Handle): number {
    return this.guard(() => {
      this.#boot(boot).finish();
      return this.#boot(boot).memoryBytes();
    });
  }

  square(ciphertext: Handle, boot: Handle): CiphertextInfo {
    return this.guard(() =>
      this.#ciphertextInfo(this.#full('square')(this.#ciphertext(ciphertext), this.#boot(boot))),
    );
  }

  exhaust(ciphertext: Handle): CiphertextInfo {
    return this.guard(() => this.#ciphertextInfo(this.#full('exhaust')(this.#ciphertext(ciphertext))));
  }

  /**
   * Begins a bootstrapping; with `secret` its ciphertexts are decrypted on the way and compared with
   * `message`, or with what the input decrypts to; `rounds` are those of META-BTS.
   */
  runBegin(
    ciphertext: Handle,
    boot: Handle,
    mode: string | undefined,
    secret: Handle | undefined,
    message: Float64Array | undefined,
    rounds?: number,
  ): Handle {
    return this.guard(() => {
      const run = this.#full('BootstrapRun').begin(this.#ciphertext(ciphertext), mode, message, rounds);
      const handle = this.nextHandle();
      this.#runs.set(handle, { run, boot, secret, busyMs: 0 });
      return handle;
    });
  }

  /** One stage, one track or one level of the tree; `waitedMs` were spent waiting for other workers. */
  runStep(handle: Handle, waitedMs = 0): StepResult {
    return this.guard(() => {
      const running = this.#running(handle);
      running.busyMs += waitedMs;
      const { run, secret } = running;
      const boot = this.#boot(running.boot);
      const { events, value: finished } = timed(running, (stamp) =>
        secret !== undefined ? run.stepInspected(boot, this.#secret(secret), stamp) : run.step(boot, stamp),
      );
      return { events, finished, nextTrack: (run as Partial<GlueShipRun>).nextTrack?.() };
    });
  }

  /** Groups of diagonals that may be multiplied ahead of a run's first step. */
  runGroups(handle: Handle): number {
    return this.guard(() => this.#ship(handle).groupsAhead());
  }

  /** Begins the first stage of a run ahead of its step: events, and the public numbers that other workers need. */
  runMatrix(handle: Handle): { events: StageEvent[]; input: MatrixInput } {
    return this.guard(() => {
      const running = this.#running(handle);
      const [run, secret] = [this.#ship(handle), running.secret];
      const { events, value: input } = timed(running, (stamp) => {
        if (secret !== undefined) run.inspectInput(this.#secret(secret), stamp);
        return run.matrixInput(this.#boot(running.boot), stamp);
      });
      return { events, input };
    });
  }

  /** Multiplies a group of diagonals before the step that needs it. */
  runMultiply(handle: Handle, group: number): void {
    this.guard(() => {
      const running = this.#running(handle);
      timed(running, () => this.#ship(handle).multiplyAhead(group));
    });
  }

  /** Takes in a group that another worker multiplied. */
  runSupplyGroup(handle: Handle, group: number, words: Uint32Array): void {
    this.guard(() => this.#ship(handle).supplyGroup(group, words));
  }

  /** In a worker of the pool: gets ready for groups of a run that is elsewhere. */
  matrixBegin(preset: string, { scale, steps }: MatrixInput): Handle {
    return this.guard(() => this.keep(this.#full('MatrixWorker').begin(preset, scale, steps)));
  }

  /** In a worker of the pool: one group. */
  matrixGroup(handle: Handle, group: number): Uint32Array {
    return this.guard(() => (this.get(handle, 'the matrix of a run') as GlueMatrixWorker).group(group));
  }

  /** The public phases that other workers need for tracks of the run. */
  runPhases(handle: Handle): Float64Array {
    return this.guard(() => {
      const phases = this.#ship(handle).phases();
      if (!phases) throw new RefloatError('INVALID_ARGUMENT', 'the run has no phases yet: step it up to its tracks first');
      return phases;
    });
  }

  /** Computes a track before its turn. */
  runAhead(handle: Handle, track: number): void {
    this.guard(() => {
      const running = this.#running(handle);
      timed(running, () => this.#ship(handle).rotateAhead(track, this.#boot(running.boot)));
    });
  }

  /** Takes in a track that another worker computed. */
  runSupply(handle: Handle, track: number, { bytes, counters }: TrackResult): void {
    this.guard(() => this.#ship(handle).supplyTrack(track, bytes, counters));
  }

  /**
   * The secret key on its way into another worker of this instance, for `tracksBegin`. Only the pool
   * asks; the user's way is `exportSecret`.
   */
  secretForPool(secret: Handle): Uint8Array {
    return this.guard(() => this.#secret(secret).exportSecret());
  }

  /** In a worker of the pool: makes what tracks of a set need whatever the run. */
  tracksPrepare(preset: string): void {
    this.guard(() => this.#full('TrackWorker').prepare(preset));
  }

  /** In a worker of the pool: gets ready for tracks of a run that is elsewhere; wipes the bytes. */
  tracksBegin(secret: Uint8Array, mode: string | undefined, phases: Float64Array): Handle {
    return this.guard(() => {
      // Whoever made the key has said the word, if it is a toy.
      const key = this.glue.SecretKey.importSecret(secret, true);
      secret.fill(0);
      try {
        return this.keep(this.#full('TrackWorker').begin(key, mode, phases));
      } finally {
        key.free();
      }
    });
  }

  /** In a worker of the pool: one track. */
  tracksCompute(handle: Handle, index: number): TrackResult {
    return this.guard(() => {
      const track = (this.get(handle, 'the tracks of a run') as GlueTrackWorker).track(index);
      try {
        return { bytes: track.bytes(), counters: track.counters() };
      } finally {
        track.free();
      }
    });
  }

  /** Takes the result out and frees the run. */
  runFinish(handle: Handle): CiphertextInfo {
    return this.guard(() => {
      const result = this.#ciphertextInfo(this.#running(handle).run.finish());
      this.free(handle);
      return result;
    });
  }

  /** The polynomial of a conventional set, and its values at some points. */
  reduction(preset: string, degree: number | undefined, points: Float64Array): Reduction {
    return this.guard(() => {
      if (!this.glue.reduction) {
        throw new RefloatError(
          'INVALID_ARGUMENT',
          `${preset} bootstraps without a polynomial: name a set whose method is ckks-conventional`,
        );
      }
      return this.glue.reduction(preset, degree, points);
    });
  }

  /** Compares the vector kernels with the scalar ones; returns a sentence or throws. */
  kernelSelfCheck(seed: number): string {
    return this.guard(() => this.#full('kernelSelfCheck')(seed));
  }

  /** Frees an object; twice is once. */
  override free(handle: Handle): void {
    const run = this.#runs.get(handle)?.run;
    this.#runs.delete(handle);
    if (run) this.dispose(run);
    else super.free(handle);
  }

  /** What only the full artefact has. */
  #full<K extends FullOnly>(name: K): NonNullable<Glue[K]> {
    const item = this.glue[name];
    if (!item) {
      throw new RefloatError(
        'INVALID_ARGUMENT',
        "this is the client artefact, which cannot bootstrap in the page: import from 'refloat' instead of 'refloat/client', or send the ciphertext to a server",
      );
    }
    return item;
  }

  #described(): Preset[] {
    return (this.#presets ??= this.glue.presets().map((preset) => unpacked(preset) as Preset));
  }

  /** A run of SHIP: only those have tracks. */
  #ship(handle: Handle): GlueShipRun {
    return this.#running(handle).run as GlueShipRun;
  }

  #key(key: GlueSecretKey): KeyInfo {
    return { handle: this.keep(key), preset: key.preset(), id: toHex(key.keyId()) };
  }

  #ciphertextInfo(ct: GlueCiphertext): CiphertextInfo {
    return {
      handle: this.keep(ct),
      preset: ct.preset(),
      keyId: toHex(ct.keyId()),
      level: ct.level(),
      logQ: ct.logQ(),
      logScale: ct.logScale(),
      byteLength: ct.byteLength(),
    };
  }

  #secret(handle: Handle): GlueSecretKey {
    return this.get(handle, 'the key set') as GlueSecretKey;
  }

  #ciphertext(handle: Handle): GlueCiphertext {
    return this.get(handle, 'the ciphertext') as GlueCiphertext;
  }

  #boot(handle: Handle): GlueBootstrapKeys {
    return this.get(handle, 'the bootstrapping keys') as GlueBootstrapKeys;
  }

  #running(handle: Handle): Running {
    const running = this.#runs.get(handle);
    if (!running) throw freed('the run');
    return running;
  }
}
