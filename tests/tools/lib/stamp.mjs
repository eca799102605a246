// Skips a build whose inputs are, byte for byte, those of the last time.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { root, stamps } from './paths.mjs';

/** Folders that are made, never written by hand. */
const GENERATED = new Set(['node_modules', 'dist', 'target', '.git']);

/** Every file below `path` (from the repository, or absolute), sorted; `path` may be a file, or absent. */
function files(path) {
  const full = resolve(root, path);
  if (!existsSync(full)) return [];
  if (!statSync(full).isDirectory()) return [path];
  return readdirSync(full, { withFileTypes: true })
    .filter((entry) => !GENERATED.has(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => files(join(path, entry.name)));
}

/** A hash over names and contents of all files. */
export function fingerprint(inputs) {
  const hash = createHash('sha256');
  for (const name of inputs.flatMap(files)) {
    const bytes = readFileSync(resolve(root, name));
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

/** Whether `outputs` (absolute paths) exist and were made from exactly these inputs. */
export function isFresh(name, inputs, outputs) {
  const stamp = join(stamps, name);
  if (!existsSync(stamp) || !outputs.every((output) => existsSync(output))) return false;
  return readFileSync(stamp, 'utf8') === fingerprint(inputs);
}

/** Removes the stamp, so that an interrupted build does not count as finished. */
export function unstamp(name) {
  rmSync(join(stamps, name), { force: true });
}

/** Remembers the inputs of a build that has just succeeded; `before` is their hash when it began. */
export function stamp(name, before) {
  const path = join(stamps, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, before);
}
