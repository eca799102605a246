// Programs for 64-bit ARM: compiled here, and run by an emulator.
import { cargoFor, missingFor, runner } from './cross.mjs';

export const ARM = 'aarch64-unknown-linux-gnu';

/** The command that runs a program for ARM. */
export const emulated = runner(ARM);

/** What is missing and cannot be installed, or was not to be installed without `install`; undefined if nothing is missing. */
export async function missingForArm(install) {
  if (process.arch === 'arm64') return 'this is an ARM machine: `npm test` runs the kernels and the vectors natively here';
  return missingFor(ARM, install, 'npm run test:arm');
}

/** Runs a cargo command for ARM. Returns its output. */
export function cargoForArm(progress, args) {
  return cargoFor(ARM, progress, args);
}
