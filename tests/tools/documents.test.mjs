// Scripts, cargo packages and cargo targets that documents name exist, and scripts know the options that they are shown with. The server's
// own tests check commands of `refloat` (server/src/cli/documented.rs).
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './lib/paths.mjs';

const FOLDERS = ['.', 'core', 'demo', 'server', 'server/deploy', 'server/npm', 'ts', 'wasm/cabi'];
const DOCUMENTS = FOLDERS.flatMap((folder) => readdirSync(join(root, folder)).filter((name) => name.endsWith('.md')).map((name) => join(folder, name)));
const read = (path) => readFileSync(join(root, path), 'utf8');
const scripts = (folder) => JSON.parse(read(join(folder, 'package.json'))).scripts ?? {};

/** The commands in code blocks and between back quotes, without comments. */
function commands(text) {
  const blocks = [...text.matchAll(/^```\w*\n([^]*?)^```/gm)].flatMap(([, block]) => block.replaceAll('\\\n', ' ').split('\n'));
  const quoted = [...text.replace(/^```\w*\n[^]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, code]) => code.replace(/\s+/g, ' '));
  return [...blocks, ...quoted].flatMap((line) => line.replace(/\s#.*/, '').split(/&&|;/)).map((line) => line.trim()).filter(Boolean);
}

/** The npm script that a command runs, with its folder and arguments, if it runs one. */
function script(command) {
  const [, run, name, rest] = /^npm (run |)(\S+)(.*)$/.exec(command) ?? [];
  if (!run && name !== 'start' && name !== 'test') return undefined;
  const [, folder = '.'] = /(?:-w|--workspace|--prefix) (\S+)/.exec(rest) ?? [];
  return { folder, name, given: rest.split(' -- ')[1] ?? '' };
}

/** The program of this repository that a shell line runs, and its arguments. */
function program(line) {
  const [, path, given] = /^(?:\w+=\S+ )*node (\S+\.mjs)(.*)$/.exec(line) ?? [];
  return path && { path, given };
}

/** Options of a command that its program does not know, either as a word with its hyphens or as an entry for `parseArgs`. */
function unknown(path, given) {
  const code = sourceOf(path).replace(/\/\*[^]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const options = [...given.matchAll(/(?<=^|\s)--([a-z][\w-]*)/g)].map(([, option]) => option);
  return options.filter((option) => !new RegExp(`'--${option}'|(?<=[\\s{,])'?${option}'?: (?:\\{|option\\b)`).test(code));
}

/** A program with what it imports from this repository. */
function sourceOf(path, seen = new Set()) {
  if (seen.has(path)) return '';
  seen.add(path);
  const text = read(path);
  const imported = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, from]) => join(path, '..', from)).filter((file) => existsSync(join(root, file)));
  return text + imported.map((file) => sourceOf(file, seen)).join('');
}

test('scripts and programs that documents name exist, with their options', () => {
  const faults = [];
  let count = 0;
  for (const document of DOCUMENTS) {
    for (const command of commands(read(document))) {
      const named = script(command);
      const line = named ? scripts(named.folder)[named.name] : undefined;
      if (named && line === undefined) faults.push(`${document}: ${command}: no script ${named.name} in ${named.folder}`);
      const found = program(named ? `${line ?? ''} ${named.given}` : command);
      if (!named && !found) continue;
      count += 1;
      if (!found) continue;
      const path = join(named?.folder ?? '.', found.path);
      if (!existsSync(join(root, path))) faults.push(`${document}: ${command}: there is no ${path}`);
      else faults.push(...unknown(path, found.given).map((option) => `${document}: ${command}: ${path} knows no --${option}`));
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(count > 80, `only ${count} commands were found`);
});

/** Packages of the workspace, and their targets of a kind: those in the manifests, and the files and folders where cargo looks. */
const members = ['core', 'wasm', 'wasm/builder', 'wasm/cabi', 'server', 'tests'];
const packages = members.map((folder) => /^name = "([^"]+)"/m.exec(read(join(folder, 'Cargo.toml')))[1]);
function targets(kind) {
  return [...members, 'tests/fuzz'].flatMap((folder) => {
    const looked = join(root, folder, { test: 'tests', bench: 'benches', example: 'examples' }[kind]);
    const found = existsSync(looked) ? readdirSync(looked).map((name) => name.replace(/\.rs$/, '')) : [];
    const named = [...read(join(folder, 'Cargo.toml')).matchAll(new RegExp(`\\[\\[${kind}\\]\\]\\nname = "([^"]+)"`, 'g'))].map(([, name]) => name);
    return [...found, ...named];
  });
}

test('packages and targets of cargo that documents name exist', () => {
  const there = { package: packages, test: targets('test'), bench: targets('bench'), example: targets('example') };
  const faults = [];
  let count = 0;
  for (const document of DOCUMENTS) {
    for (const command of commands(read(document)).filter((line) => /^(?:\w+=\S+ )*cargo /.test(line))) {
      for (const [, option, name] of command.split(' -- ')[0].matchAll(/(?<=\s)(?:--(package|test|bench|example)|-p) (\S+)/g)) {
        count += 1;
        if (!there[option ?? 'package'].includes(name)) faults.push(`${document}: ${command}: there is no ${option ?? 'package'} ${name}`);
      }
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(count > 20, `only ${count} names were found`);
});

test('what is not a script, and what a script does not know, is told', () => {
  assert.deepEqual(script('npm run build:demo'), { folder: '.', name: 'build:demo', given: '' });
  assert.deepEqual(script('npm test --workspace tests/e2e -- -g WORDS'), { folder: 'tests/e2e', name: 'test', given: '-g WORDS' });
  assert.equal(script('npm install refloat'), undefined);
  assert.deepEqual(unknown('tests/tools/start.mjs', '--no-open --never-heard-of'), ['never-heard-of']);
  assert.deepEqual(unknown('tests/tools/benchmarks.mjs', '--only --words'), ['words'], 'a name of its own is not an option');
  assert.ok(targets('bench').includes('kernels') && targets('test').includes('guards') && targets('example').includes('02_bootstrap'));
  assert.deepEqual(commands('a `npm start` b\n```sh\nnpm test && x # y\n```\n'), ['npm test', 'x', 'npm start']);
});
