// `npm run release`: makes everything that a release consists of, in target/release-files, tries it, and lists it. It publishes
// nothing: the last lines say how that is done.
//
//   --dry-run       for an unfinished version: notes come from "Unreleased", and changes may be uncommitted
//   --quick         a rehearsal with binaries of the profile `quick`; only with --dry-run
//   --no-registry   leaves out the dry run of cargo publish, which asks the registry
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { bundledIn } from './lib/bundled.mjs';
import { contentsOf } from './lib/contents.mjs';
import { buildFor, missingFor } from './lib/cross.mjs';
import { linked } from './lib/elf.mjs';
import { Stop, begin, bold, dim, main, say } from './lib/log.mjs';
import { root, target } from './lib/paths.mjs';
import { librariesOfWindows } from './lib/pe.mjs';
import { prepare } from './lib/prepare.mjs';
import { PLATFORMS, THIRD_PARTY, archive, archiveReadme, digests, launcherPackage, layOut, notesOf, packNpm, platformManifest, releaseVersion } from './lib/release.mjs';
import { cargoProgress, must, run } from './lib/run.mjs';
import { runtimesOf } from './lib/runtimes.mjs';
import { cratesIn } from './lib/sbom.mjs';
import { unstamp } from './lib/stamp.mjs';
import { tryArchive } from './lib/try-archive.mjs';

const COMMAND = 'npm run release';

/** Crates in the order in which they are published. */
const CRATES = ['refloat', 'refloat-server'];

const OPTIONS = {
  'dry-run': { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  'no-registry': { type: 'boolean', default: false },
};

/** The target of the wasm modules in the page and the npm package. */
const WASM = 'wasm32-unknown-unknown';

/** The folder for the result, and the one in which packages are laid out. */
const out = join(target, 'release-files');
const parts = join(target, 'release-parts');

await main(async () => {
  const options = readOptions();
  const version = releaseVersion();
  const notes = await notesFor(version, options['dry-run']);
  await prepare();
  // What lies in the package's folder would be published: it is made anew.
  unstamp('ts');
  await build(['wasm', 'ts', 'demo']);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'NOTES.md'), notes);
  const time = (await run('git', ['log', '-1', '--format=%ct'])).output.trim();

  const made = [];
  for (const [platform, { system }] of Object.entries(PLATFORMS)) {
    if (await binary(platform, system, version, time, options.quick ? 'quick' : 'release')) made.push(platform);
  }
  const left = Object.keys(PLATFORMS).length - made.length;
  if (left && !options['dry-run']) throw new Stop(`${left} of the platforms' binaries could not be made; refloat-server asks for all of them`);
  const own = `${process.platform}-${process.arch}`;
  if (own in PLATFORMS && !made.includes(own)) throw new Stop(`the binary for this machine, ${own}, could not be made, so the packages cannot be tried`);
  await packages(version, made);
  if (!options['no-registry']) await crates();
  const step = begin("the README's quick start by these packages, without a compiler");
  if (!made.includes(own)) step.skip(bold(`skipped: there is no release for ${own}`));
  else {
    const tried = await must(step, process.execPath, [join(root, 'tests', 'packaging', 'quick-start.mjs'), out]);
    step.done(tried.output.trim().split('\n').at(-1));
  }
  list(version, options);
});

function readOptions() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (values.quick && !values['dry-run']) throw new Error('--quick is for --dry-run: such binaries are not for publishing');
    return values;
  } catch (error) {
    throw new Stop(`${error.message}\nusage: ${COMMAND} [-- [--dry-run [--quick]] [--no-registry]]`);
  }
}

/** Notes on the version or, in a dry run, those under "Unreleased" if it has none. */
async function notesFor(version, dry) {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const notes = notesOf(changelog, version) ?? (dry ? notesOf(changelog, 'Unreleased') : undefined);
  if (!notes) throw new Stop(`CHANGELOG.md has no section [${version}]; give "Unreleased" that name and a date, or use --dry-run`);
  const changed = (await run('git', ['status', '--porcelain'])).output.trim();
  if (changed && !dry) throw new Stop(`a release is made of what is committed; these files are not, or use --dry-run:\n${changed}`);
  return notes;
}

