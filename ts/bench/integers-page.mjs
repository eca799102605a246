// Times exact integers in a tab of Chromium, with a worker, as a page would: `node ts/bench/integers-page.mjs [runs]`, after
// `npm run build:ts`. It prints the least wall time of `runs` runs, so the machine should do nothing else.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium, visit } from '../../tests/packaging/browser.mjs';

const runs = Number(process.argv[2] ?? 10);
const chromium = findChromium();
if (!chromium) throw new Error('there is no Chromium: install it, or name it in CHROMIUM');

/** Runs in the page. */
async function measure(Refloat, runs) {
  const least = async (work) => {
    let best = Infinity;
    for (let i = 0; i < runs; i += 1) {
      const began = performance.now();
      const result = await work();
      best = Math.min(best, performance.now() - began);
      result?.free?.();
    }
    return best;
  };
  const rf = await Refloat.load();
  const lines = [];
  for (const name of ['bgv15', 'toy-bgv10']) {
    const options = { allowInsecure: name.startsWith('toy-') };
    const keys = await rf.integers.keygen(name, options);
    const { slots, modulus, keyParts } = keys.params;
    const values = Uint32Array.from({ length: slots }, () => Math.floor(Math.random() * modulus));
    const x = await keys.encrypt(values);
    const times = {
      'secret key': () => rf.integers.keygen(name, options),
      encrypt: () => keys.encrypt(values),
      decrypt: () => keys.decrypt(x),
      [`part of the evaluation keys, one of ${keyParts.length}`]: () => keys.keyPart(keyParts.length >> 1),
    };
    for (const [what, work] of Object.entries(times)) lines.push(`${name}, ${what}: ${(await least(work)).toFixed(1)} ms`);
    for (const object of [x, keys]) object.free();
  }
  rf.close();
  return lines.join('\n');
}

const folder = mkdtempSync(join(tmpdir(), 'refloat-page-'));
try {
  cpSync(fileURLToPath(new URL('../dist/', import.meta.url)), folder, { recursive: true });
  const script = `import { Refloat } from './browser/refloat.js';
    const measure = ${measure};
    measure(Refloat, ${runs}).then((text) => (document.querySelector('#result').textContent = text));`;
  writeFileSync(join(folder, 'index.html'), `<!doctype html><link rel="icon" href="data:,"><pre id="result"></pre><script type="module">${script}</script>`);
  console.log(`load average ${loadavg()[0].toFixed(1)}, least of ${runs}`);
  console.log(await visit(chromium, folder));
} finally {
  rmSync(folder, { recursive: true });
}
