/*
 * The WebAssembly modules. A method with a module of its own has a line in the two lists here and in those of the glue (`glue.ts`,
 * `worker-modules.ts`, `direct-modules.ts`).
 */
import type { WasmBytes } from '../globals.js';
import type { Scheme, SetNames } from '../sets.js';

/** Where to take a wasm module from instead of the file beside the package. */
export type WasmSource = string | URL | Response | WasmBytes | WebAssembly.Module;

/**
 * Where the wasm modules are. A thread has one instance of each: with `{ worker: false }` the first `Refloat.load()` that needs a module
 * decides where it comes from.
 */
export interface ModuleSources {
  /**
   * Where the wasm module is: a URL, a `Response`, bytes or a compiled module. By default the file
   * in the package, which Vite and webpack find and emit by themselves; esbuild needs this.
   */
  readonly wasm?: WasmSource | undefined;
  /** Where the module of `gates` is, in the same forms; it is loaded with the first operation on gates. */
  readonly gatesWasm?: WasmSource | undefined;
  /** Where the module of conventional sets is, in the same forms; it is loaded with the first of them. */
  readonly conventionalWasm?: WasmSource | undefined;
  /** Where the module of sets for modular reduction is, in the same forms; it is loaded with the first of them. */
  readonly digitsWasm?: WasmSource | undefined;
  /** Where the module of sets that link numbers to gates is, in the same forms; it is loaded with the first of them. */
  readonly linkWasm?: WasmSource | undefined;
  /** Where the module of exact integers is, in the same forms; it is loaded with the first operation on them. */
  readonly integersWasm?: WasmSource | undefined;
}

/** A module with the sets of a method, and the scheme of its ciphertexts. */
interface MethodModule {
  readonly source: keyof ModuleSources;
  readonly method: keyof SetNames;
  readonly scheme: Scheme;
}

/** The source, method and scheme of each module. */
export const MODULES = {
  main: { source: 'wasm', method: 'ckks-ship', scheme: 'ckks' },
  gates: { source: 'gatesWasm', method: 'cggi', scheme: 'cggi' },
  conventional: { source: 'conventionalWasm', method: 'ckks-conventional', scheme: 'ckks' },
  digits: { source: 'digitsWasm', method: 'ckks-msb', scheme: 'ckks' },
  link: { source: 'linkWasm', method: 'scheme-switching', scheme: 'ckks' },
  integers: { source: 'integersWasm', method: 'bgv', scheme: 'bgv' },
} as const satisfies Readonly<Record<string, MethodModule>>;

/** The wasm modules of a thread: `main`, the entry point's, and those that are loaded when first needed. */
export type ModuleName = keyof typeof MODULES;

/** A module besides that of the entry point. */
export type OtherModule = Exclude<ModuleName, 'main'>;

/** The methods of CKKS whose sets run in the page. */
export type CkksMethod = Extract<(typeof MODULES)[ModuleName], { readonly scheme: 'ckks' }>['method'];

const NAMES = Object.keys(MODULES) as ModuleName[];

/** Every module besides that of the entry point. */
export const OTHER_MODULES = NAMES.filter((name): name is OtherModule => name !== 'main');

/** Those of `OTHER_MODULES` that have CKKS sets. */
export const OTHER_CKKS_MODULES = OTHER_MODULES.filter((name) => MODULES[name].scheme === 'ckks');

/** The options that say where modules are. */
export const SOURCES = NAMES.map((name) => MODULES[name].source);

/** The module with the sets of a method. */
export function moduleOf(method: string): ModuleName {
  return NAMES.find((name) => MODULES[name].method === method) ?? 'main';
}
