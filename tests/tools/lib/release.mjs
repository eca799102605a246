// What a release is made of: packages for npm, archives, notes and digests, each put together from what was built.
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Stop } from './log.mjs';
import { demoDist, root } from './paths.mjs';
import { must, run } from './run.mjs';

/** Sources of the package `refloat-server`. */
export const serverPackage = join(root, 'server', 'npm');

export const LICENCES = ['LICENSE-MIT', 'LICENSE-APACHE'];

/** The file with the licences of others' code. */
export const THIRD_PARTY = 'THIRD-PARTY.txt';

/** Systems that binaries are released for, by the platform's name in Node. */
export const PLATFORMS = {
  'linux-x64': { system: 'x86_64-unknown-linux-musl', said: 'Linux on x86-64, one static file' },
  'linux-arm64': { system: 'aarch64-unknown-linux-musl', said: 'Linux on 64-bit ARM, one static file, not run on hardware' },
  'win32-x64': { system: 'x86_64-pc-windows-gnu', said: 'Windows on x86-64, built, not run' },
};

/** The version that all parts agree on. */
export function releaseVersion() {
  const cargo = /^\[workspace\.package\]\nversion = "([^"]+)"/m.exec(text('Cargo.toml'))?.[1];
  const ours = JSON.parse(text('server/npm/package.json'));
  const found = {
    'Cargo.toml': cargo,
    'ts/package.json': JSON.parse(text('ts/package.json')).version,
    'server/npm/package.json': ours.version,
    ...Object.fromEntries(Object.entries(ours.optionalDependencies).map(([name, version]) => [`${name} in server/npm/package.json`, version])),
  };
  const others = Object.entries(found).filter(([, version]) => version !== cargo);
  if (!cargo || others.length) throw new Stop(`versions differ: ${Object.entries(found).map(([where, version]) => `${where} ${version}`).join(', ')}`);
  const platforms = Object.keys(ours.optionalDependencies).map((name) => name.replace('@refloat/server-', ''));
  if (platforms.sort().join() !== Object.keys(PLATFORMS).sort().join()) {
    throw new Stop(`server/npm/package.json names the platforms ${platforms.join(', ')}, tests/tools/lib/release.mjs ${Object.keys(PLATFORMS).join(', ')}`);
  }
  return cargo;
}

/** The section of a changelog about a version, without the heading; undefined if there is no such heading. */
export function notesOf(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.startsWith(`[${version}]`));
  return section && `${section.slice(section.indexOf('\n') + 1).trim()}\n`;
}

/**
 * Lays out what a platform gets, in an empty folder: `bin` and `share`, where the binary looks for the demo, the licences, including
 * those of others, and the bill of materials. `pages` is the folder of the built demo.
 */
export function layOut(folder, binary, bill, licences, pages = demoDist) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const program = join(folder, 'bin', basename(binary));
  copyFileSync(binary, program);
  chmodSync(program, 0o755);
  cpSync(pages, join(folder, 'share', 'refloat', 'demo'), { recursive: true });
  for (const name of LICENCES) copyFileSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, THIRD_PARTY), licences);
  writeFileSync(join(folder, 'bom.cdx.json'), bill);
}

/** README.md of a platform's archive, whose paths are those that `layOut` makes. */
export function archiveReadme(platform, version) {
  const program = platform.startsWith('win32') ? 'bin\\refloat.exe' : 'bin/refloat';
  return `# refloat ${version} for ${PLATFORMS[platform].said}

The server and the command line of refloat, fully homomorphic encryption centred on bootstrapping. Nothing needs to be installed: keep the
folders \`bin\` and \`share\` beside each other, and start the program from wherever you are.

\`\`\`
${program} serve                      # http://127.0.0.1:7878, with the demo pages
${program} serve --allow-insecure     # offers the toy sets too
${program} serve --print-config       # all settings, explained
${program} about                      # version, arithmetic and processor
${program} --help                     # keys, encryption, jobs and decryption, with files
\`\`\`

The server stores evaluation keys and ciphertexts, never a secret key. By default it listens on this machine only, because it has no TLS.

- \`share/refloat/demo\`: the demo pages, which the server finds there.
- \`${THIRD_PARTY}\`: what the program and the pages are made of besides refloat, with licences; \`bom.cdx.json\` has the same as a bill of
  materials (CycloneDX 1.6).
- \`LICENSE-MIT\`, \`LICENSE-APACHE\`: the licence of refloat, either of them at your choice.

Young and unaudited: nobody outside the project has reviewed the cryptography.
`;
}

/** Packs a folder into an archive that depends on its contents and the time alone. */
export async function archive(step, folder, out, time) {
  const entries = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=go=rX,u+w'];
  const pack = ['--create', '--use-compress-program=gzip -9n', `--file=${out}`, `--directory=${join(folder, '..')}`, basename(folder)];
  await must(step, 'tar', [...entries, ...pack]);
}

/** Makes the package that has the binary of a platform: the layout, and a manifest which keeps it off other platforms. */
export function platformManifest(folder, platform, version) {
  const [os, cpu] = platform.split('-');
  const manifest = {
    name: `@refloat/server-${platform}`,
    version,
    description: `The binary of refloat-server for ${PLATFORMS[platform].said}`,
    license: 'MIT OR Apache-2.0',
    author: 'the refloat authors',
    os: [os],
    cpu: [cpu],
    preferUnplugged: true,
    files: ['bin', 'share', ...LICENCES, THIRD_PARTY, 'bom.cdx.json'],
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), `# @refloat/server-${platform}\n\n${manifest.description}. Install \`refloat-server\`, which takes the right one.\n`);
}

/** Makes the package `refloat-server`, whose licences are those of the repository. */
export function launcherPackage(folder) {
  rmSync(folder, { recursive: true, force: true });
  cpSync(serverPackage, folder, { recursive: true });
  for (const name of LICENCES) copyFileSync(join(root, name), join(folder, name));
}

/** Packs a package for npm. Returns the file. */
export async function packNpm(folder, to) {
  const { code, output } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', to], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  if (code !== 0) throw new Stop(`npm pack of ${folder} ended with ${code}:\n${output}`);
  return join(to, JSON.parse(output)[0].filename);
}

/** The files of a folder, sorted by name, with bytes and SHA-256. */
export function digests(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const sha256 = createHash('sha256').update(readFileSync(join(folder, name))).digest('hex');
      return { name, bytes: statSync(join(folder, name)).size, sha256 };
    });
}

const text = (name) => readFileSync(join(root, name), 'utf8');
