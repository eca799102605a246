// Packs the npm package, installs it into an empty project, and uses it there as strangers do: from
// Node, from TypeScript, and in pages built by Vite and webpack. `npm test` calls it.
//
//   node tests/packaging/run.mjs [case ...]
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { findChromium, serving, visit } from './browser.mjs';
import { sizeProblem } from './sizes.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const ts = join(root, 'ts');
const bin = (name) => join(root, 'node_modules', '.bin', name);

/** The package's wasm modules, by its own list. */
const MODULES = Object.keys(JSON.parse(await readFile(join(ts, 'package.json'), 'utf8')).exports)
  .map((path) => /^\.\/(refloat_\w+)\.wasm$/.exec(path)?.[1])
  .filter((name) => name !== undefined);

class Skip extends Error {}

/** Runs a program to its end; its output is shown when it fails. */
function run(command, args, options = {}) {
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

async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((e) => e.isFile()).map((e) => relative(folder, join(e.parentPath, e.name)));
}

function check(condition, message) {
  if (!condition) throw new Error(message);
}

/** A page is whole if it brings every module but the client's, and the worker along, once each. */
async function checkPage(folder) {
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
async function checkOpens(folder, verdict = /^ok$/, options) {
  const chromium = findChromium();
  if (!chromium) throw new Skip('not opened, because there is no Chromium here');
  const result = await visit(chromium, folder, options);
  check(verdict.test(result), `the page reports: ${result}`);
}

/** A page without a bundler: the consumer's, with the package's files where `from` says. */
async function plainPage(project, name, from, script = 'page.js') {
  const out = join(project, name);
  await mkdir(out, { recursive: true });
  const page = await readFile(join(project, script), 'utf8');
  await writeFile(join(out, 'page.js'), page.replace("from 'refloat'", `from '${from}'`));
  for (const file of ['index.html', 'journey.mjs']) await cp(join(project, file), join(out, file));
  return out;
}

/** The ready-made files of the package, as somebody puts them beside a page. */
async function readyMade(project, to) {
  for (const part of ['browser', 'wasm']) await cp(join(project, 'node_modules/refloat/dist', part), join(to, part), { recursive: true });
}

async function gzipped(file) {
  return gzipSync(await readFile(file), { level: 9 }).length;
}

/** The cases, in order; each gets the project the package is installed in. */
const cases = {
  publint: () => run(process.execPath, [bin('publint'), ts, '--strict']),

  'are the types wrong': ({ tarball }) => run(process.execPath, [bin('attw'), tarball, '--profile', 'esm-only']),

  'contents of the package': async ({ project }) => {
    const files = await filesIn(join(project, 'node_modules', 'refloat'));
    for (const wanted of [
      'README.md',
      'LICENSE-MIT',
      'LICENSE-APACHE',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/vendor/eventsource-parser/LICENSE',
      ...MODULES.map((name) => `dist/wasm/${name}_bg.wasm`),
    ]) {
      check(files.includes(wanted), `${wanted} is not in the package`);
    }
    const odd = files.filter((f) => /(^|\/)(src|tests|node_modules)\/|\.tsbuildinfo$|vitest/.test(f));
    check(odd.length === 0, `the package has files nobody needs: ${odd.join(', ')}`);
    check(files.filter((f) => f.endsWith('.wasm')).length === MODULES.length, 'there is more than one copy of a wasm module');
    const client = await readFile(join(project, 'node_modules/refloat/dist/wasm/refloat_client_bg.wasm'));
    const full = await readFile(join(project, 'node_modules/refloat/dist/wasm/refloat_full_bg.wasm'));
    check(client.length < full.length, `the client module (${client.length} bytes) is not smaller than the full one (${full.length})`);
  },

  'sizes of the artefacts': async ({ project }) => {
    const { limits, gzip } = JSON.parse(await readFile(join(here, 'sizes.json'), 'utf8'));
    check(Object.keys(gzip).join() === Object.keys(limits).join(), 'sizes.json has a limit and a size for each artefact');
    for (const [name, budget] of Object.entries(gzip)) {
      const bytes = await Promise.all([`${name}.js`, `${name}_bg.wasm`].map((file) => gzipped(join(project, 'node_modules/refloat/dist/wasm', file))));
      const problem = sizeProblem(name, bytes.reduce((a, b) => a + b), budget, limits[name]);
      check(!problem, problem);
    }
  },

  'Node: main entry in a worker thread': ({ project }) => run(process.execPath, ['node-main.mjs'], { cwd: project }),
  'Node: client entry': ({ project }) => run(process.execPath, ['node-client.mjs'], { cwd: project }),
  'Node: main entry in the own thread': ({ project }) => run(process.execPath, ['node-own-thread.mjs'], { cwd: project }),

  'TypeScript: strict, NodeNext and bundler resolution': async ({ project }) => {
    for (const [module, moduleResolution] of [['NodeNext', 'NodeNext'], ['ESNext', 'Bundler']]) {
      const flags = ['--noEmit', '--module', module, '--moduleResolution', moduleResolution];
      await run(process.execPath, [bin('tsc'), '--project', 'tsconfig.json', ...flags], { cwd: project });
    }
  },

  'TypeScript: with and without the types of DOM and Node, from modules and from CommonJS': async ({ project }) => {
    // Node's types, of which the project has none of its own.
    const typeRoots = [join(root, 'node_modules', '@types')];
    for (const [lib, types] of [[['ES2022'], []], [['ES2022'], ['node']], [['ES2022', 'DOM'], []], [['ES2022', 'WebWorker'], []], [['ESNext', 'DOM'], ['node']]]) {
      const compilerOptions = { target: 'ES2022', module: 'NodeNext', lib, types, typeRoots, strict: true, skipLibCheck: false, noEmit: true };
      await writeFile(join(project, 'libraries.json'), JSON.stringify({ compilerOptions, files: ['libraries.mts', 'common.cts'] }));
      await run(process.execPath, [bin('tsc'), '--project', 'libraries.json'], { cwd: project });
    }
  },

  'Vite: build and open': async ({ project }) => {
    const { build } = await import('vite');
    const out = join(project, 'out-vite');
    await build({ root: project, configFile: false, logLevel: 'silent', base: './', build: { outDir: out } });
    await checkPage(out);
  },

  'Vite: a worker of the page that imports refloat/worker': async ({ project }) => {
    const { build } = await import('vite');
    const out = join(project, 'out-vite-worker');
    const input = join(project, 'own-worker.html');
    await build({
      root: project,
      configFile: false,
      logLevel: 'silent',
      base: './',
      worker: { format: 'es' },
      build: { outDir: out, rolldownOptions: { input } },
    });
    await rename(join(out, 'own-worker.html'), join(out, 'index.html'));
    await checkOpens(out);
  },

  'webpack: build and open': async ({ project }) => {
    const { default: webpack } = await import('webpack');
    const out = join(project, 'out-webpack');
    await mkdir(out, { recursive: true });
    await new Promise((resolve, reject) => {
      webpack(
        { mode: 'production', context: project, entry: './page.js', output: { path: out, filename: 'page.js', publicPath: 'auto' }, performance: { hints: false } },
        (error, stats) => {
          if (error) reject(error);
          else if (stats.hasErrors() || stats.hasWarnings()) reject(new Error(stats.toString({ all: false, errors: true, warnings: true })));
          else resolve();
        },
      );
    });
    await writeFile(join(out, 'index.html'), (await readFile(join(project, 'index.html'), 'utf8')).replace('type="module" src="./page.js"', 'src="page.js"'));
    await checkPage(out);
  },

  'plain page: no bundler, no import map': async ({ project }) => {
    const out = await plainPage(project, 'out-plain', './refloat/browser/refloat.js');
    await readyMade(project, join(out, 'refloat'));
    await checkOpens(out);
  },

  'plain page: the package comes from another origin': async ({ project }) => {
    const there = join(project, 'out-elsewhere');
    await readyMade(project, there);
    await serving(there, { 'access-control-allow-origin': '*' }, async (origin) => {
      await checkOpens(await plainPage(project, 'out-cross', `${origin}/browser/refloat.js`));
    });
  },

  'plain page: what keeps it from starting is said': async ({ project }) => {
    const out = await plainPage(project, 'out-failing', './refloat/browser/refloat.js', 'page-load.js');
    await readyMade(project, join(out, 'refloat'));
    const policy = (content) => ({ headers: { 'content-security-policy': content }, errors: true });
    await checkOpens(out, /^ok$/, policy("default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"));
    await checkOpens(out, /^NO_WASM .*'wasm-unsafe-eval'/, policy("default-src 'self'; script-src 'self'"));
    await checkOpens(out, /^NO_WORKER .*browser\/worker\.js/, policy("script-src 'self' 'wasm-unsafe-eval'; worker-src 'none'"));
    await checkOpens(out, /^NO_WORKER .*browser\/worker\.js.*createScriptURL/, policy("require-trusted-types-for 'script'"));
    await rm(join(out, 'refloat/browser/worker.js'));
    await checkOpens(out, /^NO_WORKER .*browser\/worker\.js.*\{ worker \}/, { errors: true });
  },
};

async function main() {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in cases));
  if (unknown.length) throw new Error(`no case is called ${unknown.join(', ')}; there are: ${Object.keys(cases).join('; ')}`);
  check(existsSync(join(ts, 'dist', 'index.js')), 'the package is not built: npm run build:ts');

  const project = await mkdtemp(join(tmpdir(), 'refloat-packaging-'));
  const count = { passed: 0, failed: 0, skipped: 0 };
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
        console.log(`ok - ${name}`);
      } catch (error) {
        if (error instanceof Skip) {
          count.skipped += 1;
          console.log(`SKIPPED - ${name}: ${error.message}`);
        } else {
          count.failed += 1;
          console.log(`not ok - ${name}\n${error.stack ?? error}`);
        }
      }
    }
  } finally {
    await rm(project, { recursive: true, force: true });
  }
  const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
  console.log(`${count.passed} passed, ${count.failed} failed${skipped}`);
  process.exitCode = count.failed ? 1 : 0;
}

await main();
