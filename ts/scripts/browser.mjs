// Makes `dist/browser`: the package in a few files that a page loads as they are, without a bundler and without an import map.
// `refloat.js` and `refloat-client.js` are the two entries, `worker.js` and `worker-client.js` their workers; the wasm modules are
// those of `dist/wasm`.
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const to = join(dist, 'browser');

const INPUT = {
  refloat: join(dist, 'index.js'),
  'refloat-client': join(dist, 'client.js'),
  worker: join(dist, 'worker-full.js'),
  'worker-client': join(dist, 'worker-client.js'),
};

/** Puts workers beside the page's files, and finds wasm modules where the package has them. */
const places = {
  name: 'places',
  resolveId(source) {
    const platform = /^#platform-(full|client)$/.exec(source);
    return platform ? join(dist, 'platform', `browser-${platform[1]}.js`) : null;
  },
  async load(id) {
    const glue = /^refloat_\w+\.js$/.exec(basename(id));
    if (!glue) return null;
    const text = await readFile(id, 'utf8');
    const moved = text.replace(/new URL\((["'`])(refloat_\w+_bg\.wasm)\1,/, 'new URL("../wasm/$2",');
    if (moved === text) throw new Error(`${id} does not say where its wasm module is`);
    return moved;
  },
};

await rm(to, { recursive: true, force: true });
const bundle = await rolldown({ input: INPUT, platform: 'browser', plugins: [places] });
await bundle.write({
  dir: to,
  format: 'esm',
  minify: true,
  sourcemap: false,
  entryFileNames: '[name].js',
  chunkFileNames: 'shared-[name].js',
});
await bundle.close();
