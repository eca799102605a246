// `npm run size`: bytes of the WebAssembly artefacts and their glue, as files and compressed as they are sent.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build, builds } from './lib/build.mjs';
import { main, say } from './lib/log.mjs';
import { prepare } from './lib/prepare.mjs';
import { wasmDist } from './lib/paths.mjs';

await main(async () => {
  await prepare();
  await build(['wasm']);
  const line = (name, ...cells) => say(name.padEnd(28) + cells.map((cell) => String(cell).padStart(10)).join(''));
  line('file', 'raw', 'gzip -9', 'brotli');
  for (const path of builds.wasm.outputs) {
    const bytes = readFileSync(path);
    const gzip = gzipSync(bytes, { level: 9 });
    line(path.slice(join(wasmDist, '/').length), bytes.length, gzip.length, brotliCompressSync(bytes).length);
  }
});
