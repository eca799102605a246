import { readFile } from 'node:fs/promises';

/** Node cannot `fetch` a file: the module is read from the package. */
export function defaultSource(artefact: 'full' | 'client' | 'gates'): Promise<BufferSource> {
  return readFile(new URL(`../wasm/refloat_${artefact}_bg.wasm`, import.meta.url));
}
