// The builds, in the order in which they depend on each other.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildC, installed } from './c.mjs';
import { begin } from './log.mjs';
import { demoDist, root, serverBinary, wasmDist } from './paths.mjs';
import { cargoProgress, must } from './run.mjs';
import { fingerprint, isFresh, stamp, unstamp } from './stamp.mjs';
import { ARTEFACTS, buildWasm } from '../../../wasm/build.mjs';

const RUST = ['Cargo.toml', 'Cargo.lock', 'rust-toolchain.toml', '.cargo', 'core'];
const NODE = ['package.json', 'package-lock.json'];

const wasm = {
  title: 'WebAssembly (client, full, gates, conventional, digits, link and integers)',
  inputs: [...RUST, ...NODE, 'wasm/Cargo.toml', 'wasm/build.mjs', 'wasm/builder', 'wasm/src'],
  outputs: ARTEFACTS.flatMap(({ name }) => [`${name}.js`, `${name}_bg.wasm`].map((file) => join(wasmDist, file))),
  make: buildWasm,
};

const ts = {
  title: 'npm package',
  inputs: [...wasm.inputs, 'ts/src', 'ts/scripts', 'ts/package.json', 'ts/tsconfig.json'],
  outputs: [join(root, 'ts', 'dist', 'index.js'), join(root, 'ts', 'dist', 'index.d.ts')],
  make: buildTs,
};

/** Builds the npm package, from nothing but today's WebAssembly modules: all that is in its folder would be published. */
function buildTs(step) {
  const isModule = (file) => ARTEFACTS.some(({ name }) => file.startsWith(`${name}.`) || file.startsWith(`${name}_bg.`));
  keepOnly(join(root, 'ts', 'dist'), (name) => name === basename(wasmDist));
  keepOnly(wasmDist, isModule);
  return must(step, 'npm', ['run', '--silent', 'build', '--workspace', 'ts']);
}

function keepOnly(folder, isKept) {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!isKept(name)) rmSync(join(folder, name), { recursive: true });
  }
}

const demo = {
  title: 'demo page',
  inputs: [...ts.inputs, 'demo'],
  outputs: [join(demoDist, 'index.html')],
  make: (step) => must(step, 'npm', ['run', '--silent', 'build', '--workspace', 'demo']),
};

const server = {
  title: 'server',
  inputs: [...RUST, 'server'],
  outputs: [serverBinary],
  make: (step) =>
    must(step, 'cargo', ['build', '--profile', 'quick', '--package', 'refloat-server'], cargoProgress(step)),
};

const c = {
  title: 'C library, native and for Emscripten',
  inputs: [...RUST, 'wasm/cabi', 'tests/tools/lib/c.mjs'],
  outputs: [join(installed, 'lib', 'librefloat_c.a'), join(installed, 'lib', 'wasm32-emscripten', 'librefloat_c.a')],
  make: buildC,
  // No other build needs it, and fat LTO takes long.
  onlyIfAsked: true,
};

/** Everything that can be built, by name, in order. */
export const builds = { wasm, ts, demo, server, c };

/** The builds that are made if none is named. */
export const usual = Object.keys(builds).filter((name) => !builds[name].onlyIfAsked);

/** Builds what is older than its sources; `names` are keys of `builds`. */
export async function build(names = usual) {
  for (const name of names) {
    const { title, inputs, outputs, make } = builds[name];
    if (isFresh(name, inputs, outputs)) continue;
    const step = begin(`building: ${title}`);
    const before = fingerprint(inputs);
    unstamp(name);
    await make(step);
    stamp(name, before);
    step.done();
  }
}
