// Kernels of the core, run in an emulator of 64-bit ARM that names every instruction as it executes it.
import { cargoForArm, emulated, missingForArm } from './arm.mjs';
import { Stop, begin } from './log.mjs';
import { run } from './run.mjs';

/** Words per row, butterflies per transform, and what counts are divided by for each kernel; see core/benches/instructions.rs. */
const N = 1024;
const BUTTERFLIES = (N / 2) * Math.log2(N);
export const KERNELS = {
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

/** Builds the program that runs the kernels. Returns its path. */
export async function kernelsForArm() {
  const missing = await missingForArm(false);
  if (missing) throw new Stop(missing);
  const step = begin('core/benches/instructions.rs for ARM');
  const output = await cargoForArm(step, ['bench', '--package', 'refloat', '--bench', 'instructions', '--no-run', '--message-format=json']);
  const found = output.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const program = found.find(({ target, executable }) => target?.name === 'instructions' && executable)?.executable;
  if (!program) throw new Stop('cargo bench built no program');
  step.done();
  return program;
}

let option;

/** The emulator's option to translate every instruction alone: QEMU 8.1 gave it a new name, and 9 dropped the old one. */
async function oneByOne() {
  option ??= /-one-insn-per-tb/.test((await run(emulated[0], ['-h'])).output) ? '-one-insn-per-tb' : '-singlestep';
  return option;
}

/** Runs a kernel `times` times with a backend; `onLine` gets a line for each instruction. */
export async function traced(program, kernel, times, backend, onLine) {
  const [command, ...first] = emulated;
  const args = [...first, await oneByOne(), '-d', 'exec,nochain', '-E', `REFLOAT_BACKEND=${backend}`, program, kernel, String(times)];
  const { code } = await run(command, args, { onLine: (line) => (onLine(line), true) });
  if (code !== 0) throw new Stop(`${kernel} ended with ${code}`);
}
