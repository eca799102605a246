// Tests of what the commands rely on: counting, freshness, reading the picture, the contents of a release.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { binaryFor } from '../../server/npm/lib/launch.js';
import { allowedLicences, permits, refused } from './lib/allowed.mjs';
import { runtimePackages } from './lib/bundled.mjs';
import { contentsOf } from './lib/contents.mjs';
import { countTests, failedTests } from './lib/count.mjs';
import { linked } from './lib/elf.mjs';
import { cratesWithTexts, licenceTexts, thirdParty } from './lib/licences.mjs';
import { sizeProblem } from '../packaging/sizes.mjs';
import { root } from './lib/paths.mjs';
import { assemblyOf, cyclesOf, instructionsOf, loopsOf } from './lib/loops.mjs';
import { readGreyPng, toValues } from './lib/png.mjs';
import { median, timesOf } from './lib/pair.mjs';
import { librariesOfWindows } from './lib/pe.mjs';
import { PLATFORMS, archive, archiveReadme, digests, layOut, notesOf, releaseVersion } from './lib/release.mjs';
import { run } from './lib/run.mjs';
import { runtimesOf } from './lib/runtimes.mjs';
import { bill, checksums, linkedCrates, mergeCrates, npmComponent, selected } from './lib/sbom.mjs';
import { freePort, isFree, notReady } from './lib/server.mjs';
import { fingerprint } from './lib/stamp.mjs';
import { toysLeft } from './lib/toys.mjs';
import { tryArchive } from './lib/try-archive.mjs';

