// `node tests/tools/c.mjs [--tested]`: programs in C and C++ against the library of `npm run build:c`, which is built if it is
// out of date, or with --tested against the one that the Rust tests have built. One line a leg: passed, or skipped and why.
//
// Needs cc and c++ for the native legs and emcc for those of Emscripten ($CC, $CXX and $EMCC choose others);
// REFLOAT_INSTALL_EMCC=1 installs Debian's emcc where it is absent.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { functionsOf, hostileProgram } from '../../wasm/cabi/tests/hostile.mjs';
import { visit } from '../packaging/browser.mjs';
import { findChromium, onPath } from './lib/browser.mjs';
import { build } from './lib/build.mjs';
import { cabi, installed, takeTested } from './lib/c.mjs';
import { EMCC_FLAGS, EMCC_MISSING, findEmcc } from './lib/emcc.mjs';
import { begin, bold, main, red, say } from './lib/log.mjs';
import { root, target } from './lib/paths.mjs';
import { run } from './lib/run.mjs';
import { describeWasm } from './lib/wasm.mjs';

/** Bytes that gates and SHIP may take of a program for the browser that makes keys, encrypts, computes and decrypts. */
const SIZE = 720_000;
const GATES_AND_SHIP = [
  ...['secret_new', 'keys_new', 'encrypt', 'evaluate', 'decrypt'].map((name) => `rf_gate_${name}`),
  ...['secret_new', 'keys_new', 'encrypt', 'multiply', 'bootstrap', 'decrypt'].map((name) => `rf_ship_${name}`),
  ...['secret', 'keys', 'ciphertext'].flatMap((name) => [`rf_gate_${name}_free`, `rf_ship_${name}_free`]),
  ...['rf_last_error', 'rf_status_name', 'rf_seed'],
];

/** What the library asks of a program for the browser. */
const IMPORTS = ['free', 'getentropy', 'memalign'];

/** Milliseconds after which a program is taken to hang. */
const LIMIT = 300_000;

const C = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-pedantic', '-O1'];
const CXX = ['-std=c++17', '-Wall', '-Wextra', '-Werror', '-pedantic', '-O1'];
const SYSTEM = process.platform === 'linux' ? ['-lpthread', '-ldl', '-lm'] : ['-lpthread', '-lm'];

/** Why a leg does not run here. */
class Skip extends Error {}

const headers = Object.fromEntries(
  ['base', 'conventional', 'gates', 'ship'].map((name) => [name, readFileSync(join(cabi, 'include', 'refloat', `${name}.h`), 'utf8')]),
);
const vectors = JSON.parse(readFileSync(join(root, 'tests', 'vectors', 'portable.json'), 'utf8'));

const legs = Object.entries({
  'native, static': async (here) => {
    const link = [join(here.lib, 'librefloat_c.a'), ...SYSTEM];
    await adds(await compiled(here, 'adder', link));
    const hostile = await hostileWith(await compiled(here, 'hostile', link));
    return `${hostile}, ${await digests([await compiled(here, 'portable', link)])}`;
  },

  'native, shared': async (here) => {
    const link = [`-L${here.lib}`, '-lrefloat_c', `-Wl,-rpath,${here.lib}`];
    await adds(await compiled(here, 'adder', link));
    return `${await exportedSymbols(here.lib)} functions exported, all of them rf_`;
  },

  'C++17': async (here) => {
    const link = [join(here.lib, 'librefloat_c.a'), ...SYSTEM];
    await mustSay(await compiled(here, 'picture', link), [], /3 bootstraps with toy10, \d+ stages each/);
    await mustSay(await compiled(here, 'owners', link), [], /^0 wrong$/m);
    return (await Promise.all([byCmake(here), byPkgConfig(here)])).join(', ');
  },

  AddressSanitizer: async (here) => {
    const sanitize = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-g'];
    const link = [join(here.lib, 'librefloat_c.a'), ...SYSTEM];
    writeFileSync(join(here.scratch, 'nothing.c'), 'int main(void) { return 0; }\n');
    const able = await run(compiler('c'), [...sanitize, join(here.scratch, 'nothing.c'), '-o', join(here.scratch, 'nothing')]);
    if (able.code !== 0) throw new Skip(`${compiler('c')} has no AddressSanitizer here`);
    await adds(await compiled(here, 'adder', [...sanitize, ...link]), ['toy-bool']);
    await mustSay(await compiled(here, 'owners', [...sanitize, ...link]), [], /^0 wrong$/m);
    return hostileWith(await compiled(here, 'hostile', [...sanitize, ...link]));
  },

  'WebAssembly library': async (here) => {
    const archive = join(here.lib, 'wasm32-emscripten', 'librefloat_c.a');
    const all = Object.values(headers).flatMap(functionsOf).map(({ name }) => name);
    const whole = await describeWasm(archive, all, here.scratch);
    same(whole.imports, IMPORTS, 'what it asks of its host');
    if (!whole.simd) throw new Error('there is no SIMD128 in it: build it without RUSTFLAGS in the environment');
    const wasm = await describeWasm(archive, GATES_AND_SHIP, here.scratch);
    if (wasm.bytes > SIZE) throw new Error(`gates and SHIP take ${wasm.bytes} bytes, over the limit of ${SIZE}`);
    return `SIMD128, ${wasm.bytes} bytes of gates and SHIP, ${whole.bytes} of everything`;
  },

  'Emscripten, Node': async (here) => {
    // In one file: with another beside it, versions before 3.1.21 mistake a Node that has fetch for a browser.
    const node = async (name) => [process.execPath, await emscripten(here, name, `${name}.cjs`, ['-sENVIRONMENT=node', '-sSINGLE_FILE=1'])];
    await adds(await node('adder'));
    const hostile = await hostileWith(await node('hostile'));
    return `${hostile}, ${await digests([await node('portable')])}`;
  },

  'Emscripten, Chromium': async (here) => {
    needEmcc(here);
    if (process.env.REFLOAT_SKIP_BROWSER === '1') throw new Skip('REFLOAT_SKIP_BROWSER=1');
    const chromium = findChromium();
    if (!chromium) throw new Skip('no Chromium ($CHROMIUM, chromium, chromium-browser, google-chrome)');
    const page = join(here.scratch, 'page');
    mkdirSync(page);
    copyFileSync(join(cabi, 'examples', 'page.html'), join(page, 'index.html'));
    const flags = ['-sENVIRONMENT=web', '-sMODULARIZE=1', '-sEXPORT_ES6=1'];
    await emscripten(here, 'adder', join('page', 'adder.mjs'), flags);
    const said = await visit(chromium, page);
    if (!/^173 \+ 102 = 275, encrypted with bool-128/.test(said)) throw new Error(`the page says: ${said}`);
    return said;
  },
});

