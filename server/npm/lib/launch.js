// Finds the binary of this platform, which is in a package of its own, and becomes it as far as Node can.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';

const PREFIX = '@refloat/server-';

/** Milliseconds between two looks at whether the parent is there. */
const PARENT = 500;

/** Platforms there are packages for, such as `linux-x64`. */
const PLATFORMS = Object.keys(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).optionalDependencies)
  .map((name) => name.slice(PREFIX.length));

/** The binary of a platform; an error says why there is none. `resolve` finds a file of a package. */
export function binaryFor(platform, resolve = createRequire(import.meta.url).resolve) {
  if (!PLATFORMS.includes(platform)) {
    throw new Error(`there is no binary for ${platform}, only for ${PLATFORMS.join(', ')}; build it with Rust: cargo install refloat-server`);
  }
  const name = `${PREFIX}${platform}`;
  let manifest;
  try {
    manifest = resolve(`${name}/package.json`);
  } catch {
    throw new Error(`the package ${name}, which has the binary for ${platform}, is not installed; npm leaves it out with --omit=optional, and where node_modules comes from another machine: install refloat-server again, here and without that option`);
  }
  return join(dirname(manifest), 'bin', platform.startsWith('win32') ? 'refloat.exe' : 'refloat');
}

/** Runs the binary in place of this process: with its terminal, and to the same end. */
export function launch(args) {
  let child;
  try {
    child = spawn(binaryFor(`${process.platform}-${process.arch}`), args, { stdio: 'inherit', windowsHide: true });
  } catch (error) {
    return fail(error);
  }
  child.on('error', fail);
  if (process.platform === 'win32') stayUntilItEnds();
  else passOn(child);
  child.on('close', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/** Passes signals on. The binary may get them from a terminal or a supervisor too, and takes two that come together for one. */
function passOn(child) {
  let told = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      told = true;
      child.kill(signal);
    });
  }
  if (process.env.npm_command === 'exec') onceGone(process.ppid, () => told || child.kill('SIGTERM'));
}

/** Windows tells all programs of a console that it is closed or interrupted, and Node's `kill` would leave the binary no time to stop. */
function stayUntilItEnds() {
  for (const signal of ['SIGINT', 'SIGBREAK', 'SIGHUP']) process.on(signal, () => {});
}

/**
 * Acts once when the parent has gone. npx starts a shell that starts this process. Told to end, it ends the shell and nothing below it: the
 * binary would go on unseen.
 */
function onceGone(parent, act) {
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    act();
  }, PARENT).unref();
}

function fail(error) {
  console.error(`refloat: ${error.message}`);
  process.exit(1);
}
