// Programs for 64-bit ARM: compiled here, and run by an emulator.
import { existsSync } from 'node:fs';
import { aptCommand, aptInstall } from './apt.mjs';
import { onPath } from './browser.mjs';
import { cargoProgress, run } from './run.mjs';

export const ARM = 'aarch64-unknown-linux-gnu';
const PACKAGES = ['qemu-user', 'gcc-aarch64-linux-gnu', 'libc6-dev-arm64-cross'];
const EMULATOR = 'qemu-aarch64';
const LINKER = 'aarch64-linux-gnu-gcc';

/** Where the packages keep the system's libraries for ARM. */
const SYSROOT = '/usr/aarch64-linux-gnu';

/** The command that runs a program for ARM. */
export const emulated = [EMULATOR, '-L', SYSROOT];

/** Milliseconds after which a command of cargo is taken to hang. */
const LIMIT = 30 * 60_000;

/** What is not there, and cannot be had or, without `install`, was not asked for; undefined if nothing is missing. */
export async function missingForArm(install) {
  if (process.arch === 'arm64') return 'this machine is one, and `npm test` has all of it';
  if (process.platform !== 'linux') return 'the emulator runs programs for Linux on Linux alone';
  const there = () => onPath([EMULATOR]) && onPath([LINKER]) && existsSync(SYSROOT);
  if (!there() && install) await aptInstall('the emulator and a compiler for ARM', PACKAGES);
  if (!there()) return `no ${EMULATOR} and ${LINKER}; \`npm run test:arm\` installs them: ${aptCommand(PACKAGES)}`;
  const library = async () => existsSync((await run('rustc', ['--print', 'target-libdir', '--target', ARM])).output.trim());
  if (!(await library()) && install) await run('rustup', ['target', 'add', ARM]);
  return (await library()) ? undefined : `Rust has no ${ARM}; \`npm run test:arm\` adds it: rustup target add ${ARM}`;
}

/** Runs a command of cargo for ARM; gives what it says. */
export async function cargoForArm(progress, [command, ...args]) {
  const { env, onLine } = cargoProgress(progress);
  const prefix = `CARGO_TARGET_${ARM.toUpperCase().replaceAll('-', '_')}`;
  const cross = { [`${prefix}_LINKER`]: LINKER, [`${prefix}_RUNNER`]: emulated.join(' ') };
  const { code, output } = await run('cargo', [command, '--target', ARM, ...args], { env: { ...env, ...cross }, onLine, limit: LIMIT });
  if (code !== 0) throw new Error(`cargo ${command} for ${ARM} ended with ${code}, and said:\n${output.slice(-8000)}`);
  return output;
}
