import { readFile } from 'node:fs/promises';
import type { Artefact } from '../engine/open.js';

/** Node cannot `fetch` a file: the module is read from the package. */
export function defaultSource(artefact: Artefact): Promise<Uint8Array<ArrayBuffer>> {
  return readFile(new URL(`../wasm/refloat_${artefact}_bg.wasm`, import.meta.url));
}
