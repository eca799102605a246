import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The built demo. */
export const demoDist = process.env.REFLOAT_DEMO ? resolve(process.env.REFLOAT_DEMO) : join(root, 'demo', 'dist');

/** Where screenshots go; not under version control. */
export const shots = join(root, 'tests', 'e2e', 'shots');

/** The server, or undefined when none has been built. */
export function serverBinary() {
  const target = resolve(root, process.env.CARGO_TARGET_DIR ?? 'target');
  return [process.env.REFLOAT_BIN, join(target, 'quick', 'refloat'), join(target, 'debug', 'refloat')].find((p) => p && existsSync(p));
}
