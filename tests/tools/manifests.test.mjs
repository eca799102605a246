// The manifests of published packages agree with each other.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './lib/paths.mjs';

const read = (path) => readFileSync(join(root, path), 'utf8');
/** The table of a TOML file with this heading, up to the next. */
const table = (text, heading) => text.split(`\n[${heading}]\n`)[1].split('\n[')[0];
const value = (lines, key) => new RegExp(`^${key} = (.*)$`, 'm').exec(lines)?.[1];

const workspace = table(`\n${read('Cargo.toml')}`, 'workspace.package');
const CRATES = ['core/Cargo.toml', 'server/Cargo.toml'];
const PACKAGES = ['ts/package.json', 'server/npm/package.json'];

test('crates and packages agree on version, licence and authors', () => {
  const [version, license, authors] = ['version', 'license', 'authors'].map((key) => JSON.parse(value(workspace, key)));
  for (const path of CRATES) {
    const crate = table(`\n${read(path)}`, 'package');
    for (const key of ['version', 'license', 'authors', 'edition', 'rust-version']) assert.equal(value(crate, `${key}.workspace`), 'true', `${path}: ${key}`);
    for (const key of ['description', 'readme', 'keywords', 'categories']) assert.ok(value(crate, key), `${path}: ${key}`);
  }
  for (const path of PACKAGES) {
    const manifest = JSON.parse(read(path));
    assert.deepEqual([manifest.version, manifest.license, manifest.author], [version, license, ...authors], path);
    for (const key of ['description', 'keywords', 'engines', 'files']) assert.ok(manifest[key], `${path}: ${key}`);
  }
});

test('all of them name the repository, or none does', () => {
  const named = [
    ...CRATES.map((path) => (/^repository/m.test(table(`\n${read(path)}`, 'package')) ? value(workspace, 'repository') : undefined)),
    ...PACKAGES.map((path) => JSON.parse(read(path)).repository).map((one) => one?.url ?? one),
  ].map((address) => address?.replace(/^"|"$|^git\+|\.git$/g, ''));
  assert.equal(new Set(named).size, 1, named.join(', '));
});
