// Checks that bootstraps in rings of odd index, which no module of the npm package has, give the same bits in WebAssembly as natively:
// compiles wasm/examples/odd_index.rs, runs it, and compares the digests with those of tests/vectors/bgv.json.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { begin, main, say } from './lib/log.mjs';
import { root } from './lib/paths.mjs';
import { inScratch } from './lib/scratch.mjs';
import { buildBuilder, buildModule } from '../../wasm/build.mjs';

await main(async () => {
  const vectors = JSON.parse(readFileSync(join(root, 'tests', 'vectors', 'bgv.json'), 'utf8')).bootstrap.digests;
  return inScratch('odd-index', async (folder) => {
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
  });
});

/** Compiles the example into `folder` and starts it. */
async function load(folder) {
  // The glue is a module, wherever the folder is.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const step = begin('compiling wasm/examples/odd_index.rs');
  await buildBuilder(step);
  const args = ['--example=odd_index'];
  await buildModule(step, { name: 'odd_index', args, file: join('debug', 'examples', 'odd_index.wasm') }, folder);
  const glue = await import(pathToFileURL(join(folder, 'odd_index.js')).href);
  await glue.default({ module_or_path: readFileSync(join(folder, 'odd_index_bg.wasm')) });
  step.done();
  return glue;
}
