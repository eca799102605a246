// Times exact integers in this thread's wasm, as ts/README.md states them: `node ts/bench/integers.mjs [runs]`.
//
// Prints the least CPU time of `runs` runs: on a loaded machine compare CPU times. For bgv15 it times what the keys' owner does; for
// toy-bgv10 also what is computed with the evaluation keys.
import { loadavg } from 'node:os';
import { Refloat } from 'refloat';

const runs = Number(process.argv[2] ?? 10);

/** Milliseconds of CPU time of this process. */
const cpuNow = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** The least CPU time of some work, whose results are freed. */
const least = async (what, work, count = runs) => {
  let best = Infinity;
  for (let i = 0; i < count; i += 1) {
    const began = cpuNow();
    const result = await work();
    best = Math.min(best, cpuNow() - began);
    result?.free?.();
  }
  console.log(`  ${what}: ${best.toFixed(1)} ms`);
};

const rf = await Refloat.load({ worker: false });
console.log(`load average ${loadavg()[0].toFixed(1)}, least CPU time of ${runs}`);
for (const name of ['bgv15', 'toy-bgv10']) {
  const options = { allowInsecure: name.startsWith('toy-') };
  const keys = await rf.integers.keygen(name, options);
  const { slots, modulus, keyParts, keyBytes } = keys.params;
  const values = Uint32Array.from({ length: slots }, () => Math.floor(Math.random() * modulus));
  const x = await keys.encrypt(values);
  console.log(`${name}: ${slots} integers, ${x.byteLength} bytes of ciphertext, ${keyBytes} bytes of evaluation keys`);
  await least('secret key', () => rf.integers.keygen(name, options));
  await least('encrypt', () => keys.encrypt(values));
  await least('decrypt', () => keys.decrypt(x));
  await least(`part of the evaluation keys, one of ${keyParts.length}`, () => keys.keyPart(keyParts.length >> 1));
  if (options.allowInsecure) {
    await least('all evaluation keys', async () => await keys.evaluationKeys(), 3);
    const evaluation = await keys.evaluationKeys();
    await least('product', () => evaluation.multiply(x, x));
    await least('rotation', () => evaluation.rotate(x, 1));
    await least('bootstrap', async () => await evaluation.bootstrap(x));
    console.log(`  evaluation keys in memory: ${evaluation.memoryBytes} bytes`);
    evaluation.free();
  }
  for (const object of [x, keys]) object.free();
}
rf.close();
