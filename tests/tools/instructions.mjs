// `node tests/tools/instructions.mjs`: the instructions that kernels take on 64-bit ARM, scalar and by NEON, as an emulator executes
// them: what a run of a kernel adds to a program that runs it. Counts, not times: how many fit a cycle is a processor's matter.
import { spawn } from 'node:child_process';
import { ARM, cargoForArm, emulated, missingForArm } from './lib/arm.mjs';
import { Stop, begin, main, say } from './lib/log.mjs';

/** Words of a row, stages of its transform, and what counts are of; see core/benches/instructions.rs. */
const N = 1024;
const BUTTERFLIES = (N / 2) * Math.log2(N);
const KERNELS = {
  words27: ['butterfly, primes below 2^28', BUTTERFLIES],
  words30: ['butterfly, primes below 2^30', BUTTERFLIES],
  words50: ['butterfly, primes below 2^50', BUTTERFLIES],
  words60: ['butterfly, primes below 2^60', BUTTERFLIES],
  back27: ['inverse butterfly, primes below 2^28', BUTTERFLIES],
  back30: ['inverse butterfly, primes below 2^30', BUTTERFLIES],
  back50: ['inverse butterfly, primes below 2^50', BUTTERFLIES],
  back60: ['inverse butterfly, primes below 2^60', BUTTERFLIES],
  key32: ['key product, primes below 2^30', 2 * 8 * N],
  key50: ['key product, primes below 2^50', 2 * 8 * N],
  key60: ['key product, primes below 2^60', 2 * 8 * N],
  gate: ['key product of a gate', 2 * 4 * N],
};

await main(async () => {
  const missing = await missingForArm(false);
  if (missing) throw new Stop(missing);
  const step = begin('core/benches/instructions.rs for ARM');
  const output = await cargoForArm(step, ['bench', '--package', 'refloat', '--bench', 'instructions', '--no-run', '--message-format=json']);
  const found = output.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const program = found.find(({ target, executable }) => target?.name === 'instructions' && executable)?.executable;
  if (!program) throw new Stop('cargo bench built no program');
  step.done();
  say('| instructions for each | scalar | neon | ratio |');
  say('| --- | --- | --- | --- |');
  for (const [kernel, [what, each]] of Object.entries(KERNELS)) {
    const count = async (backend) => ((await executed(program, kernel, 3, backend)) - (await executed(program, kernel, 1, backend))) / 2 / each;
    const [scalar, neon] = [await count('scalar'), await count('neon')];
    say(`| ${what} | ${scalar.toFixed(2)} | ${neon.toFixed(2)} | ${(scalar / neon).toFixed(2)} |`);
  }
});

/** Instructions of a program: the emulator names each of them as it executes it. */
function executed(program, kernel, times, backend) {
  const [command, ...first] = emulated;
  const options = ['-singlestep', '-d', 'exec,nochain', '-E', `REFLOAT_BACKEND=${backend}`, program];
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...first, ...options, kernel, String(times)], { stdio: ['ignore', 'ignore', 'pipe'] });
    let lines = 0;
    child.stderr.on('data', (data) => {
      for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, at + 1)) lines += 1;
    });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(lines) : reject(new Stop(`${kernel} ended with ${code}`))));
  });
}
