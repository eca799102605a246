// Everything that a fresh clone needs before it can be built: checked, and repaired where possible.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Stop, begin } from './log.mjs';
import { root } from './paths.mjs';
import { must, run } from './run.mjs';

const NODE = [20, 19];
const WASM_TARGET = 'wasm32-unknown-unknown';

/** Makes this machine and this clone ready to build; returns quickly if they are. */
export async function prepare() {
  checkNode();
  await checkRust();
  await checkCompiler();
  await installPackages();
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE[0] || (major === NODE[0] && minor >= NODE[1])) return;
  throw new Stop(
    `refloat needs Node ${NODE.join('.')} or newer; this is ${process.versions.node}.\n` +
      'Install a current version from https://nodejs.org, then run the same command again.',
  );
}

async function checkRust() {
  const rustup = await run('rustup', ['target', 'list', '--installed']);
  if (rustup.code === 0 && rustup.output.split('\n').includes(WASM_TARGET)) return;
  if (rustup.code === -1) {
    const cargo = await run('cargo', ['--version']);
    throw new Stop(
      (cargo.code === 0
        ? 'refloat needs rustup, which brings the compiler version of rust-toolchain.toml and the WebAssembly target; only cargo was found.\n'
        : 'refloat needs Rust; neither rustup nor cargo was found.\n') +
        'Install it from https://rustup.rs, open a new terminal, then run the same command again.',
    );
  }
  const step = begin(`Rust: adding the compiler of rust-toolchain.toml and ${WASM_TARGET}`);
  if (rustup.code !== 0) await must(step, 'rustup', ['toolchain', 'install']);
  await must(step, 'rustup', ['target', 'add', WASM_TARGET]);
  step.done();
}

/** Checks for a C compiler: Rust links with it, and two of the server's libraries are in C. */
async function checkCompiler() {
  if (process.platform === 'win32' || (await run('cc', ['--version'])).code !== -1) return;
  throw new Stop(
    'refloat needs a C compiler, with which Rust links its programs too; cc was not found.\n' +
      'Install one (on Debian: apt install gcc libc6-dev; on a Mac: xcode-select --install), then run the same command again.',
  );
}

async function installPackages() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  const lock = join(root, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  const step = begin('npm packages: installing');
  const { code, output } = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  if (code !== 0) {
    step.fail();
    const words = output.split('\n').filter((line) => line.trim() !== 'npm error').slice(0, 20);
    throw new Stop(`${words.join('\n')}\n\nnpm ci failed. After a change of a package.json, run "npm install" once.`);
  }
  step.done();
}
