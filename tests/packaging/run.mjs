// Packs the npm package, installs it into an empty project, and uses it there as strangers do: from Node, from TypeScript, in pages
// built by Vite and webpack, and in pages without a bundler. `npm test` calls it.
//
//   node tests/packaging/run.mjs [case ...]
import { cp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { MODULES, check, filesIn, root, run, runCases, ts } from './project.mjs';
import { sizeProblem } from './sizes.mjs';
import { usual } from './usual.mjs';

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

  'TypeScript: strict, NodeNext and bundler resolution': async ({ project }) => {
    for (const [module, moduleResolution] of [['NodeNext', 'NodeNext'], ['ESNext', 'Bundler']]) {
      const flags = ['--noEmit', '--module', module, '--moduleResolution', moduleResolution];
      await run(process.execPath, [bin('tsc'), '--project', 'tsconfig.json', ...flags], { cwd: project });
    }
  },

  'TypeScript: with and without the types of DOM and Node, from modules and from CommonJS': async ({ project }) => {
    // The same program in both kinds of files.
    await cp(join(project, 'libraries.mts'), join(project, 'common.cts'));
    // Node's types are taken from the repository, because the project has none.
    const typeRoots = [join(root, 'node_modules', '@types')];
    for (const [lib, types] of [[['ES2022'], []], [['ES2022'], ['node']], [['ES2022', 'DOM'], []], [['ES2022', 'WebWorker'], []], [['ESNext', 'DOM'], ['node']]]) {
      const compilerOptions = { target: 'ES2022', module: 'NodeNext', lib, types, typeRoots, strict: true, skipLibCheck: false, noEmit: true };
      await writeFile(join(project, 'libraries.json'), JSON.stringify({ compilerOptions, files: ['libraries.mts', 'common.cts'] }));
      await run(process.execPath, [bin('tsc'), '--project', 'libraries.json'], { cwd: project });
    }
  },

  ...usual,
};

await runCases(cases, process.argv.slice(2));
