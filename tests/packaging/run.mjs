// Packs the npm package, installs it into an empty project, and uses it there as strangers do: from
// Node, from TypeScript, in pages built by Vite and webpack, and in pages that nothing built. `npm test` calls it.
//
//   node tests/packaging/run.mjs [case ...]
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { serving } from './browser.mjs';
import { MODULES, check, checkOpens, checkPage, filesIn, plainPage, readyMade, root, run, runCases, ts } from './project.mjs';
import { sizeProblem } from './sizes.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const bin = (name) => join(root, 'node_modules', '.bin', name);

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

await runCases(cases, process.argv.slice(2));