await main(async () => {
  const prefix = await prefixOf(process.argv.slice(2));
  mkdirSync(join(target, 'tmp'), { recursive: true });
  const scratch = mkdtempSync(join(target, 'tmp', 'c-'));
  const count = { passed: 0, failed: 0, skipped: 0 };
  try {
    writeFileSync(join(scratch, 'hostile.c'), hostileProgram(headers));
    const here = { prefix, scratch, lib: join(prefix, 'lib'), emcc: await findEmcc() };
    for (const [name, leg] of legs) {
      const progress = begin(name);
      try {
        progress.done((await leg(here)) ?? '');
        count.passed += 1;
      } catch (error) {
        if (error instanceof Skip) {
          progress.skip(bold(`skipped: ${error.message}`));
          count.skipped += 1;
          continue;
        }
        progress.fail();
        say(red(error.message));
        count.failed += 1;
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
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

function compiler(language) {
  const found = language === 'c' ? (process.env.CC ?? onPath(['cc', 'gcc', 'clang'])) : (process.env.CXX ?? onPath(['c++', 'g++', 'clang++']));
  if (!found) throw new Skip(language === 'c' ? 'no C compiler ($CC, cc, gcc, clang)' : 'no C++ compiler ($CXX, c++, g++, clang++)');
  return found;
}

/** A program of this folder's examples or tests, by its name. */
function source(here, name) {
  const folders = [join(cabi, 'examples'), join(cabi, 'tests'), here.scratch];
  const found = folders.flatMap((folder) => ['c', 'cpp'].map((ending) => join(folder, `${name}.${ending}`))).find((file) => existsSync(file));
  if (!found) throw new Error(`no source of ${name}`);
  return found;
}

/** Compiles a program; gives the command that runs it. */
async function compiled(here, name, link) {
  const file = source(here, name);
  const [command, flags] = file.endsWith('.c') ? [compiler('c'), C] : [compiler('c++'), CXX];
  const out = join(here.scratch, `${name}-${link.length}`);
  const { code, output } = await run(command, [...flags, `-I${join(here.prefix, 'include')}`, file, ...link, '-o', out]);
  if (code !== 0) throw new Error(`${name} was not compiled:\n${output}`);
  return [out];
}

function needEmcc({ emcc }) {
  if (!emcc) throw new Skip(EMCC_MISSING);
}

/** Compiles a program with Emscripten; gives the file that loads it. */
async function emscripten(here, name, out, flags) {
  needEmcc(here);
  const archive = join(here.lib, 'wasm32-emscripten', 'librefloat_c.a');
  const path = join(here.scratch, out);
  const args = [...EMCC_FLAGS, ...flags, `-I${join(here.prefix, 'include')}`, source(here, name), archive, '-o', path];
  const { code, output } = await here.emcc(args);
  if (code !== 0) throw new Error(`emcc did not compile ${name}:\n${output}`);
  return path;
}

/** Runs a program, which must end well and say something; gives what it says. */
async function mustSay([command, ...first], args, pattern) {
  const { code, output } = await run(command, [...first, ...args], { limit: LIMIT });
  if (code === 0 && pattern.test(output)) return output;
  throw new Error(`${[command, ...first, ...args].join(' ').slice(0, 200)} ended with ${code}, and said:\n${output.slice(-4000)}`);
}

/** Runs the adder with numbers that carry through every bit, and with some that do not. */
async function adds(program, [set = 'bool-128'] = []) {
  for (const [a, b] of [[173, 102], [255, 1], [0, 0]]) {
    await mustSay(program, [String(a), String(b), set], new RegExp(`^${a} \\+ ${b} = ${a + b}, encrypted with ${set}`));
  }
}

/** Runs the program that calls everything wrongly; gives how many calls that were. */
async function hostileWith(program) {
  return (await mustSay(program, [], /^\d+ calls, 0 wrong$/m)).match(/\d+ calls/)[0];
}

/** Compares every digest of the vectors with what a program gives; says how many there were. */
async function digests([program]) {
  let count = 0;
  for (const [method, sets] of [['gate', vectors.gates], ['ship', vectors.sets], ['conventional', vectors.conventional]]) {
    for (const { name, fingerprint, parts, ...wanted } of sets) {
      const said = await mustSay(program, [method, name, wanted.secret, ...parts.map(([index]) => String(index))], /^keyId /m);
      const found = new Map(said.trimEnd().split('\n').map((line) => /^(.*) (\S+)$/.exec(line).slice(1)));
      for (const [index, digest] of parts) wanted[`part ${index}`] = digest;
      // Ciphertexts of secure sets have randomness of their own, here as in npm.
      const compared = Object.entries(wanted).filter(([key]) => name.startsWith('toy') || /^(secret|keyId|part \d+)$/.test(key));
      for (const [key, value] of compared) {
        count += 1;
        if (found.get(key) !== value) throw new Error(`${name}: ${key} is ${found.get(key)}, and in the vectors ${value}`);
      }
    }
  }
  return `${count} values of portable.json`;
}

/** Checks what the shared library exports; gives the number. */
async function exportedSymbols(lib) {
  const { code, output } = await run('nm', ['-D', '--defined-only', join(lib, 'librefloat_c.so')]);
  if (code !== 0) throw new Skip(`what it exports is not looked at, there is no nm that reads it: ${output.trim()}`);
  const found = output.trim().split('\n').map((line) => line.split(/\s+/).at(-1));
  const declared = Object.values(headers).flatMap(functionsOf).map(({ name }) => name);
  same(found, declared, 'what the shared library exports');
  return found.length;
}

function same(found, wanted, what) {
  const [a, b] = [found, wanted].map((list) => new Set(list));
  const [extra, missing] = [[...a].filter((x) => !b.has(x)), [...b].filter((x) => !a.has(x))];
  if (extra.length + missing.length) throw new Error(`${what}: ${extra.join(', ') || 'nothing'} more, ${missing.join(', ') || 'nothing'} less`);
}

/** The examples as a project of CMake's that finds the installed package, with either library. */
async function byCmake(here) {
  if (!onPath(['cmake'])) return 'no cmake';
  for (const shared of ['OFF', 'ON']) {
    const folder = join(here.scratch, `cmake-${shared}`);
    const configure = ['-S', join(cabi, 'examples'), '-B', folder, `-DCMAKE_PREFIX_PATH=${here.prefix}`, `-DBUILD_SHARED_LIBS=${shared}`];
    for (const args of [configure, ['--build', folder]]) {
      const { code, output } = await run('cmake', args);
      if (code !== 0) throw new Error(`cmake ${args.join(' ')} failed:\n${output}`);
    }
    await adds([join(folder, 'adder')], ['toy-bool']);
  }
  return 'CMake';
}

/** The adder with the flags that pkg-config gives. */
async function byPkgConfig(here) {
  if (!onPath(['pkg-config'])) return 'no pkg-config';
  const env = { PKG_CONFIG_PATH: join(here.lib, 'pkgconfig') };
  const { code, output } = await run('pkg-config', ['--cflags', '--libs', 'refloat >= 0.1'], { env });
  if (code !== 0) throw new Error(`pkg-config failed:\n${output}`);
  const out = join(here.scratch, 'by-pkg-config');
  const flags = [...output.trim().split(/\s+/), `-Wl,-rpath,${here.lib}`];
  const result = await run(compiler('c'), [...C, source(here, 'adder'), ...flags, '-o', out]);
  if (result.code !== 0) throw new Error(`the flags of pkg-config do not do:\n${result.output}`);
  await adds([out], ['toy-bool']);
  return 'pkg-config';
}
