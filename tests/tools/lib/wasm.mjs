// Checks of an archive of WebAssembly without a C compiler: rust-lld links it, and the module runs.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Stop } from './log.mjs';
import { root } from './paths.mjs';
import { run } from './run.mjs';
import { WASM_FEATURES } from '../../../wasm/build.mjs';

/** Links the named functions, and checks that the module runs. Returns its file. */
export async function linkWasm(archive, names, scratch) {
  const out = join(scratch, 'linked.wasm');
  const exports = [...names, '__heap_base'].map((name) => `--export=${name}`);
  const flags = ['-flavor', 'wasm', '--no-entry', '--allow-undefined', '--gc-sections', '--strip-all', '-O2', '-z', 'stack-size=1048576'];
  await must(await linker(), [...flags, ...exports, archive, '-o', out]);
  await works(await WebAssembly.compile(readFileSync(out)));
  return out;
}

/** Optimises a module as emcc does it. */
export async function optimise(file) {
  await must(process.execPath, [binaryen('wasm-opt'), '-O2', ...WASM_FEATURES, file, '-o', file]);
}

/** The names of a module's imports. */
export async function importsOf(file) {
  return WebAssembly.Module.imports(await WebAssembly.compile(readFileSync(file))).map(({ name }) => name);
}

/** The size of a module in bytes, and whether it uses SIMD128. */
export async function lookAt(file) {
  const listing = `${file}.wat`;
  await must(process.execPath, [binaryen('wasm-dis'), file, ...WASM_FEATURES, '-o', listing]);
  return { bytes: statSync(file).size, simd: /\bv128\.load\b/.test(readFileSync(listing, 'utf8')) };
}

const binaryen = (name) => join(root, 'node_modules', 'binaryen', 'bin', name);

/** Runs a module in a minimal host: memory only grows, and entropy is 7 in every byte. */
async function works(module) {
  const memory = () => instance.exports.memory;
  let top = 0;
  const memalign = (align, size) => {
    top = Math.ceil((top || instance.exports.__heap_base.value) / align) * align + size;
    const missing = top - memory().buffer.byteLength;
    if (missing > 0) memory().grow(Math.ceil(missing / 65_536));
    return top - size;
  };
  const getentropy = (at, length) => {
    new Uint8Array(memory().buffer, at, length).fill(7);
    return 0;
  };
  const env = { memalign, free: () => undefined, getentropy };
  const instance = await WebAssembly.instantiate(module, { env });
  const seed = memalign(16, 32);
  const status = instance.exports.rf_seed(seed);
  const refused = instance.exports.rf_seed(0);
  const drawn = new Uint8Array(memory().buffer, seed, 32);
  if (status !== 0 || refused !== 1 || !drawn.every((byte) => byte === 7)) {
    throw new Error(`rf_seed gave ${status} and ${drawn}, and ${refused} for NULL`);
  }
}

async function linker() {
  const sysroot = (await must('rustc', ['--print', 'sysroot'])).trim();
  const host = /^host: (.*)$/m.exec(await must('rustc', ['-vV']))[1];
  return join(sysroot, 'lib', 'rustlib', host, 'bin', process.platform === 'win32' ? 'rust-lld.exe' : 'rust-lld');
}

async function must(command, args) {
  const { code, output } = await run(command, args);
  if (code !== 0) throw new Stop(`${command} failed (exit code ${code}):\n${output}`);
  return output;
}
