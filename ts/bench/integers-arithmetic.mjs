// Times arithmetic on exact integers of the 128-bit sets in this thread's wasm, as ts/README.md states it:
// `node ts/bench/integers-arithmetic.mjs [runs]`.
//
// Prints the least CPU time of `runs` runs: on a loaded machine compare CPU times. The keys are one for products and one for a rotation.
import { loadavg } from 'node:os';
import { Refloat } from 'refloat';

const runs = Number(process.argv[2] ?? 5);

/** Milliseconds of CPU time of this process. */
const cpuNow = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** The least CPU time of some work; the last result is kept. */
const least = async (what, work) => {
  let [best, kept] = [Infinity, undefined];
  for (let i = 0; i < runs; i += 1) {
    kept?.free();
    const began = cpuNow();
    kept = await work();
    best = Math.min(best, cpuNow() - began);
  }
  console.log(`  ${what}: ${best.toFixed(0)} ms`);
  return kept;
};

console.log(`load average ${loadavg()[0].toFixed(1)}, least CPU time of ${runs}`);
for (const name of ['bgv15', 'bgv16-gf4', 'bgv16-786433']) {
  const rf = await Refloat.load({ worker: false });
  const keys = await rf.integers.keygen(name);
  const { slots, slotDegree, modulus } = keys.params;
  const values = Uint32Array.from({ length: slots * slotDegree }, (_, i) => (40503 * i + 7) % modulus);
  const x = await keys.encrypt(values);
  const all = keys.arithmeticKeys({ swapRows: true });
  all.pause();
  await all.step();
  const { total, totalBytes } = all.events[0];
  all.cancel();
  await all.catch(() => undefined);
  console.log(`${name}: ${slots} slots; ${total} keys for all rotations and the swap take ${totalBytes} bytes`);
  const arithmetic = await least('both keys', async () => await keys.arithmeticKeys({ rotations: [1] }));
  const product = await least('product', () => arithmetic.multiply(x, x));
  const turned = await least('rotation', () => arithmetic.rotate(product, 1));
  if (slotDegree === 1) {
    const found = await keys.decrypt(turned);
    const wanted = Number((BigInt(values[1]) * BigInt(values[1])) % BigInt(modulus));
    if (found[0] !== wanted) throw new Error(`${name}: ${found[0]} is not ${wanted}`);
  }
  console.log(`  both keys in memory: ${arithmetic.memoryBytes} bytes; the instance took ${(await rf.memory()).bytes} at most`);
  for (const object of [turned, product, arithmetic, x, keys]) object.free();
  rf.close();
}
