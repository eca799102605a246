// Software bills of materials: the contents of an artefact by name, version, licence and digest, and which depends on which.
// Format: CycloneDX 1.6 (ECMA-424), in JSON.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './paths.mjs';
import { run } from './run.mjs';

/** The crates in a build of a package for a system; `options` choose the package's features. */
export async function cratesIn(name, system, options = []) {
  const metadata = JSON.parse(await output('cargo', ['metadata', '--locked', '--format-version', '1', '--filter-platform', system]));
  const tree = ['tree', '--locked', '--package', name, '--target', system, '--edges', 'normal,no-proc-macro', '--prefix', 'none', '--format', '{p}'];
  const linked = await output('cargo', [...tree, ...options]);
  return selected(metadata, linkedCrates(linked), checksums(readFileSync(join(root, 'Cargo.lock'), 'utf8')));
}

/** Merges lists of crates: a crate in several lists depends on all that it depends on in any. */
export function mergeCrates(...lists) {
  const merged = new Map();
  const key = ({ name, version }) => `${name} ${version}`;
  for (const each of lists.flat()) {
    const needs = new Map([...(merged.get(key(each))?.needs ?? []), ...each.needs].map((needed) => [key(needed), needed]));
    merged.set(key(each), { ...each, needs: [...needs.values()] });
  }
  return [...merged.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The bill of materials of an artefact with this `name` and `version`, and its contents. */
export function bill({ name, version, type = 'application' }, crates, others = []) {
  const ref = (crate) => `pkg:cargo/${crate.name}@${crate.version}`;
  const own = `refloat:${name}@${version}`;
  const components = [...crates.map((crate) => ({ ...component(crate), purl: ref(crate), 'bom-ref': ref(crate) })), ...others];
  const refs = components.map((each) => each['bom-ref']);
  const twice = refs.find((each, i) => refs.indexOf(each) < i);
  if (twice) throw new Error(`two components of ${name} are called ${twice}; give each its own bom-ref`);
  const needed = new Set(crates.flatMap(({ needs }) => needs.map(ref)));
  const direct = refs.filter((each) => !needed.has(each));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type, 'bom-ref': own, name, version, licenses: licences('MIT OR Apache-2.0') } },
    components,
    dependencies: [
      { ref: own, dependsOn: direct },
      ...crates.map((crate) => ({ ref: ref(crate), dependsOn: crate.needs.map(ref) })),
      ...others.map((each) => ({ ref: each['bom-ref'], dependsOn: [] })),
    ],
  };
}

/** An npm package whose code is in an artefact. */
export function npmComponent({ name, version, license, description }) {
  const purl = `pkg:npm/${name}@${version}`;
  return { type: 'library', name, version, description, licenses: licences(license), purl, 'bom-ref': purl };
}

/** A library linked by the compiler, one of `runtimesOf`. */
export function runtimeComponent({ name, version, license }) {
  const ref = `runtime:${name.toLowerCase().replaceAll(' ', '-')}@${version}`;
  return { type: 'library', name, version, licenses: licences(license), 'bom-ref': ref };
}

/** Names and versions that `cargo tree` lists, as `name version`. */
export function linkedCrates(listing) {
  return new Set([...listing.matchAll(/^(\S+) v(\S+)/gm)].map(([, name, version]) => `${name} ${version}`));
}

/** SHA-256 of every crate in a lock file that came from a registry, by `name version`. */
export function checksums(lock) {
  const entry = /\[\[package\]\]\nname = "([^"]+)"\nversion = "([^"]+)"\nsource = "registry[^"]*"\nchecksum = "([0-9a-f]{64})"/g;
  return new Map([...lock.matchAll(entry)].map(([, name, version, digest]) => [`${name} ${version}`, digest]));
}

/** The crates of `cargo metadata` whose `name version` is in `wanted`, sorted by name, each with its dependencies among them. */
export function selected({ packages, resolve }, wanted, digests) {
  const key = ({ name, version }) => `${name} ${version}`;
  const byId = new Map(packages.filter((each) => wanted.has(key(each))).map((each) => [each.id, each]));
  const missing = [...wanted].filter((each) => ![...byId.values()].some((found) => key(found) === each));
  if (missing.length) throw new Error(`cargo metadata does not know ${missing.join(', ')}`);
  const edges = new Map(resolve.nodes.map((node) => [node.id, node]));
  const isLinked = ({ pkg, dep_kinds }) => byId.has(pkg) && dep_kinds.some(({ kind }) => kind === null);
  return [...byId.values()]
    .map((each) => ({
      name: each.name,
      version: each.version,
      license: each.license ?? undefined,
      digest: digests.get(key(each)),
      folder: dirname(each.manifest_path),
      needs: edges.get(each.id).deps.filter(isLinked).map(({ pkg }) => byId.get(pkg)),
    }))
    .sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function component({ name, version, license, digest }) {
  const hashes = digest && [{ alg: 'SHA-256', content: digest }];
  return { type: 'library', name, version, licenses: license && licences(license), hashes };
}

/** A licence as an SPDX expression; a slash is how older manifests say `OR`. */
function licences(text) {
  return [{ expression: text.split('/').map((part) => part.trim()).join(' OR ') }];
}

async function output(command, args) {
  const { code, output: text } = await run(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}`);
  return text;
}
