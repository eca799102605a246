import { defaultSource } from '#source';
import { Engine } from './engine.js';
import type { CkksGlue, ModuleGlue, OtherGlue } from './glue.js';
import { Host, type OpenHost } from './host.js';
import { MODULES, OTHER_MODULES, type ModuleName, type OtherModule } from './modules.js';
import { requireSimd } from './simd.js';
import { moduleFailed } from './start-failures.js';

/** The wasm modules of the package. */
export type Artefact = 'client' | 'full' | OtherModule;

type Open = (source: unknown) => Promise<Engine>;

/** The modules that are loaded when needed, one instance of each, shared by the entry points of a thread. */
export type OtherModules = Readonly<Record<OtherModule, Open>>;

/** Makes those modules from their glue, or from functions that fetch the glue when it is needed. */
export function otherModules(glue: {
  readonly [M in OtherModule]: () => OtherGlue[M] | Promise<OtherGlue[M]>;
}): OtherModules {
  const open = (name: OtherModule): Open => once(async (source) => openModule(name, name, await glue[name](), source));
  return Object.fromEntries(OTHER_MODULES.map((name) => [name, open(name)])) as Record<OtherModule, Open>;
}

/** Makes the opener of this thread's instances for an entry point with a module of its own. */
export function opener(artefact: 'client' | 'full', glue: CkksGlue, others: OtherModules): OpenHost {
  const open: Readonly<Record<ModuleName, Open>> = { ...others, main: once((source) => openModule('main', artefact, glue, source)) };
  return async (sources) => {
    const host = new Host((module) => open[module](sources[MODULES[module].source]));
    await host.load('main');
    return host;
  };
}

/**
 * Instantiates a module and makes an engine of it.
 *
 * @param source where the wasm is; `undefined` for the file beside the glue
 */
export async function openModule(name: ModuleName, artefact: Artefact, glue: ModuleGlue, source: unknown): Promise<Engine> {
  requireSimd();
  try {
    const bytes = source === undefined ? await defaultSource(artefact) : undefined;
    const compiled = bytes === undefined ? undefined : await WebAssembly.compile(bytes);
    // The glue holds one instance. If there was one already, it is replaced, and everything in it is gone.
    const before = opened.get(glue);
    before?.replaced();
    if (before) glue.__wbg_reset_state();
    // If given a promise, the glue checks for a Response, for which Node loads its whole fetch.
    const { memory } = compiled
      ? glue.initSync({ module: compiled })
      : await (source === undefined ? glue.default() : glue.default({ module_or_path: source }));
    const engine = new Engine(name, glue, memory);
    opened.set(glue, engine);
    return engine;
  } catch (cause) {
    throw moduleFailed(cause, { option: MODULES[name].source, file: `refloat/refloat_${artefact}.wasm`, source });
  }
}

/** The current owner of a glue's instance. */
const opened = new WeakMap<ModuleGlue, Engine>();

/**
 * One instance for this thread: the first call decides where the module comes from. A failed load is
 * tried again, and a crashed instance is replaced.
 */
export function once(open: Open): Open {
  let shared: Promise<Engine> | undefined;
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
