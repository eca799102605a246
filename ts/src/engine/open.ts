import { RefloatError } from '../errors.js';
import { Engine } from './engine.js';
import type { Glue } from './glue.js';
import { requireSimd } from './simd.js';

/** Where to take the wasm module from instead of the file beside the package. */
export type WasmSource = string | URL | Response | BufferSource | WebAssembly.Module;

/**
 * Instantiates the module and makes an engine of it.
 *
 * @param glue the generated module
 * @param source where the wasm is; `undefined` for the file beside the glue
 * @param fallback the bytes of the default source where `fetch` of a file does not work (Node)
 */
export async function openEngine(
  glue: Glue,
  source: unknown,
  fallback: () => Promise<BufferSource | undefined>,
): Promise<Engine> {
  requireSimd();
  try {
    const bytes = source === undefined ? await fallback() : undefined;
    const module = bytes === undefined ? undefined : await WebAssembly.compile(bytes);
    // The glue holds one instance; where there was one it is replaced, and all that was in it is gone.
    if (opened.has(glue)) glue.__wbg_reset_state();
    // Asked for a promise, the glue looks whether it was given a Response, for which Node loads its whole fetch.
    const { memory } = module
      ? glue.initSync({ module })
      : await (source === undefined ? glue.default() : glue.default({ module_or_path: source }));
    opened.add(glue);
    return new Engine(glue, memory);
  } catch (cause) {
    throw loadError(cause);
  }
}

const opened = new WeakSet<Glue>();

function loadError(cause: unknown): RefloatError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RefloatError(
    cause instanceof WebAssembly.CompileError || cause instanceof WebAssembly.LinkError ? 'BAD_BYTES' : 'NETWORK',
    `the wasm module could not be loaded (${reason}): check that the .wasm file is served beside the package's JavaScript, or pass { wasm } to Refloat.load()`,
    { cause },
  );
}
