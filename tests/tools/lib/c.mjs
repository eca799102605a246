// The C library as it is installed: headers, libraries, and what CMake and pkg-config look for, in one folder.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Stop } from './log.mjs';
import { root, target } from './paths.mjs';
import { cargoProgress, must, run } from './run.mjs';

/** Its sources. */
export const cabi = join(root, 'wasm', 'cabi');

/** Where `npm run build:c` leaves it. */
export const installed = join(target, 'c');

const WASM = 'wasm32-unknown-unknown';

/** The workspace without the build tool, which has no tests and a large library behind it. */
export const CRATES = ['--workspace', '--exclude', 'refloat-wasm-builder'];

/** What the Rust tests build. */
export const RUST_TESTS = ['test', ...CRATES, '--lib', '--bins', '--tests'];

/** Builds the libraries for release into `installed`. */
export async function buildC(step) {
  const natively = ['--release', '--package', 'refloat-c', '--lib'];
  const files = await artefacts(step, ['build', ...natively]);
  await install(installed, files, await wasmArchive(step));
}

/** Takes the libraries that the Rust tests have built, or builds what they build; gives their folder. */
export async function takeTested(step) {
  const files = await artefacts(step, [...RUST_TESTS, '--no-run']);
  const prefix = join(target, 'c-tested');
  await install(prefix, files, await wasmArchive(step));
  return prefix;
}

/** The archive for Emscripten, of the core that the npm package has, too. */
async function wasmArchive(step) {
  const { env, onLine } = cargoProgress(step);
  // The flags of .cargo/config.toml are the baseline; these variables would replace them.
  const plain = { ...env, RUSTFLAGS: undefined, CARGO_ENCODED_RUSTFLAGS: undefined };
  const args = ['rustc', '--release', '--package', 'refloat-c', '--lib', '--target', WASM, '--crate-type', 'staticlib'];
  await must(step, 'cargo', args, { env: plain, onLine });
  return join(target, WASM, 'release', 'librefloat_c.a');
}

/** Runs cargo, and gives the files of refloat-c that it names. */
async function artefacts(step, args) {
  const { env, onLine } = cargoProgress(step);
  let files = [];
  await must(step, 'cargo', [...args, '--message-format=json-render-diagnostics'], {
    env,
    onLine(line) {
      if (!line.startsWith('{')) return onLine(line);
      const message = JSON.parse(line);
      const ours = message.reason === 'compiler-artifact' && message.target.name === 'refloat_c' && !message.profile.test;
      if (ours) files = message.filenames;
      return true;
    },
  });
  files = files.filter((file) => !/\.(rlib|rmeta)$/.test(file));
  if (files.length < 2) throw new Stop(`cargo ${args.join(' ')} built no libraries of refloat-c: ${files}`);
  return files;
}

async function install(prefix, libraries, wasm) {
  const { output } = await run('cargo', ['pkgid', '--package', 'refloat-c']);
  const version = /(\d+\.\d+\.\d+\S*)\s*$/.exec(output)?.[1];
  if (version === undefined) throw new Stop(`cargo pkgid gave no version: ${output}`);
  const lib = join(prefix, 'lib');
  const folders = ['cmake/refloat', 'pkgconfig', 'wasm32-emscripten'].map((name) => join(lib, name));
  rmSync(prefix, { recursive: true, force: true });
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  cpSync(join(cabi, 'include'), join(prefix, 'include'), { recursive: true });
  for (const file of libraries) copyFileSync(file, join(lib, basename(file).replace(/-[0-9a-f]{16}(?=\.)/, '')));
  if (existsSync(wasm)) copyFileSync(wasm, join(lib, 'wasm32-emscripten', 'librefloat_c.a'));
  const fill = (name, folder) => {
    const text = readFileSync(join(cabi, 'cmake', name), 'utf8').replaceAll('@VERSION@', version);
    writeFileSync(join(lib, folder, name.replace(/\.in$/, '')), text);
  };
  fill('refloatConfig.cmake', 'cmake/refloat');
  fill('refloatConfigVersion.cmake.in', 'cmake/refloat');
  fill('refloat.pc.in', 'pkgconfig');
}
