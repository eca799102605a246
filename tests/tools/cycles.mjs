// `node tests/tools/cycles.mjs`: cycles of kernels on 64-bit ARM, scalar and with NEON, according to llvm-mca's models of two processors.
// An emulator says which loops of the compiled kernels were run and how often; a model says how many cycles a round of each takes if
// everything is in the first-level cache. Nothing is measured on a processor.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onPath } from './lib/browser.mjs';
import { KERNELS, kernelsForArm, traced } from './lib/instructions.mjs';
import { Stop, main, say } from './lib/log.mjs';
import { assemblyOf, cyclesOf, instructionsOf, loopsOf } from './lib/loops.mjs';
import { run } from './lib/run.mjs';
import { inScratch } from './lib/scratch.mjs';

/** Models of llvm-mca, and the processors that they describe. Its M1 is an older Apple core. */
const CORES = { 'apple-m1': 'Apple M1', 'neoverse-n2': 'Neoverse N2' };

/** The address at which the emulator loads a position-independent program. */
const BASE = 0x55_0000_0000;

/** Loops that were run fewer times per run of the kernel do not belong to the kernel. */
const LEAST = 4;

await main(async () => {
  const tool = (name) => onPath([`${name}-19`, name]) ?? missing(name);
  const [objdump, mca] = ['llvm-objdump', 'llvm-mca'].map(tool);
  const program = await kernelsForArm();
  const listing = [];
  await must(objdump, ['-d', '--no-show-raw-insn', program], (line) => listing.push(line));
  const instructions = instructionsOf(listing.join('\n'));
  await inScratch('cycles', async (scratch) => {
    const names = Object.values(CORES);
    say(`| cycles for each | ${names.map((name) => `${name}, scalar | NEON`).join(' | ')} | in loops |`);
    say(`| --- |${' --- | --- |'.repeat(names.length)} --- |`);
    for (const [kernel, [what, each]] of Object.entries(KERNELS)) {
      const found = [];
      for (const backend of ['scalar', 'neon']) found.push(await modelled({ program, instructions, mca, scratch }, kernel, backend));
      const cells = Object.keys(CORES).flatMap((core) => found.map(({ cycles }) => (cycles[core] / each).toPrecision(3)));
      say(`| ${what} | ${cells.join(' | ')} | ${found.map(({ share }) => `${Math.round(100 * share)} %`).join(', ')} |`);
    }
  });
});

/** Cycles of a kernel's loops by each model, and the share of its instructions that are in these loops. */
async function modelled({ program, instructions, mca, scratch }, kernel, backend) {
  const [three, one] = [await counted(program, kernel, 3, backend), await counted(program, kernel, 1, backend)];
  const executed = new Map();
  for (const [at, times] of three) {
    const more = (times - (one.get(at) ?? 0)) / 2;
    if (more > 0) executed.set(at, more);
  }
  const total = [...executed.values()].reduce((sum, times) => sum + times, 0);
  const loops = loopsOf(instructions, executed).filter(({ rounds }) => rounds >= LEAST);
  const share = loops.reduce((sum, loop) => sum + loop.executed, 0) / total;
  if (!(share > 0.5)) throw new Stop(`${kernel}: ${(100 * share).toFixed(1)} % of the instructions are in loops of the program`);
  const cycles = {};
  for (const core of Object.keys(CORES)) {
    cycles[core] = 0;
    for (const loop of loops) {
      const file = join(scratch, 'loop.s');
      writeFileSync(file, assemblyOf(loop));
      const report = (rounds) => must(mca, ['-mtriple=aarch64', `-mcpu=${core}`, `-iterations=${rounds}`, file]);
      cycles[core] += loop.rounds * cyclesOf(await report(400), await report(200));
    }
  }
  return { cycles, share };
}

/** How often each instruction of a program is executed, by its address in the file. */
async function counted(program, kernel, times, backend) {
  const counts = new Map();
  await traced(program, kernel, times, backend, (line) => {
    const at = Number(`0x${/\/0*([0-9a-f]+)\//.exec(line)?.[1]}`) - BASE;
    if (at >= 0) counts.set(at, (counts.get(at) ?? 0) + 1);
  });
  return counts;
}

async function must(command, args, onLine) {
  const { code, output } = await run(command, args, { onLine: onLine && ((line) => (onLine(line), true)) });
  if (code !== 0) throw new Stop(`${command} ended with ${code}:\n${output.slice(0, 2000)}`);
  return output;
}

function missing(name) {
  throw new Stop(`no ${name}; Debian has it in the package llvm-19`);
}