function scratch(context) {
  const folder = mkdtempSync(join(tmpdir(), 'refloat-tools-'));
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('the counts of every runner are read', () => {
  const cases = [
    ['test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n', [5, 0, 1]],
    ['test result: FAILED. 2 passed; 3 failed; 0 ignored\ntest result: ok. 4 passed; 0 failed; 0 ignored\n', [6, 3, 0]],
    ['      Tests  12 passed (12)\n', [12, 0, 0]],
    ['      Tests  1 failed | 11 passed | 2 skipped (14)\n', [11, 1, 2]],
    ['\u001b[2m      Tests \u001b[22m \u001b[32m11 passed\u001b[39m | 2 skipped (13)\n', [11, 0, 2]],
    ['# tests 8\n# pass 5\n# fail 1\n# cancelled 0\n# skipped 2\n', [5, 1, 2]],
    ['ℹ pass 3\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\n', [3, 0, 0]],
    ['4 passed, 1 failed\n', [4, 1, 0]],
    ['packaging: 4 passed, 0 failed, 1 skipped\n', [4, 0, 1]],
    ['nothing was said about tests\n', [0, 0, 0]],
  ];
  for (const [output, [passed, failed, skipped]] of cases) {
    assert.deepEqual(countTests(output), { passed, failed, skipped }, output);
  }
});

test('tests that failed are named, whichever runner ran them', () => {
  const cases = [
    ['test a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n    a::c\n', ['a::c']],
    ['\u001b[41m FAIL \u001b[49m tests/a.test.ts > keys > are kept\n FAIL  tests/a.test.ts > keys > are kept\n', ['tests/a.test.ts > keys > are kept']],
    ['ok 1 - one\nnot ok 2 - another\n', ['another']],
    ['✔ one (0.5ms)\n✖ another (12.3ms)\nℹ fail 1\n\n✖ failing tests:\n\n✖ another (12.3ms)\n', ['another']],
    ['  ✘   3 [chromium] › shell.mjs:9:1 › opens (1.2s)\n  ✘   4 [chromium] › shell.mjs:9:1 › opens (retry #1) (2s)\n', ['[chromium] › shell.mjs:9:1 › opens']],
    ['3 passed, 0 failed\n', []],
  ];
  for (const [output, names] of cases) assert.deepEqual(failedTests(output), names, output);
});

test('a fingerprint depends on names and contents, not on times', (context) => {
  const folder = scratch(context);
  const write = (name, text) => writeFileSync(join(folder, name), text);
  const print = () => fingerprint([folder, join(folder, 'absent')]);
  write('a', 'one');
  write('b', 'two');
  const first = print();
  utimesSync(join(folder, 'a'), 1, 1);
  assert.equal(print(), first);
  write('a', 'One');
  assert.notEqual(print(), first);
  write('a', 'one');
  assert.equal(print(), first);
  rmSync(join(folder, 'b'));
  assert.notEqual(print(), first);
});

test('every filter of a PNG is undone', (context) => {
  const path = join(scratch(context), 'picture.png');
  const [width, height] = [7, 5];
  const pixels = Uint8Array.from({ length: width * height }, (_, i) => (i * 89 + (i >> 2) * 31) & 255);
  const at = (x, y) => (x < 0 || y < 0 ? 0 : pixels[y * width + x]);
  // The five filters of the PNG specification, section 9, one a row.
  const guesses = [
    () => 0,
    (x, y) => at(x - 1, y),
    (x, y) => at(x, y - 1),
    (x, y) => (at(x - 1, y) + at(x, y - 1)) >> 1,
    (x, y) => {
      const around = [at(x - 1, y), at(x, y - 1), at(x - 1, y - 1)];
      const p = around[0] + around[1] - around[2];
      const distances = around.map((value) => Math.abs(p - value));
      return around[distances.indexOf(Math.min(...distances))];
    },
  ];
  const rows = [];
  for (let y = 0; y < height; y++) {
    rows.push(y, ...Array.from({ length: width }, (_, x) => (at(x, y) - guesses[y](x, y)) & 255));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const chunk = (type, data) => {
    const out = Buffer.alloc(data.length + 12);
    out.writeUInt32BE(data.length, 0);
    out.write(type, 4, 'latin1');
    data.copy(out, 8);
    out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
    return out;
  };
  const compressed = deflateSync(Buffer.from(rows));
  const cut = compressed.length >> 1; // image data may come in several chunks
  writeFileSync(
    path,
    Buffer.concat([
      Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
      chunk('IHDR', header),
      chunk('IDAT', compressed.subarray(0, cut)),
      chunk('IDAT', compressed.subarray(cut)),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
  assert.deepEqual(readGreyPng(path), { width, height, pixels });
});

test('the bundled picture becomes values in [-1, 1]', () => {
  const values = toValues(readGreyPng(join(root, 'demo', 'public', 'boat.png')), 64);
  assert.equal(values.length, 4096);
  assert.ok(values.every((value) => value >= -1 && value <= 1));
  assert.ok(Math.max(...values) - Math.min(...values) > 1, 'a picture has contrast');
  assert.deepEqual([...toValues({ width: 2, height: 2, pixels: [0, 255, 255, 0] }, 1)], [0]);
  assert.throws(() => toValues({ width: 3, height: 2, pixels: [] }, 2), /no equal blocks/);
});

test('a child tells its output and how it ended', async () => {
  const lines = [];
  const script = 'console.log("one"); process.stderr.write("two\\rthree"); process.exit(3)';
  const onLine = (line) => {
    lines.push(line);
    return line === 'two';
  };
  const { code, output } = await run(process.execPath, ['-e', script], { onLine });
  assert.equal(code, 3);
  assert.deepEqual(lines.sort(), ['one', 'three', 'two']);
  assert.deepEqual(output.trim().split('\n').sort(), ['one', 'three']);
  assert.equal((await run('no-such-program', [])).code, -1);
});

test('a child that hangs is stopped together with its own children', async () => {
  const nested = `require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'inherit' })`;
  // Without the group the grandchild would hold the pipe open, and this would never end.
  const { code, output } = await run(process.execPath, ['-e', nested], { limit: 500 });
  assert.equal(code, -1);
  assert.match(output, /longer than 0.5 s/);
});

test('a port in use is not taken for a free one', async (context) => {
  const port = await freePort();
  assert.ok(await isFree(port));
  const server = createServer().listen(port, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  assert.ok(!(await isFree(port)));
});

test('a server that is not ready is quoted', async (context) => {
  const why = '2 bytes are free on the disk of the data folder, storage.min_free_bytes is 3';
  let ready = false;
  const server = createHttpServer((_, response) => {
    response.writeHead(ready ? 200 : 503).end(ready ? 'ready' : JSON.stringify({ detail: why }));
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  assert.equal(await notReady(url), `/readyz answers 503: {"detail":"${why}"}`);
  ready = true;
  assert.equal(await notReady(url), undefined);
  assert.match(await notReady(`http://127.0.0.1:${await freePort()}`), /does not answer: .*ECONNREFUSED/);
});

test('an artefact may shrink, and grow by less than 5 % of its committed size', () => {
  for (const bytes of [1, 900, 1000, 1050]) assert.equal(sizeProblem('x', bytes, 1000, 2000), undefined, String(bytes));
  assert.match(sizeProblem('x', 1051, 1000, 2000), /5\.1 % more than the 1000/);
  assert.match(sizeProblem('x', 2001, 2000, 2000), /over its limit of 2000/);
});

test('the parts of a release have one version', () => {
  assert.match(releaseVersion(), /^\d+\.\d+\.\d+$/);
});

test('the notes of a release are its section of the changelog', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One.\n\n## [0.1.0] - 2026-01-02\n\n- Two.\n';
  assert.equal(notesOf(changelog, 'Unreleased'), '### Added\n\n- One.\n');
  assert.equal(notesOf(changelog, '0.1.0'), '- Two.\n');
  assert.equal(notesOf(changelog, '0.1'), undefined);
});

test("an archive's README names what the archive has", (context) => {
  for (const platform of Object.keys(PLATFORMS)) {
    const folder = join(scratch(context), platform);
    const binary = join(scratch(context), platform.startsWith('win32') ? 'refloat.exe' : 'refloat');
    const demo = scratch(context);
    writeFileSync(binary, '');
    layOut(folder, binary, '', '', demo);
    const said = archiveReadme(platform, '1.2.3').replaceAll('\\', '/');
    assert.match(said, new RegExp(`^# refloat 1\\.2\\.3 for ${PLATFORMS[platform].said}\n`));
    const paths = [...said.matchAll(/^(bin\/\S+)|`([^`\n]+)`/gm)].map(([, program, quoted]) => program ?? quoted);
    assert.ok(paths.length >= 9, paths.join());
    for (const path of paths) assert.ok(existsSync(join(folder, path)), `${platform}: ${path}`);
    assert.doesNotMatch(said, /\]\(/);
  }
});

test('digests are those of the files', (context) => {
  const folder = scratch(context);
  writeFileSync(join(folder, 'b'), 'abc');
  writeFileSync(join(folder, 'a'), '');
  // SHA-256 of "abc": FIPS 180-4, example.
  assert.deepEqual(digests(folder), [
    { name: 'a', bytes: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
    { name: 'b', bytes: 3, sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
  ]);
});

test('a bill of materials has what is linked, and what needs what', () => {
  const lock = '[[package]]\nname = "b"\nversion = "2.0.0"\nsource = "registry+x"\nchecksum = "' + '5a'.repeat(32) + '"\n\n[[package]]\nname = "a"\nversion = "1.0.0"\n';
  const needs = (pkg, kind = null) => ({ pkg, dep_kinds: [{ kind }] });
  const metadata = {
    packages: [
      { id: 'i', name: 'a', version: '1.0.0', license: 'MIT', manifest_path: '/a/Cargo.toml' },
      { id: 'j', name: 'b', version: '2.0.0', license: 'MIT/Apache-2.0', manifest_path: '/b/Cargo.toml' },
      { id: 'k', name: 'built-with', version: '3.0.0', license: 'MIT', manifest_path: '/k/Cargo.toml' },
    ],
    resolve: { nodes: [{ id: 'i', deps: [needs('j'), needs('k', 'build')] }, { id: 'j', deps: [] }, { id: 'k', deps: [] }] },
  };
  const wanted = linkedCrates('a v1.0.0 (/somewhere)\nb v2.0.0\nb v2.0.0 (*)\n');
  assert.deepEqual([...wanted], ['a 1.0.0', 'b 2.0.0']);
  const crates = selected(metadata, wanted, checksums(lock));
  const made = JSON.parse(JSON.stringify(bill({ name: 'x', version: '9' }, crates, [npmComponent({ name: 'n', version: '4.0.0', license: 'ISC' })])));
  assert.deepEqual(made.components.map(({ name }) => name), ['a', 'b', 'n']);
  assert.deepEqual(made.components[1], {
    type: 'library',
    name: 'b',
    version: '2.0.0',
    licenses: [{ expression: 'MIT OR Apache-2.0' }],
    hashes: [{ alg: 'SHA-256', content: '5a'.repeat(32) }],
    purl: 'pkg:cargo/b@2.0.0',
    'bom-ref': 'pkg:cargo/b@2.0.0',
  });
  assert.deepEqual(made.dependencies, [
    { ref: 'refloat:x@9', dependsOn: ['pkg:cargo/a@1.0.0', 'pkg:npm/n@4.0.0'] },
    { ref: 'pkg:cargo/a@1.0.0', dependsOn: ['pkg:cargo/b@2.0.0'] },
    { ref: 'pkg:cargo/b@2.0.0', dependsOn: [] },
    { ref: 'pkg:npm/n@4.0.0', dependsOn: [] },
  ]);
  assert.throws(() => selected(metadata, new Set(['c 1.0.0']), new Map()), /does not know c 1\.0\.0/);
});

test('a crate of two artefacts needs what it needs in either', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, version: '1.0.0', needs: [] }));
  const both = mergeCrates([{ ...a, needs: [b] }, b], [{ ...a, needs: [c, b] }, c]);
  assert.deepEqual(both.map(({ name, needs }) => [name, needs.map((each) => each.name)]), [['a', ['b', 'c']], ['b', []], ['c', []]]);
});

test('a crate may be under licences that .cargo/deny.toml allows, and under no others', () => {
  const allowed = allowedLicences(readFileSync(join(root, '.cargo', 'deny.toml'), 'utf8'));
  assert.ok(allowed.has('MIT') && allowed.has('Apache-2.0') && !allowed.has('GPL-3.0-only'));
  const expressions = {
    MIT: true,
    'GPL-3.0-only': false,
    'MIT/GPL-2.0': true,
    'Apache-2.0 / MIT': true,
    'Unlicense OR MIT': true,
    'MIT AND GPL-3.0-only': false,
    'GPL-3.0-only OR MIT AND Zlib': true,
    '(GPL-3.0-only OR MIT) AND Unicode-3.0': true,
    'MIT AND (GPL-2.0 OR GPL-3.0-only)': false,
    'Apache-2.0 WITH LLVM-exception': false,
    'Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT': true,
  };
  for (const [expression, permitted] of Object.entries(expressions)) assert.equal(permits(expression, allowed), permitted, expression);
  for (const bad of ['', '(MIT', 'MIT)', 'MIT MIT', 'MIT OR']) assert.throws(() => permits(bad, allowed), bad);
  const crates = [{ name: 'a', version: '1.0.0', license: 'MIT' }, { name: 'b', version: '2.0.0', license: null }, { name: 'c', version: '3.0.0', license: 'AGPL-3.0' }];
  assert.deepEqual(refused(crates, allowed), ['b 2.0.0: no licence in its manifest', 'c 3.0.0: AGPL-3.0']);
});

test('licences of others are found, and each is printed once', (context) => {
  const folder = scratch(context);
  mkdirSync(join(folder, 'carried', 'library'), { recursive: true });
  for (const name of ['LICENSE-MIT', 'NOTICE', 'lib.rs', join('carried', 'library', 'COPYING')]) writeFileSync(join(folder, name), `text of ${name}\n`);
  const texts = licenceTexts(folder);
  assert.deepEqual(texts.map(({ file }) => file), ['LICENSE-MIT', 'NOTICE', join('carried', 'library', 'COPYING')]);
  const ours = { name: 'refloat', version: '1.0.0', folder };
  const crates = cratesWithTexts([ours, { ...ours, name: 'b', license: 'MIT', digest: '00' }]);
  assert.deepEqual(crates.map(({ name }) => name), ['b']);
  // A crate without a text has that of the Apache licence, if it is under it.
  const bare = { ...ours, folder: scratch(context), digest: '00' };
  for (const [license, texts] of [['MIT', 0], ['Apache-2.0 WITH LLVM-exception', 0], ['MIT OR Apache-2.0', 1], ['Apache-2.0', 1]]) {
    assert.equal(cratesWithTexts([{ ...bare, license }])[0].texts.length, texts, license);
  }
  const same = { name: 'a', version: '2.0.0', license: 'ISC', texts: [{ file: 'LICENSE', text: 'text of NOTICE\r\n' }] };
  const said = thirdParty([...crates, same]);
  for (const { text } of texts) assert.equal(said.split(text.trim()).length, 2, text);
  assert.match(said, /^a 2\.0\.0 \(ISC\)\nb 1\.0\.0 \(MIT\)\n-+\n\ntext of NOTICE$/m);
  assert.throws(() => thirdParty([{ ...same, texts: [] }]), /no text of a licence in a 2\.0\.0/);
});

const STATIC = 'x86_64-unknown-linux-musl';
const { output: staticLibraries } = await run('rustc', ['--print', 'target-libdir', '--target', STATIC]);
const noMusl = !existsSync(staticLibraries.trim()) && `Rust has no ${STATIC}`;
const noMingw = !existsSync('/usr/share/doc/mingw-w64-x86-64-dev/copyright') && 'no mingw-w64';

test('Rust and the C library that a static file has are under licences too', { skip: noMusl }, async () => {
  const found = await runtimesOf(STATIC);
  assert.deepEqual(found.map(({ name }) => name), ['Rust standard library', 'musl']);
  assert.match(found[0].texts[0].text, /Copyright notices for The Rust Standard Library/);
  assert.doesNotMatch(found[0].texts[0].text, /<\/?(p|div|h1)\b/);
  assert.match(found[1].texts[0].text, /Rich Felker[^]*Permission is hereby granted/);
});

test('programs for Windows have the runtime of mingw-w64 and of GCC', { skip: noMingw }, async () => {
  const found = await runtimesOf('x86_64-pc-windows-gnu');
  assert.deepEqual(found.map(({ name }) => name), ['Rust standard library', 'mingw-w64 runtime', 'GCC runtime library']);
  assert.match(found[2].texts[0].text, /GCC RUNTIME LIBRARY EXCEPTION/);
});

test('whatever is named in THIRD-PARTY.txt is in the bill of materials', { skip: noMusl }, async () => {
  const own = { name: 'x', version: '9' };
  const crates = [{ name: 'a', version: '1.0.0', license: 'Apache-2.0', digest: '00', folder: root, needs: [] }];
  const bundled = [{ name: 'n', version: '4.0.0', license: 'ISC', texts: [{ file: 'LICENSE', text: 'text' }] }];
  // As in an archive: a static program, and the modules of its page, which have Rust's library and no C library.
  const systems = [STATIC, ...(noMingw ? [] : ['x86_64-pc-windows-gnu']), 'wasm32-unknown-unknown'];
  const parts = await Promise.all(systems.map(async (system) => ({ crates, runtimes: await runtimesOf(system), bundled })));
  const { json, licences } = contentsOf(own, parts);
  const { components, dependencies } = JSON.parse(json);
  const [, listed] = /itself:\n\n([^]*?)\n\nTheir licences/.exec(licences);
  const named = components.map(({ name, version, licenses: [{ expression }] }) => `${name} ${version} (${expression})`);
  assert.deepEqual(listed.split('\n').sort(), named.sort());
  const musl = components.find(({ name }) => name === 'musl');
  assert.match(musl.version, /^1\.\d+\.\d+$/);
  assert.ok(dependencies[0].dependsOn.includes(musl['bom-ref']), 'the artefact needs musl');
  // Two entries under one reference would be read as one.
  const same = npmComponent({ name: 'n', version: '4.0.0', license: 'ISC' });
  assert.throws(() => bill(own, [], [same, same]), /two components of x are called pkg:npm\/n@4\.0\.0/);
});

test('what a workspace runs with is found through other workspaces', () => {
  const packages = {
    page: { dependencies: { ours: '*', a: '1' }, devDependencies: { tool: '1' } },
    ours: { dependencies: { b: '1' } },
    'node_modules/ours': { link: true, resolved: 'ours' },
    'node_modules/a': { dependencies: { b: '2' } },
    'node_modules/a/node_modules/b': {},
    'node_modules/b': { optionalDependencies: { '@c/d': '1' } },
    'node_modules/@c/d': {},
    'node_modules/tool': {},
  };
  assert.deepEqual(runtimePackages({ packages }, 'page'), ['@c/d', 'a', 'b']);
  assert.throws(() => runtimePackages({ packages }, 'nothing'), /no nothing/);
});

test('the archive of a release is whole, and names no folder of this machine', { skip: process.platform === 'win32' }, async (context) => {
  const folder = scratch(context);
  const step = { fail() {}, update() {} };
  const pages = join(folder, 'pages');
  mkdirSync(pages);
  writeFileSync(join(pages, 'index.html'), '<!doctype html>');
  const tried = async (program, change = () => {}) => {
    const [laid, binary] = [join(folder, 'refloat-1-win32-x64'), join(folder, 'refloat.exe')];
    writeFileSync(binary, program);
    layOut(laid, binary, '{}', 'licences', pages);
    writeFileSync(join(laid, 'README.md'), 'read me');
    change(laid);
    await archive(step, laid, `${laid}.tar.gz`, 0);
    return tryArchive(step, 'x86_64-pc-windows-gnu', `${laid}.tar.gz`);
  };
  assert.equal(await tried('a program'), 'unpacked, not run');
  await assert.rejects(tried(`at ${root}/core/src/lib.rs`), /has names of folders of this machine in it: \//);
  await assert.rejects(tried('a program', (laid) => rmSync(join(laid, 'share'), { recursive: true })), /lacks share.refloat.demo.index\.html/);
  await assert.rejects(tried('a program', (laid) => rmSync(join(laid, 'bin', 'refloat.exe'))), /lacks bin.refloat\.exe/);
});

test('the binary is that of the platform', () => {
  const resolve = (name) => `/modules/${name}`;
  assert.equal(binaryFor('linux-x64', resolve), join('/modules/@refloat/server-linux-x64/bin/refloat'));
  assert.equal(binaryFor('win32-x64', resolve), join('/modules/@refloat/server-win32-x64/bin/refloat.exe'));
  assert.throws(() => binaryFor('sunos-x64', resolve), /no binary for sunos-x64, only for linux-arm64, linux-x64, win32-x64.*cargo install/);
  const absent = () => {
    throw new Error('not found');
  };
  assert.throws(() => binaryFor('linux-arm64', absent), /@refloat\/server-linux-arm64.*not installed.*--omit=optional/);
});

test('every toy set is bootstrapped on ARM, by the vectors or by the command line', () => {
  const names = /export interface SetNames \{([^}]*)\}/.exec(readFileSync(join(root, 'ts', 'src', 'sets.ts'), 'utf8'))[1];
  const rows = [...names.matchAll(/readonly '([\w-]+)': ([^;]*);/g)];
  const sets = rows.flatMap(([, method, list]) => [...list.matchAll(/'([^']+)'/g)].map(([, name]) => ({ name, method })));
  const toys = sets.filter(({ name }) => name.startsWith('toy')).map(({ name }) => name);
  const vectors = JSON.parse(readFileSync(join(root, 'tests', 'vectors', 'portable.json'), 'utf8'));
  const left = toysLeft(sets, vectors).map(({ name }) => name);
  const ofVectors = toys.filter((name) => !left.includes(name));
  assert.ok(ofVectors.includes('toy-link') && ofVectors.includes('toy10') && left.includes('toy-msb-link'), String(left));
  // A set that is not among these has a refreshed ciphertext in the vectors; without the vectors, all toys are left.
  assert.deepEqual(toysLeft(sets, {}).map(({ name }) => name), toys);
  for (const name of ofVectors) {
    const found = Object.values(vectors).filter(Array.isArray).flat().filter((set) => set.name === name);
    assert.ok(found.some(({ bootstrapped, nand, lookedUp }) => bootstrapped ?? nand ?? lookedUp), name);
  }
  assert.throws(() => toysLeft([{ name: 'toy-new', method: 'new' }], vectors), /toy-new is a set of new.*add a question/);
});

test('what a program asks of the system is read from its headers', { skip: process.platform !== 'linux' }, (context) => {
  const program = linked('/bin/sh');
  assert.match(program.loader, /ld-/);
  assert.ok(program.libraries.some((name) => /^libc\b/.test(name)), String(program.libraries));
  const path = join(scratch(context), 'text');
  writeFileSync(path, 'no program');
  assert.throws(() => linked(path), /no ELF file/);
});

test('what a program for Windows loads is read from its headers', (context) => {
  const folder = scratch(context);
  // Headers at 64, and one section at 512 in the file and 4096 in memory, with an import table and the names in it.
  const program = (...libraries) => {
    const bytes = Buffer.alloc(1024);
    bytes.write('MZ');
    bytes.writeUInt32LE(64, 60);
    bytes.write('PE', 64);
    bytes.writeUInt16LE(1, 70);
    bytes.writeUInt16LE(240, 84);
    bytes.writeUInt16LE(0x20b, 88);
    bytes.writeUInt32LE(4096, 208);
    for (const [at, number] of [[12, 4096], [16, 512], [20, 512]]) bytes.writeUInt32LE(number, 88 + 240 + at);
    libraries.forEach((name, i) => {
      bytes.writeUInt32LE(4096 + 200 + 40 * i, 512 + 20 * i + 12);
      bytes.write(name, 512 + 200 + 40 * i);
    });
    const path = join(folder, 'program.exe');
    writeFileSync(path, bytes);
    return path;
  };
  assert.deepEqual(librariesOfWindows(program('KERNEL32.dll', 'ntdll.dll', 'kernel32.dll')), ['kernel32.dll', 'ntdll.dll']);
  assert.throws(() => librariesOfWindows(program('kernel32.dll', 'libgcc_s_seh-1.dll')), /need not have: libgcc_s_seh-1.dll/);
  assert.throws(() => librariesOfWindows('/bin/sh'), /not a program for Windows/);
  const path = program('kernel32.dll');
  writeFileSync(path, readFileSync(path).subarray(0, 100));
  assert.throws(() => librariesOfWindows(path), /not a program for Windows/);
});

test('loops are taken from what was executed, the inner ones apart', () => {
  const listing = [
    '0000000000000ff0 <kernel>:',
    '     ff0:      \tmov\tx1, #0x8',
    '     ff4:      \tadd\tx2, x2, #0x1',
    '     ff8:      \tcbz\tx3, 0x1008 <kernel+0x18>',
    '     ffc:      \tmul\tx3, x3, x2',
    '    1000:      \tsubs\tx1, x1, #0x1',
    '    1004:      \tb.ne\t0xffc <kernel+0xc>',
    '    1008:      \tcbnz\tx2, 0xff4 <kernel+0x4>',
    '    100c:      \tret',
  ].join('\n');
  const instructions = instructionsOf(listing);
  assert.deepEqual([instructions.size, instructions.get(0x1004)], [8, { text: 'b.ne\t0xffc', to: 0xffc }]);
  const executed = new Map([[0xff0, 1], [0xff4, 4], [0xff8, 4], [0xffc, 30], [0x1000, 30], [0x1004, 30], [0x1008, 4], [0x100c, 1]]);
  const [inner, outer, ...others] = loopsOf(instructions, executed);
  assert.deepEqual([inner.from, inner.rounds, inner.executed], [0xffc, 30, 90]);
  assert.deepEqual([outer.from, outer.rounds, outer.executed, others], [0xff4, 4, 12, []]);
  assert.equal(assemblyOf(inner), 'head:\n\tmul\tx3, x3, x2\n\tsubs\tx1, x1, #0x1\n\tb.ne\thead\n');
  const report = (rounds, cycles) => `Iterations:        ${rounds}\nInstructions:      1\nTotal Cycles:      ${cycles}\n`;
  assert.equal(cyclesOf(report(400, 1010), report(200, 510)), 2.5);
  assert.throws(() => cyclesOf('error: unknown cpu', ''), /no cycles/);
});

test('times are found in what refloat bench says', () => {
  const ship = { keygenSeconds: 3, measurements: [{ mode: 'real', ciphertexts: 1, threads: 2, seconds: 0.5 }, { mode: 'real', ciphertexts: 8, threads: 2, seconds: 4 }] };
  assert.deepEqual(timesOf(ship), [['keys', 3], ['real, threads 2', 0.5], ['real, 8 ciphertexts, threads 2', 4]]);
  assert.deepEqual(timesOf({ nandSeconds: 1, lookUpSeconds: 2, adder: [{ threads: 1, seconds: 3 }] }), [['NAND', 1], ['look-up', 2], ['threads 1', 3]]);
  const bgv = { rows: [{ metric: 'seconds', threads: 1, measured: 0.9 }, { metric: 'slots_to_coeffs', threads: 1, measured: 0.1 }] };
  assert.deepEqual(timesOf(bgv), [['threads 1', 0.9]]);
  assert.throws(() => timesOf({ keygenSeconds: 1 }), /no times/);
  assert.deepEqual([median([3, 1, 2]), median([4, 1, 2, 3])], [2, 2.5]);
});
