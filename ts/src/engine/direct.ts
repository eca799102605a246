import { defaultSource } from '#source';
import type { Engine } from './engine.js';
import type { Glue } from './glue.js';
import { openEngine } from './open.js';

/**
 * Makes the opener of this thread's engine: there is one, so the first call decides where the module
 * comes from. A failed load is tried again, and a crashed instance is replaced.
 */
export function directOpener(glue: Glue, artefact: 'client' | 'full'): (source: unknown) => Promise<Engine> {
  let shared: Promise<Engine> | undefined;
  return async function open(source) {
    const loading = (shared ??= openEngine(glue, source, () => defaultSource(artefact)));
    try {
      const engine = await loading;
      if (!engine.poisoned) return engine;
    } catch (error) {
      if (shared === loading) shared = undefined;
      throw error;
    }
    if (shared === loading) shared = undefined;
    return open(source);
  };
}
