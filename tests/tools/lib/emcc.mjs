// Emscripten's compiler: found, or installed where somebody asked for it.
import { existsSync } from 'node:fs';
import { aptCommand, aptInstall } from './apt.mjs';
import { onPath } from './browser.mjs';
import { run } from './run.mjs';

/** Debian's packages; without acorn its optimiser ends. */
const PACKAGES = ['emscripten', 'node-acorn'];

/** Where Debian keeps the packages of Node that its emcc uses. */
const NODE_PATH = '/usr/share/nodejs';

/** What every program that is linked with refloat needs. */
export const EMCC_FLAGS = ['-O2', '-msimd128', '-sALLOW_MEMORY_GROWTH=1', '-sMAXIMUM_MEMORY=4GB', '-sTOTAL_STACK=2MB'];

/** How to have it. */
export const EMCC_MISSING = `emcc not found ($EMCC, emcc); REFLOAT_INSTALL_EMCC=1 installs it: ${aptCommand(PACKAGES)}`;

/** A function that compiles: `emcc(args)` gives {code, output}. Undefined where there is no emcc. */
export async function findEmcc() {
  let command = process.env.EMCC ?? onPath(['emcc']);
  if (!command && process.env.REFLOAT_INSTALL_EMCC === '1' && (await aptInstall('Emscripten', PACKAGES))) command = onPath(['emcc']);
  if (!command) return undefined;
  const env = process.env.NODE_PATH === undefined && existsSync(NODE_PATH) ? { NODE_PATH } : {};
  return (args) => run(command, args, { env, limit: 600_000 });
}
