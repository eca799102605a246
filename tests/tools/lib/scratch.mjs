// A folder for temporary files.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { target } from './paths.mjs';

/** Calls `work` with an empty folder below cargo's, whose name begins with `name`; the folder is removed afterwards. */
export async function inScratch(name, work) {
  const parent = join(target, 'tmp');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, `${name}-`));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
