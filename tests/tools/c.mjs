// `node tests/tools/c.mjs [--tested]`: programs in C and C++ with the library of `npm run build:c`, which is built if it is out of
// date, or, with --tested, with the one that the Rust tests have built. One line per leg: passed, or skipped and why.
//
// Needs cc and c++ for the native legs and emcc for those of Emscripten ($CC, $CXX and $EMCC choose others);
// REFLOAT_INSTALL_EMCC=1 installs Debian's emcc where it is absent.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { functionsOf, hostileCalls } from '../../wasm/cabi/tests/hostile.mjs';
import { visit } from '../packaging/browser.mjs';
import { findChromium, onPath } from './lib/browser.mjs';
import { build } from './lib/build.mjs';
import { cabi, installed, takeTested, version } from './lib/c.mjs';
import { Skip, TOY, Workshop, adds, compiler, counts, digests, says, succeeds } from './lib/c-programs.mjs';
import { emccMissing, findEmscripten } from './lib/emcc.mjs';
import { begin, bold, main, red, say } from './lib/log.mjs';
import { root } from './lib/paths.mjs';
import { run } from './lib/run.mjs';
import { inScratch } from './lib/scratch.mjs';
import { importsOf, linkWasm, lookAt, optimise } from './lib/wasm.mjs';

/** Bytes that gates and SHIP may take of a program for the browser that makes keys, encrypts, computes and decrypts. */
const SIZE = 700_000;
const GATES_AND_SHIP = [
  ...['secret_new', 'keys_new', 'encrypt', 'evaluate', 'decrypt'].map((name) => `rf_gate_${name}`),
  ...['secret_new', 'keys_new', 'encrypt', 'multiply', 'bootstrap', 'decrypt'].map((name) => `rf_ship_${name}`),
  ...['secret', 'keys', 'ciphertext'].flatMap((name) => [`rf_gate_${name}_free`, `rf_ship_${name}_free`]),
  ...['rf_last_error', 'rf_status_name', 'rf_seed'],
];

/** What the library imports in a program for the browser. */
const IMPORTS = ['free', 'getentropy', 'memalign'];

const SANITIZE = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-g'];

/** Without these flags, Emscripten does not catch what C++ throws. */
const EXCEPTIONS = ['-std=c++17', '-fexceptions'];

const PICTURE = /3 bootstraps with toy10, \d+ stages each/;

const include = join(cabi, 'include', 'refloat');
const headers = Object.fromEntries(
  readdirSync(include).filter((name) => name.endsWith('.h')).map((name) => [name, readFileSync(join(include, name), 'utf8')]),
);
const declared = Object.values(headers).flatMap(functionsOf).map(({ name }) => name);
const vectors = JSON.parse(readFileSync(join(root, 'tests', 'vectors', 'portable.json'), 'utf8'));

