// The package in the tools that this repository has: Node, pages built by Vite and webpack, and pages that nothing built.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serving } from './browser.mjs';
import { checkOpens, checkPage, plainPage, readyMade, run } from './project.mjs';

/** Options to open a page under a content security policy; its console may complain about the policy. */
const policy = (content) => ({ headers: { 'content-security-policy': content }, errors: true });

/** The cases, in order; each gets the project the package is installed in. */
export const usual = {
  'Node: main entry in a worker thread': ({ project }) => run(process.execPath, ['node-main.mjs'], { cwd: project }),
  'Node: client entry': ({ project }) => run(process.execPath, ['node-client.mjs'], { cwd: project }),
  'Node: main entry in the calling thread': ({ project }) => run(process.execPath, ['node-own-thread.mjs'], { cwd: project }),

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
    const page = await readFile(join(project, 'index.html'), 'utf8');
    await writeFile(input, page.replace('./page.js', './page-own-worker.js'));
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

  'webpack: build and open': async ({ project }) => checkPage(await byWebpack(project, 'out-webpack', './page.js')),

  'webpack: a worker of the page that imports refloat/worker': async ({ project }) =>
    checkOpens(await byWebpack(project, 'out-webpack-worker', './page-own-worker.js')),

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

  'plain page: from another origin under a content security policy': async ({ project }) => {
    const there = join(project, 'out-elsewhere');
    await readyMade(project, there);
    await serving(there, { 'access-control-allow-origin': '*' }, async (origin) => {
      const from = `${origin}/browser/refloat.js`;
      const rest = `default-src 'self'; script-src 'self' ${origin} 'wasm-unsafe-eval'`;
      const whole = await plainPage(project, 'out-cross-policy', from);
      await checkOpens(whole, /^ok$/, policy(`${rest}; worker-src blob: ${origin}; connect-src ${origin}`));
      const loads = await plainPage(project, 'out-cross-refused', from, 'page-load.js');
      const refused = new RegExp(`^NO_WORKER .*${origin}/browser/worker\\.js.* worker-src .* allows blob: and ${origin},`);
      await checkOpens(loads, refused, policy(`${rest}; worker-src ${origin}; connect-src ${origin}`));
      await checkOpens(loads, refused, policy(`${rest}; worker-src blob:; connect-src ${origin}`));
      await checkOpens(loads, /^NETWORK .*connect-src/, policy(`${rest}; worker-src blob: ${origin}`));
    });
  },

  'plain page: failures to start are explained': async ({ project }) => {
    const out = await plainPage(project, 'out-failing', './refloat/browser/refloat.js', 'page-load.js');
    await readyMade(project, join(out, 'refloat'));
    await checkOpens(out, /^ok$/, policy("default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"));
    await checkOpens(out, /^NO_WASM .*'wasm-unsafe-eval'/, policy("default-src 'self'; script-src 'self'"));
    await checkOpens(out, /^NO_WORKER .*browser\/worker\.js.* worker-src .* allows the worker's URL,/, policy("script-src 'self' 'wasm-unsafe-eval'; worker-src 'none'"));
    await checkOpens(out, /^NO_WORKER .*browser\/worker\.js.*createScriptURL/, policy("require-trusted-types-for 'script'"));
    await rm(join(out, 'refloat/browser/worker.js'));
    await checkOpens(out, /^NO_WORKER .*browser\/worker\.js.*\{ worker \}/, { errors: true });
  },
};

/** Builds a page of the project with webpack from its entry script. Returns the folder. */
async function byWebpack(project, name, entry) {
  const { default: webpack } = await import('webpack');
  const out = join(project, name);
  await mkdir(out, { recursive: true });
  await new Promise((resolve, reject) => {
    webpack(
      { mode: 'production', context: project, entry, output: { path: out, filename: 'page.js', publicPath: 'auto' }, performance: { hints: false } },
      (error, stats) => {
        if (error) reject(error);
        else if (stats.hasErrors() || stats.hasWarnings()) reject(new Error(stats.toString({ all: false, errors: true, warnings: true })));
        else resolve();
      },
    );
  });
  const page = await readFile(join(project, 'index.html'), 'utf8');
  await writeFile(join(out, 'index.html'), page.replace('type="module" src="./page.js"', 'src="page.js"'));
  return out;
}
