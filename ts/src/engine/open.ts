import { RefloatError } from '../errors.js';
import type { ModuleGlue } from './glue.js';
import type { Objects } from './objects.js';
import { requireSimd } from './simd.js';

/** Where to take a wasm module from instead of the file beside the package. */
export type WasmSource = string | URL | Response | BufferSource | WebAssembly.Module;

/** The wasm modules of the package. */
export type Artefact = 'client' | 'full' | 'gates' | 'conventional';

/** A module of the package. */
export interface Module<G extends ModuleGlue, E extends Objects> {
  /** Its generated glue. */
  readonly glue: G;
  /** What is made of an instance. */
  readonly engine: new (glue: G, memory: WebAssembly.Memory) => E;
  /** The bytes of the default source where `fetch` of a file does not work (Node). */
  readonly fallback: () => Promise<BufferSource | undefined>;
  /** The option of `Refloat.load()` that names another source. */
  readonly option: 'wasm' | 'gatesWasm' | 'conventionalWasm';
}

/**
 * Instantiates a module and makes an engine of it.
 *
 * @param source where the wasm is; `undefined` for the file beside the glue
 */
export async function openModule<G extends ModuleGlue, E extends Objects>(
  module: Module<G, E>,
  source: unknown,
): Promise<E> {
  requireSimd();
  const { glue } = module;
  try {
    const bytes = source === undefined ? await module.fallback() : undefined;
    const compiled = bytes === undefined ? undefined : await WebAssembly.compile(bytes);
    // The glue holds one instance; where there was one it is replaced, and all that was in it is gone.
    const before = opened.get(glue);
    before?.replaced();
    if (before) glue.__wbg_reset_state();
    // Asked for a promise, the glue looks whether it was given a Response, for which Node loads its whole fetch.
    const { memory } = compiled
      ? glue.initSync({ module: compiled })
      : await (source === undefined ? glue.default() : glue.default({ module_or_path: source }));
    const engine = new module.engine(glue, memory);
    opened.set(glue, engine);
    return engine;
  } catch (cause) {
    throw loadError(cause, module.option);
  }
}

/** Who has the instance of a glue. */
const opened = new WeakMap<ModuleGlue, Objects>();

/**
 * One instance for this thread: the first call decides where the module comes from. A failed load is
 * tried again, and a crashed instance is replaced.
 */
export function once<E extends Objects>(open: (source: unknown) => Promise<E>): (source: unknown) => Promise<E> {
  let shared: Promise<E> | undefined;
  return async function again(source) {
    const loading = (shared ??= open(source));
    try {
      const engine = await loading;
      if (!engine.poisoned) return engine;
    } catch (error) {
      if (shared === loading) shared = undefined;
      throw error;
    }
    if (shared === loading) shared = undefined;
    return again(source);
  };
}

function loadError(cause: unknown, option: string): RefloatError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RefloatError(
    cause instanceof WebAssembly.CompileError || cause instanceof WebAssembly.LinkError ? 'BAD_BYTES' : 'NETWORK',
    `the wasm module could not be loaded (${reason}): check that the .wasm file is served beside the package's JavaScript, or pass { ${option} } to Refloat.load()`,
    { cause },
  );
}
