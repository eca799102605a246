// `node tests/tools/instructions.mjs`: instructions of kernels on 64-bit ARM, scalar and with NEON, as an emulator executes them: what one
// run of a kernel adds to the program that runs it. These are counts, not times: how many fit in a cycle depends on the processor.
import { KERNELS, kernelsForArm, traced } from './lib/instructions.mjs';
import { main, say } from './lib/log.mjs';

await main(async () => {
  const program = await kernelsForArm();
  say('| instructions for each | scalar | neon | ratio |');
  say('| --- | --- | --- | --- |');
  for (const [kernel, [what, each]] of Object.entries(KERNELS)) {
    const count = async (backend) => ((await executed(program, kernel, 3, backend)) - (await executed(program, kernel, 1, backend))) / 2 / each;
    const [scalar, neon] = [await count('scalar'), await count('neon')];
    say(`| ${what} | ${scalar.toFixed(2)} | ${neon.toFixed(2)} | ${(scalar / neon).toFixed(2)} |`);
  }
});

async function executed(program, kernel, times, backend) {
  let lines = 0;
  await traced(program, kernel, times, backend, () => (lines += 1));
  return lines;
}
