import * as generated from '#wasm-full';
import { defaultSource } from '#source';
import type { Engine } from './engine/engine.js';
import type { Glue } from './engine/glue.js';
import { openEngine } from './engine/open.js';

/** Loads the module into this thread. */
export function openDirect(source: unknown): Promise<Engine> {
  return openEngine(generated as unknown as Glue, source, () => defaultSource('full'));
}
