import { defaultSource } from '#source';
import { Engine } from './engine.js';
import type { GateGlue } from './gate-glue.js';
import { GateEngine } from './gates.js';
import type { Glue } from './glue.js';
import { Host, type OpenHost } from './host.js';
import { once, openModule } from './open.js';

/** Opens the module of gates. */
export type OpenGates = (source: unknown) => Promise<GateEngine>;

/** Makes the opener of this thread's instances of an entry point's module. */
export function opener(glue: Glue, artefact: 'client' | 'full', gates: OpenGates): OpenHost {
  const module = { glue, engine: Engine, fallback: () => defaultSource(artefact), option: 'wasm' } as const;
  const open = once((source) => openModule(module, source));
  return async ([wasm, gatesWasm]) => new Host(await open(wasm), () => gates(gatesWasm));
}

/** Makes the opener of this thread's instance of the module of gates. */
export function gateOpener(load: () => GateGlue | Promise<GateGlue>): OpenGates {
  return once(async (source) => {
    const glue = await load();
    return openModule({ glue, engine: GateEngine, fallback: () => defaultSource('gates'), option: 'gatesWasm' }, source);
  });
}