/** Builds a binary, makes its archive and its package, and tries the archive. Returns whether that was possible. */
async function binary(platform, system, version, time, profile) {
  const missing = await missingFor(system, true, COMMAND);
  const step = begin(`binary for ${PLATFORMS[platform].said}`);
  if (missing) {
    step.skip(bold(`skipped: ${missing}`));
    return false;
  }
  const path = await buildFor(system, step, profile);
  if (platform.startsWith('win32')) librariesOfWindows(path);
  else if (linked(path).loader || linked(path).libraries.length) throw new Stop(`${path} needs shared libraries`);
  const { json, licences } = await contents({ name: 'refloat', version }, ['refloat-server', system], ['refloat-wasm', WASM, 'demo']);
  writeFileSync(join(out, `refloat-${version}-${platform}.cdx.json`), json);

  const folder = join(parts, `refloat-${version}-${platform}`);
  layOut(folder, path, json, licences);
  writeFileSync(join(folder, 'README.md'), archiveReadme(platform, version));
  const archived = join(out, `${basename(folder)}.tar.gz`);
  await archive(step, folder, archived, time);
  platformManifest(folder, platform, version);
  await packNpm(folder, out);
  step.done(await tryArchive(step, system, archived));
  return true;
}

/** The bill of materials and the licences of an artefact; each part has a crate, its target, and perhaps an npm workspace. */
async function contents(own, ...made) {
  const parts = [];
  for (const [crate, system, workspace] of made) {
    parts.push({ crates: await cratesIn(crate, system), runtimes: await runtimesOf(system), bundled: workspace ? bundledIn(workspace) : [] });
  }
  return contentsOf(own, parts);
}

/** The npm packages that are the same on all platforms. */
async function packages(version, made) {
  const step = begin('packages for npm');
  const { json, licences } = await contents({ name: 'refloat', version, type: 'library' }, ['refloat-wasm', WASM, 'ts']);
  writeFileSync(join(out, `refloat-${version}-npm.cdx.json`), json);
  writeFileSync(join(root, 'ts', 'dist', THIRD_PARTY), licences);
  await packNpm(join(root, 'ts'), out);
  const folder = join(parts, 'refloat-server');
  launcherPackage(folder);
  await packNpm(folder, out);
  step.done(`with binaries for ${made.join(', ') || 'no platform'}`);
}

/** A dry run of publishing the crates. */
async function crates() {
  const step = begin(`cargo publish --dry-run: ${CRATES.join(', ')}`);
  const names = CRATES.flatMap((name) => ['--package', name]);
  await must(step, 'cargo', ['publish', '--dry-run', '--allow-dirty', '--locked', ...names], cargoProgress(step));
  step.done();
}

function list(version, options) {
  const files = digests(out);
  writeFileSync(join(out, 'SHA256SUMS'), files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));
  say();
  const wide = Math.max(...files.map(({ name }) => name.length));
  for (const { name, bytes } of files) say(`  ${name.padEnd(wide)}  ${String(bytes).padStart(10)} bytes`);
  say(dim(`  in ${out}, with their digests in SHA256SUMS`));
  say();
  if (options['dry-run']) return say(`refloat ${version}: dry run. Nothing was published.`);
  const tarballs = files.map(({ name }) => name).filter((name) => name.endsWith('.tgz'));
  // The launcher comes last, because it depends on the packages for platforms.
  const last = `refloat-server-${version}.tgz`;
  say(`refloat ${version} is made. To publish it:`);
  say(`  git tag v${version} && git push origin v${version}`);
  for (const name of CRATES) say(`  cargo publish --package ${name}`);
  for (const name of [...tarballs.filter((name) => name !== last), last]) say(`  npm publish --access public ${join(out, name)}`);
  const downloads = files.map(({ name }) => name).filter((name) => /\.(tar\.gz|cdx\.json)$/.test(name));
  say(`  and attach to the tag, with NOTES.md as its notes: ${[...downloads, 'SHA256SUMS'].join(', ')}`);
}
