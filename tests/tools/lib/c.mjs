// The C library as it is installed: headers, libraries, and what CMake and pkg-config look for, in one folder.
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { RUST_TESTS, artefacts } from './cargo.mjs';
import { Stop } from './log.mjs';
import { root, target } from './paths.mjs';
import { cargoProgress, must, run } from './run.mjs';

/** Folder of the library's sources. */
export const cabi = join(root, 'wasm', 'cabi');

/** The folder into which `npm run build:c` installs. */
export const installed = join(target, 'c');

const WASM = 'wasm32-unknown-unknown';

/** Builds the libraries for release into `installed`. */
export async function buildC(step) {
  const natively = ['--release', '--package', 'refloat-c', '--lib'];
  const files = await librariesOf(step, ['build', ...natively]);
  await install(installed, files, await wasmArchive(step));
}

/** Takes the libraries that the Rust tests have built, or builds them in the same way. Returns the folder into which they are installed. */
export async function takeTested(step) {
  const files = await librariesOf(step, [...RUST_TESTS, '--no-run']);
  const prefix = join(target, 'c-tested');
  await install(prefix, files, await wasmArchive(step));
  return prefix;
}

/**
 * Builds the archive for Emscripten, together with a crate of the npm package: the crates below the core are then compiled with the
 * features that they have in that package, so that the core is compiled once for both.
 */
async function wasmArchive(step) {
  const { env, onLine } = cargoProgress(step);
  // The flags of .cargo/config.toml are the baseline; these variables would replace them.
  const plain = { ...env, RUSTFLAGS: undefined, CARGO_ENCODED_RUSTFLAGS: undefined };
  const both = ['--package=refloat-c', '--package=refloat-wasm', '--no-default-features', '--features=refloat-wasm/client'];
  await must(step, 'cargo', ['build', '--release', '--lib', `--target=${WASM}`, ...both], { env: plain, onLine });
  return join(target, WASM, 'release', 'librefloat_c.a');
}

/** The libraries of refloat-c that a build makes. */
async function librariesOf(step, args) {
  const [made] = await artefacts(step, args, ({ target, profile }) => target.name === 'refloat_c' && !profile.test);
  const files = made?.filenames.filter((file) => !/\.(rlib|rmeta)$/.test(file)) ?? [];
  if (files.length < 2) throw new Stop(`cargo ${args.join(' ')} built no libraries of refloat-c: ${files}`);
  return files;
}

/** The version of the library. */
export async function version() {
  const { output } = await run('cargo', ['pkgid', '--package', 'refloat-c']);
  const found = /(\d+\.\d+\.\d+\S*)\s*$/.exec(output)?.[1];
  if (found === undefined) throw new Stop(`cargo pkgid gave no version: ${output}`);
  return found;
}

async function install(prefix, libraries, wasm) {
  const lib = join(prefix, 'lib');
  const folders = ['cmake/refloat', 'pkgconfig', 'wasm32-emscripten'].map((name) => join(lib, name));
  rmSync(prefix, { recursive: true, force: true });
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  cpSync(join(cabi, 'include'), join(prefix, 'include'), { recursive: true });
  for (const file of libraries) place(file, lib, basename(file).replace(/-[0-9a-f]{16}(?=\.)/, ''));
  copyFileSync(wasm, join(lib, 'wasm32-emscripten', 'librefloat_c.a'));
  const found = await version();
  const fill = (name, folder) => {
    const text = readFileSync(join(cabi, 'cmake', name), 'utf8').replaceAll('@VERSION@', found);
    writeFileSync(join(lib, folder, name.replace(/\.in$/, '')), text);
  };
  fill('refloatConfig.cmake', 'cmake/refloat');
  fill('refloatConfigVersion.cmake.in', 'cmake/refloat');
  fill('refloat.pc.in', 'pkgconfig');
}

/** Puts a library in its folder; a shared one for Linux gets the name that programs load, and a link with the name that they link. */
function place(file, lib, name) {
  if (!name.endsWith('.so')) return copyFileSync(file, join(lib, name));
  const loaded = /soname,([\w.]+)/.exec(readFileSync(join(cabi, 'build.rs'), 'utf8'))[1];
  copyFileSync(file, join(lib, loaded));
  symlinkSync(loaded, join(lib, name));
}
