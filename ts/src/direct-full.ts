import * as generated from '#wasm-full';
import { defaultSource } from '#source';
import type { Engine } from './engine/engine.js';
import type { Glue } from './engine/glue.js';
import { openEngine } from './engine/open.js';

const glue: Glue = generated;
let shared: Promise<Engine> | undefined;

/**
 * The engine of this thread: there is one, so the first call decides where the module comes from.
 * A failed load is tried again, and a crashed instance is replaced.
 */
export async function openDirect(source: unknown): Promise<Engine> {
  const loading = (shared ??= openEngine(glue, source, () => defaultSource('full')));
  try {
    const engine = await loading;
    if (!engine.poisoned) return engine;
  } catch (error) {
    if (shared === loading) shared = undefined;
    throw error;
  }
  if (shared === loading) shared = undefined;
  return openDirect(source);
}
