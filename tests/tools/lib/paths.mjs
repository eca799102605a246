// Paths in the repository, whatever the current folder is.
import { fileURLToPath } from 'node:url';
import { join, resolve } from 'node:path';

/** The repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Cargo's output folder. */
export const target = resolve(root, process.env.CARGO_TARGET_DIR ?? 'target');

/** The stamps of finished builds; always inside this clone, like the builds that they describe. */
export const stamps = join(root, 'target', 'stamps');

/** The wasm artefacts and their glue, as the npm package carries them. */
export const wasmDist = join(root, 'ts', 'dist', 'wasm');

/** The built demo. */
export const demoDist = join(root, 'demo', 'dist');

const exe = process.platform === 'win32' ? '.exe' : '';

/** The server and command line, built with the profile `quick`. */
export const serverBinary = join(target, 'quick', `refloat${exe}`);

/** The program that runs wasm-bindgen. */
export const builderBinary = join(target, 'tool', `refloat-wasm-builder${exe}`);
