// Bootstrapping in a page, as far as Node can tell: the wasm of the package, keys made on the way, on one
// thread and on two. A table of seconds, with what every stage took and the memory of all instances.
//
//   npm run build:ts
//   node ts/bench/compare/tab.mjs [sets, comma-separated] [rounds]
import { Refloat } from '../../dist/index.js';

const SETS = (process.argv[2] ?? 'toy10,ship13,ship13-bits').split(',');
const ROUNDS = Number(process.argv[3] ?? 3);

const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const seconds = (ms) => (ms / 1000).toFixed(2);

/** One bootstrapping in a fresh instance: times in milliseconds, bytes, and bits of the worst slot. */
async function once(set, threads) {
  const rf = await Refloat.load({ threads });
  const keys = await rf.keygen(set, { allowInsecure: true });
  const { slots, mode, inputLevel: level } = keys.params;
  const values = Float64Array.from({ length: slots }, (_, i) => (mode === 'bits' ? i & 1 : Math.sin(i)));
  const ct = await keys.encrypt(values, { level });
  const start = performance.now();
  const boot = await keys.bootstrapKeys({ resident: false });
  const made = performance.now();
  const run = keys.bootstrap(ct, boot);
  const found = await keys.decrypt(await run);
  const end = performance.now();
  const error = values.reduce((most, x, i) => Math.max(most, Math.abs(x - found[i])), 0);
  const entered = new Map(run.events.filter((e) => e.kind === 'enter').map((e) => [e.stage, e.atMs]));
  const stages = run.events.filter((e) => e.kind === 'exit').map((e) => [e.stage, e.atMs - entered.get(e.stage)]);
  const { bytes } = await rf.memory();
  rf.close();
  return { keys: made - start, total: end - start, stages: new Map(stages), bytes, bits: -Math.log2(error) };
}

console.log(`Node ${process.versions.node}, best of ${ROUNDS}, seconds\n`);
row('set', 'threads', 'all', 'common keys', 'slots to coefficients', 'tracks', 'tree', 'memory', 'worst slot, bits');
row('---', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:');
for (const set of SETS) {
  for (const threads of [1, 2]) {
    let best;
    for (let i = 0; i < ROUNDS; i++) {
      const found = await once(set, threads);
      if (!best || found.total < best.total) best = found;
    }
    const stage = (name) => seconds(best.stages.get(name));
    const stages = ['slots_to_coeffs', 'blind_rotate', 'product_tree'].map(stage);
    const memory = `${(best.bytes / 1e6).toFixed(0)} MB`;
    row(set, threads, seconds(best.total), seconds(best.keys), ...stages, memory, best.bits.toFixed(2));
  }
}
