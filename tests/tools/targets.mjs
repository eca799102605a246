// `npm run test:targets`: the server and command line for the systems that releases are made for, built here, and run if this machine
// can. One line per leg: passed, or skipped and why.
//
//   --install     installs what is missing: Rust targets and Debian packages
//   --release     builds as for publication, which takes minutes per system, rather than as for tests
import { copyFileSync, chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildFor, cargoFor, missingFor, runner } from './lib/cross.mjs';
import { linked } from './lib/elf.mjs';
import { doJob } from './lib/job.mjs';
import { begin, bold, main, red, say } from './lib/log.mjs';
import { target } from './lib/paths.mjs';
import { librariesOfWindows } from './lib/pe.mjs';
import { run } from './lib/run.mjs';
import { inScratch } from './lib/scratch.mjs';

const COMMAND = 'npm run test:targets';

const words = process.argv.slice(2);
const profile = words.includes('--release') ? 'release' : 'dev';

/** Why a leg does not run here. */
class Skip extends Error {}

const legs = [
  ['x86_64-unknown-linux-musl', 'one static file, which does a job in an empty root', async (progress, system) => {
    const binary = await staticBinary(progress, system);
    const enter = await intoRoots();
    return inScratch('targets', (root) => {
      copyFileSync(binary, join(root, 'refloat'));
      chmodSync(join(root, 'refloat'), 0o755);
      mkdirSync(join(root, 'work'));
      return done(progress, [...enter, root, '/refloat'], join(root, 'work'), '/work');
    });
  }],
  ['aarch64-unknown-linux-musl', 'one static file, which does a job, emulated', async (progress, system) => {
    const binary = await staticBinary(progress, system);
    return inScratch('targets', (folder) => done(progress, [...runner(system), binary], folder));
  }],
  ['x86_64-pc-windows-gnu', 'built, not run', async (progress, system) => {
    const libraries = librariesOfWindows(await buildFor(system, progress, profile));
    return `needs ${libraries.length} libraries, all of them Windows' own`;
  }],
  ['x86_64-pc-windows-gnu', 'tests of the server, checked', async (progress, system) => {
    await cargoFor(system, progress, ['check', '--package', 'refloat-server', '--all-targets']);
  }],
  ['aarch64-apple-darwin', 'the core, checked', async (progress, system) => {
    await cargoFor(system, progress, ['check', '--package', 'refloat', '--features', 'parallel', '--all-targets']);
  }],
];

await main(async () => {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const [system, what, leg] of legs) {
    const missing = await missingFor(system, words.includes('--install'), COMMAND);
    const progress = begin(`${system}: ${what}`);
    try {
      if (missing) throw new Skip(missing);
      progress.done((await leg(progress, system)) ?? '');
      total.passed += 1;
    } catch (error) {
      if (error instanceof Skip) {
        progress.skip(bold(`skipped: ${error.message}`));
        total.skipped += 1;
      } else {
        progress.fail();
        say(red(error.message));
        total.failed += 1;
      }
    }
  }
  say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed || total.passed === 0 ? 1 : 0;
});

async function staticBinary(progress, system) {
  const binary = await buildFor(system, progress, profile);
  const { loader, libraries } = linked(binary);
  if (loader || libraries.length) throw new Error(`${binary} asks for ${[loader, ...libraries].filter(Boolean).join(', ')}`);
  return binary;
}

/** The command that runs a program with a folder as its root: as root, or in a namespace where the system allows those. */
async function intoRoots() {
  const enter = process.getuid() === 0 ? ['chroot'] : ['unshare', '--user', '--map-root-user', 'chroot'];
  const [program, ...args] = enter;
  if ((await run(program, [...args, '/', '/bin/true'])).code !== 0) throw new Skip(`${enter.join(' ')} is not allowed here`);
  return enter;
}

async function done(progress, command, folder, inside) {
  const { bits } = await doJob(progress, command, folder, inside);
  return `toy10, ${bits} bits`;
}
