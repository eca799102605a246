// A folder for what is made on the way.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { target } from './paths.mjs';

/** Does `work` in an empty folder below cargo's, whose name begins with `name`, and which is removed afterwards. */
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
