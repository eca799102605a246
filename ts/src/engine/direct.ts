import { defaultSource } from '#source';
import { Engine } from './engine.js';
import type { GateGlue } from './gate-glue.js';
import { GateEngine } from './gates.js';
import type { Glue } from './glue.js';
import { Host, type OpenHost } from './host.js';
import { once, openModule } from './open.js';

/** Opens the module of gates. */
export type OpenGates = (source: unknown) => Promise<GateEngine>;

/** Opens the module of conventional sets. */
export type OpenConventional = (source: unknown) => Promise<Engine>;

/** The modules beside that of an entry point, each opened when it is needed. */
export interface OtherModules {
  readonly gates: OpenGates;
  readonly conventional: OpenConventional;
}

/** Makes the opener of this thread's instances of an entry point's module. */
export function opener(glue: Glue, artefact: 'client' | 'full', others: OtherModules): OpenHost {
  const module = { glue, engine: Engine, fallback: () => defaultSource(artefact), option: 'wasm' } as const;
  const open = once((source) => openModule(module, source));
  return async ({ wasm, gatesWasm, conventionalWasm }) =>
    new Host(await open(wasm), () => others.gates(gatesWasm), () => others.conventional(conventionalWasm));
}

/** Makes the opener of this thread's instance of the module of gates. */
export function gateOpener(load: () => GateGlue | Promise<GateGlue>): OpenGates {
  return once(async (source) => {
    const glue = await load();
    return openModule({ glue, engine: GateEngine, fallback: () => defaultSource('gates'), option: 'gatesWasm' }, source);
  });
}

/** Makes the opener of this thread's instance of the module of conventional sets. */
export function conventionalOpener(load: () => Glue | Promise<Glue>): OpenConventional {
  return once(async (source) => {
    const module = { glue: await load(), engine: Engine, fallback: () => defaultSource('conventional'), option: 'conventionalWasm' } as const;
    return openModule(module, source);
  });
}
