// Emscripten's compiler, which is looked for, and installed if asked for.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { aptCommand, aptInstall } from './apt.mjs';
import { onPath } from './browser.mjs';
import { run } from './run.mjs';

/** Debian's packages; without acorn, Emscripten's optimiser fails. */
const PACKAGES = ['emscripten', 'node-acorn'];

/** Where Debian keeps the packages of Node that its emcc uses. */
const NODE_PATH = '/usr/share/nodejs';

/** Flags for every program that is linked with refloat. */
export const EMCC_FLAGS = ['-O2', '-msimd128', '-sALLOW_MEMORY_GROWTH=1', '-sMAXIMUM_MEMORY=4GB', '-sTOTAL_STACK=2MB'];

/** Why there is no Emscripten, and how to have it. */
export function emccMissing() {
  if (asked()) return `emcc not found ($EMCC, emcc), and it cannot be installed from here: ${aptCommand(PACKAGES)}, as root`;
  return `emcc not found ($EMCC, emcc); REFLOAT_INSTALL_EMCC=1 installs it: ${aptCommand(PACKAGES)}`;
}

const asked = () => process.env.REFLOAT_INSTALL_EMCC === '1';

let finding;

/**
 * Emscripten, looked for once: `compile(args)` runs emcc, and `configure(args)`, which may be absent, runs CMake through emcmake. Both
 * return {code, output}; `env` is their environment. Undefined if there is no Emscripten.
 */
export const findEmscripten = () => (finding ??= find());

async function find() {
  let command = process.env.EMCC ?? onPath(['emcc']);
  if (!command && asked() && (await aptInstall('Emscripten', PACKAGES))) command = onPath(['emcc']);
  if (!command) return undefined;
  const env = process.env.NODE_PATH === undefined && existsSync(NODE_PATH) ? { NODE_PATH } : {};
  const beside = join(dirname(command), 'emcmake');
  const emcmake = existsSync(beside) ? beside : onPath(['emcmake']);
  const options = { env, limit: 600_000 };
  return {
    env,
    compile: (args) => run(command, args, options),
    configure: emcmake && ((args) => run(emcmake, ['cmake', ...args], options)),
  };
}
