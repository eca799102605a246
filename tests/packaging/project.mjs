// The package, packed and installed in an empty project, and what is done with it there.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium, visit } from './browser.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** The repository, and the package in it. */
export const root = join(here, '..', '..');
export const ts = join(root, 'ts');

/** The package's wasm modules, by its own list. */
export const MODULES = Object.keys(JSON.parse(await readFile(join(ts, 'package.json'), 'utf8')).exports)
  .map((path) => /^\.\/(refloat_\w+)\.wasm$/.exec(path)?.[1])
  .filter((name) => name !== undefined);

/** Why a case was not run. */
export class Skip extends Error {}

/** Runs a program to its end; its output is shown when it fails. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (data) => (output += data);
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`));
    });
  });
}

/** The files of a folder, however deep. */
export async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((e) => e.isFile()).map((e) => relative(folder, join(e.parentPath, e.name)));
}

/** Throws unless a condition holds. */
export function check(condition, message) {
  if (!condition) throw new Error(message);
}

/** Checks that a page has every module but the client's, and the worker, once each. */
export async function checkPage(folder) {
  const files = await filesIn(folder);
  const wasm = files.filter((f) => f.endsWith('.wasm'));
  const wanted = MODULES.length - 1;
  check(wasm.length === wanted, `${wanted} wasm modules expected, found ${wasm.join(', ') || 'none'} in ${files.join(', ')}`);
  const scripts = files.filter((f) => f.endsWith('.js'));
  check(scripts.length >= 2, `a page and a worker expected, found ${scripts.join(', ')}`);
  for (const file of scripts) {
    const text = await readFile(join(folder, file), 'utf8');
    check(!text.includes('data:application/wasm'), `${file} has the wasm inlined`);
    check(!/node:(fs|worker_threads)/.test(text), `${file} imports a module of Node`);
  }
  await checkOpens(folder);
}

/** Opens a page, and checks its verdict. */
export async function checkOpens(folder, verdict = /^ok$/, options) {
  const chromium = findChromium();
  if (!chromium) throw new Skip('not opened, because there is no Chromium here');
  const result = await visit(chromium, folder, options);
  check(verdict.test(result), `the page reports: ${result}`);
}

/** A page without a bundler: the consumer's, with the package's files where `from` says. */
export async function plainPage(project, name, from, script = 'page.js') {
  const out = join(project, name);
  await mkdir(out, { recursive: true });
  const page = await readFile(join(project, script), 'utf8');
  await writeFile(join(out, 'page.js'), page.replace("from 'refloat'", `from '${from}'`));
  for (const file of ['index.html', 'journey.mjs']) await cp(join(project, file), join(out, file));
  return out;
}

/** The ready-made files of the package, as somebody puts them beside a page. */
export async function readyMade(project, to) {
  for (const part of ['browser', 'wasm']) await cp(join(project, 'node_modules/refloat/dist', part), join(to, part), { recursive: true });
}

/**
 * Runs the named cases, or all of them, in a project of their own; the last line counts them. Before that, `after` gets the end of
 * each: its name, and nothing or what went wrong.
 */
export async function runCases(cases, wanted, after = () => undefined) {
  const unknown = wanted.filter((name) => !(name in cases));
  if (unknown.length) throw new Error(`no case is called ${unknown.join(', ')}; there are: ${Object.keys(cases).join('; ')}`);
  check(existsSync(join(ts, 'dist', 'index.js')), 'the package is not built: npm run build:ts');

  const project = await mkdtemp(join(tmpdir(), 'refloat-packaging-'));
  const count = { passed: 0, failed: 0, skipped: 0 };
  const ends = [];
  try {
    const packed = JSON.parse(await run('npm', ['pack', '--json', '--silent', '--pack-destination', project], { cwd: ts }));
    const tarball = join(project, packed[0].filename);
    await cp(join(here, 'consumer'), project, { recursive: true });
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', tarball], { cwd: project });
    for (const [name, action] of Object.entries(cases)) {
      if (wanted.length && !wanted.includes(name)) continue;
      try {
        await action({ project, tarball });
        count.passed += 1;
        ends.push({ name });
        console.log(`ok - ${name}`);
      } catch (error) {
        if (error instanceof Skip) {
          count.skipped += 1;
          ends.push({ name, why: `not run: ${error.message}` });
          console.log(`SKIPPED - ${name}: ${error.message}`);
        } else {
          count.failed += 1;
          ends.push({ name, why: `fails: ${String(error.message ?? error).split('\n')[0]}` });
          console.log(`not ok - ${name}\n${error.stack ?? error}`);
        }
      }
    }
  } finally {
    await rm(project, { recursive: true, force: true });
  }
  await after(ends);
  const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
  console.log(`${count.passed} passed, ${count.failed} failed${skipped}`);
  process.exitCode = count.failed ? 1 : 0;
}