const legs = {
  'native, static': async (shop) => {
    await adds(await shop.native('adder', shop.static));
    const looks = await counts(await shop.native('stack', shop.static), 'looks');
    const said = [await digests(await shop.native('portable', shop.static), vectors), `${looks} for keys on the stack`];
    // With AddressSanitizer, its own leg makes these calls.
    if (!(await hasSanitizer(shop))) said.push(await counts(await shop.native('hostile', shop.static), 'calls'));
    return said.join(', ');
  },

  'native, shared': async (shop) => {
    await adds(await shop.native('adder', shop.shared));
  },

  'exported symbols': async (shop) => {
    const nm = onPath(['nm', 'llvm-nm']);
    if (!nm) throw new Skip('no nm');
    const listed = await succeeds(nm, ['-D', '--defined-only', join(shop.lib, 'librefloat_c.so')]);
    const found = listed.trim().split('\n').map((line) => line.split(/\s+/).at(-1));
    same(found, declared, 'what the shared library exports');
    return `${found.length}, all of them rf_`;
  },

  'C++17': async (shop) => {
    await says(await shop.native('picture', shop.static), [], PICTURE);
    await says(await shop.native('owners', shop.static), [], /^0 wrong$/m);
  },

  CMake: async (shop) => {
    if (!onPath(['cmake'])) throw new Skip('no cmake');
    for (const shared of ['OFF', 'ON']) {
      const configure = (args) => run('cmake', [...args, `-DCMAKE_PREFIX_PATH=${shop.prefix}`, `-DBUILD_SHARED_LIBS=${shared}`]);
      const folder = await examples(shop, `cmake-${shared}`, configure);
      await adds([join(folder, 'adder')], TOY);
    }
    return 'static and shared';
  },

  'pkg-config': async (shop) => {
    if (!onPath(['pkg-config'])) throw new Skip('no pkg-config');
    const env = { PKG_CONFIG_PATH: join(shop.lib, 'pkgconfig') };
    const flags = (await succeeds('pkg-config', ['--cflags', '--libs', 'refloat >= 0.1'], { env })).trim().split(/\s+/);
    const out = join(shop.scratch, 'by-pkg-config');
    await succeeds(compiler('c'), [shop.source('adder'), ...flags, `-Wl,-rpath,${shop.lib}`, '-o', out]);
    await adds([out], TOY);
  },

  AddressSanitizer: async (shop) => {
    if (!(await hasSanitizer(shop))) throw new Skip(`${compiler('c')} has none here`);
    const link = [...SANITIZE, ...shop.static];
    await adds(await shop.native('adder', link), TOY);
    await says(await shop.native('owners', link), [], /^0 wrong$/m);
    return counts(await shop.native('hostile', link), 'calls');
  },

  'WebAssembly library': async (shop) => {
    same(await importsOf(await linkWasm(shop.wasmArchive, declared, shop.scratch)), IMPORTS, 'what it asks of its host');
    const part = await linkWasm(shop.wasmArchive, GATES_AND_SHIP, shop.scratch);
    await optimise(part);
    return `${sized(await lookAt(part))} of gates and SHIP`;
  },

  'Emscripten, Node': async (shop) => {
    await adds(await shop.node('adder'));
    const picture = await shop.node('picture', EXCEPTIONS);
    await says(picture, [], PICTURE);
    await says(picture, ['nothing'], /^INVALID_ARGUMENT: .*nothing/m, 1);
    // Not optimised, which would take a minute: it links every function.
    const found = [await counts(await shop.node('hostile', ['-O0']), 'calls'), await counts(await shop.node('stack'), 'looks')];
    return `${found.join(', ')}, ${await digests(await shop.node('portable'), vectors)}`;
  },

  'Emscripten, CMake': async (shop) => {
    const { configure } = shop.emscripten;
    if (!configure || !onPath(['cmake'])) throw new Skip(configure ? 'no cmake' : 'no emcmake beside emcc');
    const refloat = `-Drefloat_DIR=${join(shop.lib, 'cmake', 'refloat')}`;
    const folder = await examples(shop, 'cmake-emscripten', (args) => configure([...args, refloat]), shop.emscripten.env);
    await adds([process.execPath, join(folder, 'adder.cjs')], TOY);
    await says([process.execPath, join(folder, 'picture.cjs')], [], PICTURE);
  },

  'Emscripten, size': async (shop) => {
    const all = GATES_AND_SHIP.map((name) => `(void (*)(void))${name}`).join(', ');
    const program = `#include "refloat.h"
      static void (*const volatile all[])(void) = {${all}};
      int main(void) { for (int i = 0; i < ${GATES_AND_SHIP.length}; i++) if (!all[i]) return 1; return 0; }`;
    writeFileSync(join(shop.scratch, 'gates-and-ship.c'), program);
    await shop.wasm('gates-and-ship', 'gates-and-ship.mjs', ['-sENVIRONMENT=web']);
    return `${sized(await lookAt(join(shop.scratch, 'gates-and-ship.wasm')))} of gates and SHIP`;
  },

  'Emscripten, Chromium': async (shop) => {
    if (process.env.REFLOAT_SKIP_BROWSER === '1') throw new Skip('REFLOAT_SKIP_BROWSER=1');
    const chromium = findChromium();
    if (!chromium) throw new Skip('no Chromium ($CHROMIUM, chromium, chromium-browser, google-chrome)');
    const page = join(shop.scratch, 'page');
    mkdirSync(page);
    copyFileSync(join(cabi, 'examples', 'page.html'), join(page, 'index.html'));
    await shop.wasm('adder', join('page', 'adder.mjs'), ['-sENVIRONMENT=web', '-sMODULARIZE=1', '-sEXPORT_ES6=1']);
    const said = await visit(chromium, page);
    if (!/^173 \+ 102 = 275, encrypted with bool-128/.test(said)) throw new Error(`the page says: ${said}`);
    return `${said}, ${sized(await lookAt(join(page, 'adder.wasm')))}`;
  },
};

