// The package with the tools that people use: those of `npm test`, and others, each installed from the registry; all build or run
// the consumer's project. The last lines are a table for the package's README. This takes too long and too much room for `npm test`;
// `npm run test:consumers` calls it.
//
//   node tests/packaging/consumers.mjs [case ...]
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findChromium } from './browser.mjs';
import { checkOpens, plainPage, readyMade, root, run, runCases } from './project.mjs';
import { usual } from './usual.mjs';

/** Versions that were tried; newer ones may differ. */
const TOOLS = {
  esbuild: '0.28.2',
  rollup: '4.68.7',
  '@rollup/plugin-node-resolve': '16.0.3',
  parcel: '2.16.4',
  next: '16.4.6',
  react: '19.3.1',
  'react-dom': '19.3.1',
  bun: '1.4.5',
  deno: '2.9.6',
};

/** Installs tools beside the package. */
async function install(project, ...names) {
  const wanted = names.map((name) => `${name}@${TOOLS[name]}`);
  await run('npm', ['install', '--no-audit', '--no-fund', '--silent', '--no-save', ...wanted], { cwd: project });
}

const tool = (project, name) => join(project, 'node_modules', '.bin', name);

/** A page whose bundler emits no file: the worker and the wasm modules lie beside it, ready-made, and the page says where. */
async function bundledPage(project, name, bundle) {
  const out = await plainPage(project, name, 'refloat', 'page-named-worker.js');
  await bundle(join(project, 'page-named-worker.js'), join(out, 'page.js'));
  await readyMade(project, join(out, 'refloat'));
  await checkOpens(out);
}

const cases = {
  ...usual,

  'esbuild: bundle and open': async ({ project }) => {
    await install(project, 'esbuild');
    await bundledPage(project, 'out-esbuild', (from, to) =>
      run(tool(project, 'esbuild'), [from, '--bundle', '--format=esm', '--minify', `--outfile=${to}`], { cwd: project }),
    );
  },

  'Rollup: bundle and open': async ({ project }) => {
    await install(project, 'rollup', '@rollup/plugin-node-resolve');
    await bundledPage(project, 'out-rollup', (from, to) =>
      run(
        tool(project, 'rollup'),
        [from, '--format', 'es', '--file', to, '--plugin', 'node-resolve={browser:true}', '--inlineDynamicImports'],
        { cwd: project },
      ),
    );
  },

  'Parcel: build and open': async ({ project }) => {
    await install(project, 'parcel');
    const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
    const resolver = { packageExports: true };
    await writeFile(join(project, 'package.json'), JSON.stringify({ ...manifest, '@parcel/resolver-default': resolver }));
    const out = join(project, 'out-parcel');
    await run(tool(project, 'parcel'), ['build', 'index.html', '--dist-dir', out, '--public-url', './', '--no-cache', '--no-source-maps'], { cwd: project });
    await checkOpens(out);
  },

  'Next (Turbopack): export and open': ({ project }) => next(project, 'out-next', ['--turbopack']),
  'Next (webpack): export and open': ({ project }) => next(project, 'out-next-webpack', ['--webpack']),

  'Bun: run': async ({ project }) => {
    await install(project, 'bun');
    for (const script of ['node-main.mjs', 'node-client.mjs', 'node-own-thread.mjs']) await run(tool(project, 'bun'), ['run', script], { cwd: project });
  },

  'Bun: bundle for a page, and open': async ({ project }) => {
    await install(project, 'bun');
    await bundledPage(project, 'out-bun', (from, to) =>
      run(tool(project, 'bun'), ['build', from, '--target=browser', '--minify', `--outfile=${to}`], { cwd: project }),
    );
  },

  'Bun: one executable, and run': async ({ project }) => {
    await install(project, 'bun');
    const binary = join(project, 'out-compiled');
    await run(tool(project, 'bun'), ['build', '--compile', 'bun-compiled.mjs', `--outfile=${binary}`], { cwd: project });
    // Run in a folder that has nothing of the package.
    await run(binary, [], { cwd: '/' });
  },

  'Deno: run': async ({ project }) => {
    await install(project, 'deno');
    for (const script of ['node-main.mjs', 'node-client.mjs', 'node-own-thread.mjs']) {
      await run(tool(project, 'deno'), ['run', '--allow-all', '--node-modules-dir=manual', script], { cwd: project });
    }
  },
};

/** An application of Next with one page, exported as files. */
async function next(project, name, flags) {
  await install(project, 'next', 'react', 'react-dom');
  const app = join(project, name);
  await mkdir(join(app, 'app'), { recursive: true });
  const files = {
    'package.json': JSON.stringify({ name, private: true, type: 'module' }),
    'next.config.mjs': "export default { output: 'export', distDir: 'out' };\n",
    'app/layout.jsx': 'export default function Layout({ children }) {\n  return <html lang="en"><body>{children}</body></html>;\n}\n',
    'app/page.jsx': `'use client';
import { useEffect, useState } from 'react';
import { Refloat } from 'refloat';
import { journey } from './journey.mjs';

export default function Page() {
  const [result, setResult] = useState('');
  useEffect(() => {
    (async () => {
      const rf = await Refloat.load();
      await journey(rf);
      rf.close();
      return 'ok';
    })().then(setResult, (error) => setResult(String(error?.stack ?? error)));
  }, []);
  return <p id="result">{result}</p>;
}
`,
  };
  for (const [file, text] of Object.entries(files)) await writeFile(join(app, file), text);
  await cp(join(project, 'journey.mjs'), join(app, 'app', 'journey.mjs'));
  await run(tool(project, 'next'), ['build', ...flags], { cwd: app, env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', CI: '1' } });
  // Next's page asks for an icon, so an error is expected.
  await checkOpens(join(app, 'out'), /^ok$/, { errors: true });
}

/** The version of what a case ran; `tool` is the first word of its name. */
async function versionOf(tool) {
  if (tool === 'Node') return process.versions.node;
  if (tool === 'Vite' || tool === 'webpack') return JSON.parse(await readFile(join(root, 'node_modules', tool.toLowerCase(), 'package.json'), 'utf8')).version;
  if (tool === 'plain page') return /Chromium \d+/.exec(await run(findChromium() ?? 'chromium', ['--version']).catch(() => ''))?.[0] ?? '';
  return TOOLS[tool.toLowerCase().replace(/ .*/, '')] ?? '';
}

await runCases(cases, process.argv.slice(2), async (ends) => {
  console.log('\n| with | version | what | |\n| --- | --- | --- | --- |');
  const rows = new Map();
  for (const { name, why = 'works' } of ends) {
    const [tool, what] = name.split(/: (.*)/s);
    const key = `${tool}\n${why}`;
    rows.set(key, [...(rows.get(key) ?? []), what]);
  }
  for (const [key, what] of rows) {
    const [tool, why] = key.split('\n');
    console.log(`| ${tool} | ${await versionOf(tool)} | ${what.join('; ')} | ${why} |`);
  }
  console.log();
});
