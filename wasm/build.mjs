// Compiles refloat-wasm into the seven artefacts of the npm package:
//
//   refloat_client   keys, encryption, decryption, the parts of bootstrapping keys
//   refloat_full     the same and bootstrapping itself
//   refloat_gates    gates, look-ups and circuits on encrypted bits
//   refloat_conventional   keys, encryption, decryption and bootstrapping of conventional sets
//   refloat_digits   the same of sets for modular reduction, and readings of digits
//   refloat_link   the same of sets that link numbers to gates, and the order of numbers
//   refloat_integers   the same of exact integers, and arithmetic on them
//
// cargo, then wasm-bindgen (wasm/builder), then wasm-opt (npm binaryen) and a minified glue, into ts/dist/wasm.
import { availableParallelism } from 'node:os';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builderBinary, root, target, wasmDist } from '../tests/tools/lib/paths.mjs';
import { cargoProgress, must } from '../tests/tools/lib/run.mjs';
import { inScratch } from '../tests/tools/lib/scratch.mjs';

/** File names and the cargo feature behind each. */
export const ARTEFACTS = [
  { name: 'refloat_client', feature: 'client' },
  { name: 'refloat_full', feature: 'full' },
  { name: 'refloat_gates', feature: 'gates' },
  { name: 'refloat_conventional', feature: 'conventional' },
  { name: 'refloat_digits', feature: 'digits' },
  { name: 'refloat_link', feature: 'link' },
  { name: 'refloat_integers', feature: 'integers' },
];

/** What rustc may emit for our baseline, and nothing newer. */
export const WASM_FEATURES = [
  '--enable-simd',
  '--enable-bulk-memory',
  '--enable-nontrapping-float-to-int',
  '--enable-sign-ext',
  '--enable-mutable-globals',
  '--enable-reference-types',
  '--enable-multivalue',
];

const WASM = 'wasm32-unknown-unknown';

const WASM_OPT = join(root, 'node_modules', 'binaryen', 'bin', 'wasm-opt');

/**
 * Builds the artefacts; `step` shows the progress. Cargo compiles one crate on one core, so two artefacts are built at once, each in a
 * folder of its own so that they do not lock each other out.
 */
export async function buildWasm(step) {
  await buildBuilder(step);
  await inScratch('wasm', async (scratch) => {
    const left = [...ARTEFACTS];
    const lane = async (folder) => {
      for (let next = left.shift(); next; next = left.shift()) await buildArtefact(step, next, folder, scratch);
    };
    const folders = [target, join(target, 'wasm')].slice(0, availableParallelism());
    await Promise.all(folders.map(lane));
    mkdirSync(wasmDist, { recursive: true });
    for (const file of readdirSync(scratch)) copyFileSync(join(scratch, file), join(wasmDist, file));
  });
}

/** Builds the program that runs wasm-bindgen; cargo does nothing if it is up to date. */
export function buildBuilder(step) {
  return cargo(step, ['--profile=tool', '--package=refloat-wasm-builder']);
}

/**
 * Compiles the part of the crate that `args` selects, and writes module and glue into `scratch` as `name`. `folder` is cargo's target
 * folder, and `file` the path of the module in the target's part of it.
 */
export async function buildModule(step, { name, args, file, folder = target }, scratch) {
  await cargo(step, [...args, '--package=refloat-wasm', `--target=${WASM}`, `--target-dir=${folder}`, '--no-default-features']);
  step.update(`wasm-bindgen ${name}`);
  await must(step, builderBinary, [join(folder, WASM, file), scratch, name]);
}

function cargo(step, args) {
  const { env, onLine } = cargoProgress(step);
  // The flags of .cargo/config.toml are the baseline; these variables would replace them.
  const plain = { ...env, RUSTFLAGS: undefined, CARGO_ENCODED_RUSTFLAGS: undefined };
  return must(step, 'cargo', ['build', ...args], { env: plain, onLine });
}

/** Builds one of the artefacts into `scratch`; `folder` is cargo's target folder. */
async function buildArtefact(step, { name, feature }, folder, scratch) {
  const args = ['--release', `--features=${feature}`];
  await buildModule(step, { name, args, file: join('release', 'refloat_wasm.wasm'), folder }, scratch);
  step.update(`wasm-opt ${name}`);
  const module = join(scratch, `${name}_bg.wasm`);
  await must(step, process.execPath, [WASM_OPT, '-O3', ...WASM_FEATURES, module, '-o', module]);
  step.update(`minify ${name}`);
  const glue = join(scratch, `${name}.js`);
  // Imported here: the packages may have been installed after this file was read.
  const { minify } = await import('vite');
  const { code, errors } = await minify(glue, readFileSync(glue, 'utf8'), { module: true });
  if (errors.length > 0) throw new Error(`${glue} was not minified: ${errors[0].message}`);
  writeFileSync(glue, code);
  // Two names that only the DOM's library has, for programs that read the types without it.
  const types = join(scratch, `${name}.d.ts`);
  writeFileSync(
    types,
    readFileSync(types, 'utf8').replaceAll('RequestInfo', 'string').replaceAll('BufferSource', 'ArrayBuffer | ArrayBufferView'),
  );
}
