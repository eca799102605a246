import type { Reduction, SetInfo } from '../params.js';

/** What every wasm module of this package has. */
export interface ModuleGlue {
  default(init?: { module_or_path: unknown }): Promise<{ memory: WebAssembly.Memory }>;
  /** Instantiates from bytes or a compiled module without waiting. */
  initSync(init: { module: BufferSource | WebAssembly.Module }): { memory: WebAssembly.Memory };
  /** Throws the instance away and makes a fresh one of the same module. */
  __wbg_reset_state(): void;
  /** The message of the panic that stopped the instance, if one did. */
  panicMessage(): string | undefined;
  /** BLAKE3 of some bytes. */
  digest(bytes: Uint8Array): Uint8Array;
}

/**
 * The surface of the client, the full and the conventional module as this package uses it: what wasm-bindgen generates,
 * typed by hand. The compiler compares the two where the generated module is passed for one of these.
 */
export interface Glue extends ModuleGlue {
  about(): GlueAbout;
  presets(): GlueSet[];
  SecretKey: {
    generate(preset: string, allowInsecure: boolean, seed?: Uint8Array): GlueSecretKey;
    importSecret(bytes: Uint8Array, allowInsecure: boolean): GlueSecretKey;
  };
  Ciphertext: {
    fromBytes(bytes: Uint8Array): GlueCiphertext;
  };
  /** Not in the client artefact. */
  BootstrapKeys?: {
    begin(preset: string, keyId: Uint8Array): GlueBootstrapKeys;
    /** Keys made track by track from the secret key while a run needs them. */
    generated?(secret: GlueSecretKey): GlueBootstrapKeys;
  };
  /** Not in the client artefact; in the full one its runs are a {@link GlueShipRun}. */
  BootstrapRun?: {
    begin(ciphertext: GlueCiphertext, mode?: string, message?: Float64Array, rounds?: number): GlueRun;
  };
  /** Only in the full artefact. */
  TrackWorker?: {
    prepare(preset: string): void;
    begin(secret: GlueSecretKey, mode: string | undefined, phases: Float64Array): GlueTrackWorker;
  };
  /** Only in the full artefact. */
  MatrixWorker?: {
    begin(preset: string, scale: Float64Array, steps: Uint32Array): GlueMatrixWorker;
  };
  /** Not in the client artefact. */
  square?(ciphertext: GlueCiphertext, keys: GlueBootstrapKeys): GlueCiphertext;
  /** Only in the conventional artefact. */
  reduction?(preset: string, degree: number | undefined, points: Float64Array): Reduction;
  /** Not in the client artefact. */
  exhaust?(ciphertext: GlueCiphertext): GlueCiphertext;
  /** Only in the full artefact. */
  kernelSelfCheck?(seed: number): string;
}

/** A set on its way out: the parts of its keys as two lists. */
export interface GlueSet extends Omit<SetInfo, 'keyParts'> {
  /** Labels, one a line. */
  readonly partLabels: string;
  readonly partBytes: Float64Array;
}

export interface GlueAbout {
  version: string;
  backend: string;
  target: string;
}

/** What every exported object has. */
export interface GlueObject {
  free(): void;
}

export interface GlueSecretKey extends GlueObject {
  preset(): string;
  keyId(): Uint8Array;
  encrypt(values: Float64Array, mode?: string, level?: number, seed?: Uint8Array): GlueCiphertext;
  decrypt(ciphertext: GlueCiphertext, mode?: string): Float64Array;
  keyPart(index: number): Uint8Array;
  exportSecret(): Uint8Array;
  serverToken(origin: string): Uint8Array;
}

export interface GlueCiphertext extends GlueObject {
  preset(): string;
  keyId(): Uint8Array;
  level(): number;
  logQ(): number;
  logScale(): number;
  byteLength(): number;
  toBytes(): Uint8Array;
}

export interface GlueBootstrapKeys extends GlueObject {
  /** Generates part `index` from the secret key and takes it in. */
  addFromSecret(secret: GlueSecretKey, index: number): void;
  /** Takes in a part that was made elsewhere. */
  add(index: number, bytes: Uint8Array): void;
  /** Call once all parts are in. */
  finish(): void;
  memoryBytes(): number;
}

/** Called after each step with its events and `performance.now()` of each. */
export type GlueListener = (event: object, now: number) => void;

export interface GlueRun extends GlueObject {
  /** One stage, track or tree level; `true` when it was the last. */
  step(keys: GlueBootstrapKeys, onEvent: GlueListener): boolean;
  /** As `step`, and reports what the ciphertexts inside hold. */
  stepInspected(keys: GlueBootstrapKeys, secret: GlueSecretKey, onEvent: GlueListener): boolean;
  finish(): GlueCiphertext;
}

export interface GlueShipRun extends GlueRun {
  /** Shows the input to an inspected run that does not begin with `stepInspected`. */
  inspectInput(secret: GlueSecretKey, onEvent: GlueListener): void;
  /** Groups of diagonals that may be multiplied ahead of the first step; 0 later. */
  groupsAhead(): number;
  /** Begins the first stage ahead of its step: what a `MatrixWorker` of this run needs to know, public. */
  matrixInput(keys: GlueBootstrapKeys, onEvent: GlueListener): MatrixInput;
  /** Multiplies a group of diagonals before the step that needs it. */
  multiplyAhead(group: number): void;
  /** Takes in a group from a `MatrixWorker`. */
  supplyGroup(group: number, words: Uint32Array): void;
  /** The track whose turn is next, while tracks are being rotated. */
  nextTrack(): number | undefined;
  /** What a `TrackWorker` of this run needs to know, once it is there: public. */
  phases(): Float64Array | undefined;
  /** Computes a track before its turn. */
  rotateAhead(track: number, keys: GlueBootstrapKeys): void;
  /** Takes in a track from a `TrackWorker`. */
  supplyTrack(track: number, bytes: Uint8Array, counters: Float64Array): void;
}

/** What a `MatrixWorker` needs of a run. */
export interface MatrixInput {
  /** The scale of its ciphertext, in two parts. */
  readonly scale: Float64Array;
  /** Its baby steps. */
  readonly steps: Uint32Array;
}

/** Multiplies groups of diagonals for a run that is in another instance. */
export interface GlueMatrixWorker extends GlueObject {
  group(group: number): Uint32Array;
}

/** Computes tracks of a run that is in another instance. */
export interface GlueTrackWorker extends GlueObject {
  track(index: number): GlueTrack;
}

export interface GlueTrack extends GlueObject {
  bytes(): Uint8Array;
  counters(): Float64Array;
}
