// Programs for systems other than this one: what compiles and runs them here, and cargo for them.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { aptCommand, aptInstall } from './apt.mjs';
import { onPath } from './browser.mjs';
import { root, target } from './paths.mjs';
import { cargoProgress, run } from './run.mjs';

/** Where cargo keeps the sources of crates, whose names are in messages of panics. */
export const cargoHome = process.env.CARGO_HOME ?? join(homedir(), '.cargo');

/** Milliseconds after which a command of cargo is taken to hang. */
const LIMIT = 3 * 60 * 60_000;

/**
 * Systems by their Rust names. `tools` are commands with their Debian packages, `compiler` is the C compiler, which also links unless
 * a `linker` is named, and `runner` is the command that runs a program if this machine cannot.
 */
const SYSTEMS = {
  'aarch64-unknown-linux-gnu': {
    compiler: 'aarch64-linux-gnu-gcc',
    runner: ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu'],
    tools: { 'qemu-aarch64': 'qemu-user', 'aarch64-linux-gnu-gcc': 'gcc-aarch64-linux-gnu', '/usr/aarch64-linux-gnu/lib/libc.so.6': 'libc6-dev-arm64-cross' },
  },
  'x86_64-unknown-linux-musl': {
    compiler: 'musl-gcc',
    linker: 'cc',
    tools: { 'musl-gcc': 'musl-tools' },
  },
  // Rust brings the C library for ARM. The C code of the crates is compiled with the headers of another C library, but uses
  // nothing in which they differ.
  'aarch64-unknown-linux-musl': {
    compiler: 'aarch64-linux-gnu-gcc',
    runner: ['qemu-aarch64'],
    tools: { 'qemu-aarch64': 'qemu-user', 'aarch64-linux-gnu-gcc': 'gcc-aarch64-linux-gnu', '/usr/aarch64-linux-gnu/include/stdio.h': 'libc6-dev-arm64-cross' },
  },
  'x86_64-pc-windows-gnu': {
    compiler: 'x86_64-w64-mingw32-gcc',
    tools: { 'x86_64-w64-mingw32-gcc': 'gcc-mingw-w64-x86-64' },
  },
  // Only checked: to link, or to compile C, takes Apple's headers.
  'aarch64-apple-darwin': { tools: {} },
};

/** What compiles programs that run while building, whatever they build for; with their Debian packages. */
const OF_THIS_SYSTEM = { cc: 'gcc', '/usr/include/stdio.h': 'libc6-dev' };

/** The command that runs a program for a system. */
export const runner = (system) => SYSTEMS[system].runner ?? [];

/**
 * What is missing to build for a system and cannot be installed, or was not to be installed without `install`; undefined if nothing
 * is missing. `command` is the command that installs it.
 */
export async function missingFor(system, install, command) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'this works only on x86-64 Linux';
  const tools = { ...OF_THIS_SYSTEM, ...SYSTEMS[system].tools };
  const isThere = (tool) => (tool.startsWith('/') ? existsSync(tool) : onPath([tool]));
  const absent = () => Object.keys(tools).filter((tool) => !isThere(tool));
  const packages = () => [...new Set(absent().map((tool) => tools[tool]))];
  if (absent().length && install) await aptInstall(`compiling for ${system}`, packages());
  if (absent().length) return `no ${absent().join(', ')}; \`${command}\` installs what is missing: ${aptCommand(packages())}`;
  const library = async () => existsSync((await run('rustc', ['--print', 'target-libdir', '--target', system])).output.trim());
  if (!(await library()) && install) await run('rustup', ['target', 'add', system]);
  return (await library()) ? undefined : `Rust has no ${system}; \`${command}\` adds it: rustup target add ${system}`;
}

/** Runs a cargo command for a system. Returns its output. */
export async function cargoFor(system, progress, [command, ...args], more = {}) {
  const { env, onLine } = cargoProgress(progress);
  const { code, output } = await run('cargo', [command, '--target', system, ...args], {
    env: { ...env, ...environment(system), ...more },
    onLine,
    limit: LIMIT,
  });
  if (code !== 0) throw new Error(`cargo ${command} for ${system} ended with ${code}, and said:\n${output.slice(-8000)}`);
  return output;
}

/** The path at which cargo puts the server and command line. */
export function binaryFor(system, profile) {
  return join(target, system, profile === 'dev' ? 'debug' : profile, system.includes('windows') ? 'refloat.exe' : 'refloat');
}

/** Builds the server and command line, without names of folders of this machine in it. Returns its path. */
export async function buildFor(system, progress, profile) {
  const strip = { [`CARGO_PROFILE_${profile.toUpperCase()}_STRIP`]: 'symbols' };
  const flags = [[root, '/refloat'], [target, '/target'], [cargoHome, '/cargo']].map(([from, to]) => `--remap-path-prefix=${from}=${to}`);
  const args = ['build', '--locked', '--profile', profile, '--package', 'refloat-server', '--bin', 'refloat'];
  await cargoFor(system, progress, args, { ...strip, CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f') });
  return binaryFor(system, profile);
}

function environment(system) {
  const { compiler, linker, runner } = SYSTEMS[system];
  const cargo = `CARGO_TARGET_${system.toUpperCase().replaceAll('-', '_')}`;
  return {
    [`CC_${system.replaceAll('-', '_')}`]: compiler,
    [`${cargo}_LINKER`]: linker ?? compiler,
    [`${cargo}_RUNNER`]: runner?.join(' '),
  };
}
