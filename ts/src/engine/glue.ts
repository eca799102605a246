import type * as Conventional from '#wasm-conventional';
import type * as Digits from '#wasm-digits';
import type * as Full from '#wasm-full';
import type * as Gates from '#wasm-gates';
import type * as Integers from '#wasm-integers';
import type * as Link from '#wasm-link';
import type { WasmBytes } from '../globals.js';
import type { SetInfo } from '../params.js';

/** What every wasm module of this package has. */
export interface ModuleGlue {
  default(init?: { module_or_path: unknown }): Promise<{ memory: WebAssembly.Memory }>;
  /** Instantiates from bytes or a compiled module without waiting. */
  initSync(init: { module: WasmBytes | WebAssembly.Module }): { memory: WebAssembly.Memory };
  /** Throws the instance away and makes a fresh one of the same module. */
  __wbg_reset_state(): void;
  /** The message of the panic that stopped the instance, if one did. */
  panicMessage(): string | undefined;
  /** BLAKE3 of some bytes. */
  digest(bytes: Uint8Array): Uint8Array;
}

/** The static methods of a class. */
type Statics<C> = Omit<C, 'prototype'>;

/**
 * What all modules with CKKS sets have in common. The full one stands for all of them: the compiler compares
 * the others with it where they are passed as this type.
 */
export interface CkksGlue extends ModuleGlue {
  about(): GlueAbout;
  presets(): GlueSet[];
  SecretKey: Statics<typeof Full.SecretKey>;
  Ciphertext: Statics<typeof Full.Ciphertext>;
  PublicKey: Statics<typeof Full.PublicKey>;
}

/** The modules with CKKS sets taken together; calling a function that a module lacks is refused. */
export type CkksModule = Omit<typeof Full, keyof CkksGlue> &
  CkksGlue &
  Pick<typeof Conventional, 'clamp' | 'reduction'> &
  Pick<typeof Digits, 'DigitRun'> &
  Pick<typeof Link, 'OrderRun'>;

/** The module of gates on encrypted bits. */
export type GateModule = typeof Gates;

/** The module of exact integers. */
export type IntegerModule = typeof Integers;

/** The modules besides that of the entry point, by name. */
export interface OtherGlue {
  readonly gates: GateModule;
  readonly conventional: CkksGlue;
  readonly digits: CkksGlue;
  readonly link: CkksGlue;
  readonly integers: IntegerModule;
}

/** What every exported object has. */
export interface GlueObject {
  free(): void;
}

export type { DigitRun as GlueDigitRun } from '#wasm-digits';
export type {
  ArithmeticKeys as GlueArithmeticKeys,
  BootstrapKeys as GlueBootstrapKeys,
  BootstrapRun as GlueRun,
  Ciphertext as GlueCiphertext,
  Helper as GlueHelper,
  ProgramRun as GlueProgramRun,
  PublicKey as GluePublicKey,
  SecretKey as GlueSecretKey,
} from '#wasm-full';
export type {
  CircuitRun as GlueCircuitRun,
  GateCiphertext as GlueGateCiphertext,
  GateKeys as GlueGateKeys,
  GateRun as GlueGateRun,
  GateSecretKey as GlueGateSecretKey,
} from '#wasm-gates';
export type {
  IntegerArithmeticKeys as GlueIntegerArithmeticKeys,
  IntegerCiphertext as GlueIntegerCiphertext,
  IntegerKeys as GlueIntegerKeys,
  IntegerProgram as GlueIntegerProgram,
  IntegerPublicKey as GlueIntegerPublicKey,
  IntegerRun as GlueIntegerRun,
  IntegerSecretKey as GlueIntegerSecretKey,
} from '#wasm-integers';
export type { OrderRun as GlueOrderRun } from '#wasm-link';

/** Evaluation keys of gates as they lie in memory, for another instance of the module. */
export interface GlueGateKeyRows {
  readonly preset: string;
  readonly keyId: Uint8Array;
  readonly switchRows: Uint16Array | Uint32Array;
  readonly rotationRows: Uint32Array;
}

/** The tasks of a stage that other instances may compute, numbered from 0. */
export interface GlueTasks {
  /** The first task that no step has taken yet. */
  readonly next: number;
  /** How many tasks the next step takes. */
  readonly perStep: number;
  readonly total: number;
  /** Whether helpers need the secret key. */
  readonly secret: boolean;
}

/** A set as the module gives it: the parts of its keys as two lists. */
export interface GlueSet extends Omit<SetInfo, 'keyParts'> {
  /** Labels, one per line. */
  readonly partLabels: string;
  readonly partBytes: Float64Array;
}

/** Version of the core, its kernels and its compilation target. */
export interface GlueAbout {
  readonly version: string;
  readonly backend: string;
  readonly target: string;
}
