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

/** Says what it is told, and ends as its first argument says. */
const PROGRAM = `#!${process.execPath}
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => {
  console.log(signal);
  if (signal === 'SIGTERM') process.exit(3);
});
console.log(process.argv.slice(2).join(' '));
const [way] = process.argv.slice(2);
if (way === 'end') process.exit(7);
else if (way === 'die') process.kill(process.pid, 'SIGKILL');
else setInterval(() => {}, 1000);
`;

/** Installs the launcher and the program, and starts a command of the package. Its lines are read one by one; `end` is its end. */
function launched(context, command, ...args) {
  const folder = mkdtempSync(join(tmpdir(), 'refloat-launch-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const modules = join(folder, 'node_modules');
  const binary = join(modules, '@refloat', `server-${platform}`);
  mkdirSync(join(binary, 'bin'), { recursive: true });
  writeFileSync(join(binary, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(binary, 'bin', 'refloat'), PROGRAM, { mode: 0o755 });
  cpSync(serverPackage, join(modules, 'refloat-server'), { recursive: true });
  const child = spawn(process.execPath, [join(modules, 'refloat-server', 'bin', command), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: async () => (await lines.next()).value, end: new Promise((settle) => child.on('close', settle)) };
}

test('arguments and exit codes are the program\'s', { skip }, async (context) => {
  const ended = launched(context, 'refloat.js', 'end', 'two words');
  assert.equal(await ended.line(), 'end two words');
  assert.equal(await ended.end, 7);
  const server = launched(context, 'refloat-server.js', '--listen', 'x');
  assert.equal(await server.line(), 'serve --listen x');
  server.child.kill('SIGTERM');
  assert.equal(await server.end, 3);
});

test('a program that dies by a signal ends the launcher as a shell would', { skip }, async (context) => {
  assert.equal(await launched(context, 'refloat.js', 'die').end, 128 + 9);
});

test('each signal to the launcher reaches the program once', { skip }, async (context) => {
  const { child, line, end } = launched(context, 'refloat.js', 'wait');
  assert.equal(await line(), 'wait');
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) {
    child.kill(signal);
    assert.equal(await line(), signal);
  }
  assert.equal(await line(), undefined);
  assert.equal(await end, 3);
});
