// The launcher of the npm package `refloat-server`, with a program in place of the binary: arguments, exit codes and signals.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { PLATFORMS, serverPackage } from './lib/release.mjs';

const platform = `${process.platform}-${process.arch}`;
const skip = process.platform === 'win32' || !(platform in PLATFORMS);
const options = { skip, timeout: 15_000 };

/** Says what it is told, and ends as its first argument says. */
const PROGRAM = `#!${process.execPath}
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => {
  console.log(signal);
  if (signal === 'SIGTERM') setTimeout(() => process.exit(3), way === 'linger' ? 1500 : 0);
});
console.log(process.argv.slice(2).join(' '));
const [way] = process.argv.slice(2);
if (way === 'end') process.exit(7);
else if (way === 'die') process.kill(process.pid, 'SIGKILL');
else setTimeout(() => process.exit(99), 20_000);
`;

/** Installs the launcher and the program, and starts a command of the package. Its lines are read one by one; `end` is its end. */
function launched(context, command, ...args) {
  return begun(context, process.execPath, [join(installed(context), 'bin', command), ...args]);
}

/** The folder in which the launcher is installed, beside the program. */
function installed(context) {
  const folder = mkdtempSync(join(tmpdir(), 'refloat-launch-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const modules = join(folder, 'node_modules');
  const binary = join(modules, '@refloat', `server-${platform}`);
  mkdirSync(join(binary, 'bin'), { recursive: true });
  writeFileSync(join(binary, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(binary, 'bin', 'refloat'), PROGRAM, { mode: 0o755 });
  cpSync(serverPackage, join(modules, 'refloat-server'), { recursive: true });
  return join(modules, 'refloat-server');
}

/** Starts a command in a process group of its own. */
function begun(context, command, args, env) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true, env: { ...process.env, npm_command: undefined, ...env } });
  context.after(() => toGroup(child, 'SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: async () => (await lines.next()).value, end: new Promise((settle) => child.on('close', settle)) };
}

/** Sends a signal to all that a command has started, and that has not ended. */
function toGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

test('arguments and exit codes are the program\'s', options, async (context) => {
  const ended = launched(context, 'refloat.js', 'end', 'two words');
  assert.equal(await ended.line(), 'end two words');
  assert.equal(await ended.end, 7);
  const server = launched(context, 'refloat-server.js', '--listen', 'x');
  assert.equal(await server.line(), 'serve --listen x');
  server.child.kill('SIGTERM');
  assert.equal(await server.end, 3);
});

test('a program that dies by a signal ends the launcher as a shell would', options, async (context) => {
  assert.equal(await launched(context, 'refloat.js', 'die').end, 128 + 9);
});

test('each signal to the launcher reaches the program once', options, async (context) => {
  const { child, line, end } = launched(context, 'refloat.js', 'wait');
  assert.equal(await line(), 'wait');
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) {
    child.kill(signal);
    assert.equal(await line(), signal);
  }
  assert.equal(await line(), undefined);
  assert.equal(await end, 3);
});

/** Under npx a shell is between npx and the launcher, which ends without a word to what it started. */
const npx = (context) => begun(context, 'sh', ['-c', '"$@"; true', 'sh', process.execPath, join(installed(context), 'bin', 'refloat.js'), 'linger'], { npm_command: 'exec' });

test('a program whose npx has gone is told to end, once', options, async (context) => {
  const { child, line, end } = npx(context);
  assert.equal(await line(), 'linger');
  child.kill('SIGKILL');
  assert.equal(await line(), 'SIGTERM');
  assert.equal(await line(), undefined, 'and nothing more until it ends');
  await end;
});

test('a signal to npx and all below it is not repeated when npx has gone', options, async (context) => {
  const { child, line } = npx(context);
  assert.equal(await line(), 'linger');
  toGroup(child, 'SIGTERM');
  const said = [];
  for (let one = await line(); one !== undefined; one = await line()) said.push(one);
  // From the group and from the launcher, at once.
  assert.ok(said.length <= 2 && said.every((signal) => signal === 'SIGTERM'), String(said));
});
