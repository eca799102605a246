// Times gates in this thread's wasm, as ts/README.md states them: `node ts/bench/gates.mjs [set ...]`.
//
// Prints the least CPU time, and the least and median wall time, of 60 runs: on a loaded machine compare CPU times.
import { Refloat } from 'refloat';

/** Milliseconds of CPU time of this process. */
const cpuNow = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const sets = process.argv.slice(2);
const rf = await Refloat.load({ worker: false });
for (const name of sets.length ? sets : ['bool-128', 'bool-64', 'fbs8']) {
  const [start, cpuStart] = [performance.now(), cpuNow()];
  const keys = await rf.gates.keygen(name);
  const evaluation = await keys.evaluationKeys();
  const [keygenMs, keygenCpu] = [performance.now() - start, cpuNow() - cpuStart];
  const integers = keys.params.gates.messages > 2;
  const x = integers ? await keys.encryptIntegers(1) : await keys.encrypt(true);
  const y = integers ? x : await keys.encrypt(false);
  const table = Array.from({ length: keys.params.gates.messages }, (_, m) => (m * m) % keys.params.gates.messages);
  const times = [];
  let cpu = Infinity;
  for (let i = 0; i < 60; i++) {
    const [began, cpuBegan] = [performance.now(), cpuNow()];
    const result = integers ? await evaluation.lookUp(x, table) : await evaluation.nand(x, y);
    times.push(performance.now() - began);
    cpu = Math.min(cpu, cpuNow() - cpuBegan);
    result.free();
  }
  times.sort((a, b) => a - b);
  const what = integers ? 'look-up' : 'NAND';
  const [least, median] = [times[0], times[30]].map((ms) => ms.toFixed(1));
  console.log(
    `${name}: keys ${(keygenCpu / 1000).toFixed(2)} s CPU, ${(keygenMs / 1000).toFixed(2)} s; ${(evaluation.memoryBytes / 1e6).toFixed(0)} MB; ${what} ${cpu.toFixed(1)} ms CPU, ${least} ms (median ${median})`,
  );
  for (const object of new Set([x, y, evaluation, keys])) object.free();
}
rf.close();
