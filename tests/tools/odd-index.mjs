// Bootstraps in rings of odd index, which no module of the npm package has, give the same bits in WebAssembly as natively: compiles
// wasm/examples/odd_index.rs, runs it, and compares the digests with those of tests/vectors/bgv.json.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { begin, main, say } from './lib/log.mjs';
import { builderBinary, root, target } from './lib/paths.mjs';
import { cargoProgress, must } from './lib/run.mjs';

const WASM = 'wasm32-unknown-unknown';

await main(async () => {
  const vectors = JSON.parse(readFileSync(join(root, 'tests', 'vectors', 'bgv.json'), 'utf8')).bootstrap.digests;
  mkdirSync(join(target, 'tmp'), { recursive: true });
  const folder = mkdtempSync(join(target, 'tmp', 'odd-index-'));
  try {
    const { names, digests } = await load(folder);
    let passed = 0;
    for (const name of names()) {
      const step = begin(name);
      try {
        assert.deepEqual(digests(name), vectors[name]);
      } catch (error) {
        step.fail();
        throw error;
      }
      step.done();
      passed += 1;
    }
    say(`${passed} passed, 0 failed`);
    return passed > 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Compiles the example into `folder` and starts it. */
async function load(folder) {
  // The glue is a module, wherever the folder is.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const step = begin('compiling wasm/examples/odd_index.rs');
  await cargo(step, ['--profile=tool', '--package=refloat-wasm-builder']);
  await cargo(step, ['--package=refloat-wasm', '--example=odd_index', `--target=${WASM}`, '--no-default-features']);
  await must(step, builderBinary, [join(target, WASM, 'debug', 'examples', 'odd_index.wasm'), folder, 'odd_index']);
  const glue = await import(pathToFileURL(join(folder, 'odd_index.js')).href);
  await glue.default({ module_or_path: readFileSync(join(folder, 'odd_index_bg.wasm')) });
  step.done();
  return glue;
}

function cargo(step, args) {
  const { env, onLine } = cargoProgress(step);
  // The flags of .cargo/config.toml are the baseline; these variables would replace them.
  return must(step, 'cargo', ['build', ...args], { env: { ...env, RUSTFLAGS: undefined, CARGO_ENCODED_RUSTFLAGS: undefined }, onLine });
}
