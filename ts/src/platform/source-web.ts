import type { Artefact } from '../engine/open.js';

/** In browsers the generated glue finds its own file through `import.meta.url`. */
export function defaultSource(_artefact: Artefact): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return Promise.resolve(undefined);
}