await main(async () => {
  const prefix = await prefixOf(process.argv.slice(2));
  const count = { passed: 0, failed: 0, skipped: 0 };
  await inScratch('c', async (scratch) => {
    writeFileSync(join(scratch, 'hostile-calls.h'), hostileCalls(headers, await version()));
    const shop = new Workshop(prefix, scratch);
    for (const [name, leg] of Object.entries(legs)) count[await outcome(name, leg, shop)] += 1;
  });
  say(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed ? 1 : 0;
});

async function prefixOf(words) {
  if (!words.includes('--tested')) {
    await build(['c']);
    return installed;
  }
  const step = begin('the library that the Rust tests build');
  const prefix = await takeTested(step);
  step.done();
  return prefix;
}

/** Runs a leg, and reports its outcome. */
async function outcome(name, leg, shop) {
  const needsEmcc = name.startsWith('Emscripten');
  let progress;
  try {
    // Called before the leg has a line of its own, because finding may install. A failure is kept, and applies to every leg that needs it.
    if (needsEmcc) shop.emscripten = await findEmscripten();
    progress = begin(name);
    if (needsEmcc && !shop.emscripten) throw new Skip(emccMissing());
    progress.done((await leg(shop)) ?? '');
    return 'passed';
  } catch (error) {
    progress ??= begin(name);
    if (error instanceof Skip) {
      progress.skip(bold(`skipped: ${error.message}`));
      return 'skipped';
    }
    progress.fail();
    say(red(error.message));
    return 'failed';
  }
}

/** Whether the compiler links programs with AddressSanitizer. */
async function hasSanitizer(shop) {
  const file = join(shop.scratch, 'nothing.c');
  writeFileSync(file, 'int main(void) { return 0; }\n');
  return (await run(compiler('c'), [...SANITIZE, file, '-o', join(shop.scratch, 'nothing')])).code === 0;
}

/** Builds the examples with CMake; `configure` runs it with some arguments first. Returns the folder. */
async function examples(shop, name, configure, env) {
  const folder = join(shop.scratch, name);
  const { code, output } = await configure(['-S', join(cabi, 'examples'), '-B', folder]);
  if (code !== 0) throw new Error(`cmake did not configure the examples:\n${output}`);
  await succeeds('cmake', ['--build', folder], { env });
  return folder;
}

/** The size of a module in words; a module without SIMD128, or over the limit, is an error. */
function sized({ bytes, simd }) {
  if (!simd) throw new Error('there is no SIMD128 in it: build it without RUSTFLAGS in the environment');
  if (bytes > SIZE) throw new Error(`it takes ${bytes} bytes, over the limit of ${SIZE}`);
  return `SIMD128, ${bytes} bytes`;
}

function same(found, wanted, what) {
  const [a, b] = [found, wanted].map((list) => new Set(list));
  const [extra, missing] = [[...a].filter((x) => !b.has(x)), [...b].filter((x) => !a.has(x))];
  if (extra.length + missing.length) throw new Error(`${what}: ${extra.join(', ') || 'nothing'} more, ${missing.join(', ') || 'nothing'} less`);
}
