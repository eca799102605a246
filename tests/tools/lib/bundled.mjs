// npm packages whose code is part of what is released, besides refloat's own: dependencies, which a bundler puts into the page; what
// the package `refloat` carries in dist/vendor; and helper functions of the bundlers.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { licenceTexts } from './licences.mjs';
import { root } from './paths.mjs';

/** Bundlers that add code of their own, to load modules and to name them. */
const HELPERS = { demo: ['rolldown', 'vite'], ts: [] };

/** Matches the part of a licence file about what the package bundles for itself, such as a command line; that goes nowhere else. */
const OWN_PART = /^# Licenses of bundled dependencies[^]*$/m;

/** npm packages in the build of a workspace, `demo` or `ts`, which must have been built: {name, version, license, description, texts}. */
export function bundledIn(workspace) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const vendored = readdirSync(join(root, 'ts', 'dist', 'vendor'));
  const described = (description) => (name) => ({ name, description });
  const all = [
    ...runtimePackages(lock, workspace).map(described(undefined)),
    ...vendored.map(described(undefined)),
    ...HELPERS[workspace].map(described('helper functions that it adds to bundles')),
  ];
  return all.map(({ name, description }) => {
    const folder = join(root, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const texts = licenceTexts(folder).filter(({ file }) => /^licen[cs]e/i.test(file));
    return { name, version, license, description, texts: texts.map(({ file, text }) => ({ file, text: text.replace(OWN_PART, '') })) };
  });
}

/** Names of the packages that a workspace needs at run time, by a lock file; other workspaces are followed, but not named. */
export function runtimePackages({ packages }, workspace) {
  const [found, seen] = [new Set(), new Set()];
  const visit = (place) => {
    if (seen.has(place)) return;
    seen.add(place);
    const entry = packages[place];
    if (!entry) throw new Error(`package-lock.json has no ${place}`);
    if (entry.link) return visit(entry.resolved);
    const at = place.lastIndexOf('node_modules/');
    if (at >= 0) found.add(place.slice(at + 'node_modules/'.length));
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) visit(placeOf(packages, place, name));
  };
  visit(workspace);
  return [...found].sort();
}

/** Where Node finds a package that another one imports: beside it, or further up. */
function placeOf(packages, from, name) {
  for (let folder = from; ; folder = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '') {
    const place = `${folder ? `${folder}/` : ''}node_modules/${name}`;
    if (place in packages || !folder) return place;
  }
}
