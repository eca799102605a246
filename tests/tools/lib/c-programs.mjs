// Programs in C and C++ that are linked with refloat: compiled by the machine's compilers or by Emscripten, and run.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onPath } from './browser.mjs';
import { cabi } from './c.mjs';
import { EMCC_FLAGS } from './emcc.mjs';
import { run } from './run.mjs';

const C = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-pedantic', '-O1'];
const CXX = ['-std=c++17', '-Wall', '-Wextra', '-Werror', '-pedantic', '-O1'];
const SYSTEM = process.platform === 'linux' ? ['-lpthread', '-ldl', '-lm'] : ['-lpthread', '-lm'];

/** Milliseconds after which a program is taken to hang. */
const LIMIT = 300_000;

/** Why a leg does not run here. */
export class Skip extends Error {}

/** What the programs of a run share: an installed refloat, and a folder for temporary files. */
export class Workshop {
  /** Emscripten, once it has been looked for. */
  emscripten;

  constructor(prefix, scratch) {
    this.prefix = prefix;
    this.scratch = scratch;
    this.lib = join(prefix, 'lib');
    this.archive = join(this.lib, 'librefloat_c.a');
    this.wasmArchive = join(this.lib, 'wasm32-emscripten', 'librefloat_c.a');
    this.static = [this.archive, ...SYSTEM];
    this.shared = [`-L${this.lib}`, '-lrefloat_c', `-Wl,-rpath,${this.lib}`];
  }

  /** Compiles a program for this machine. Returns the command that runs it. */
  async native(name, link) {
    const file = this.source(name);
    const [command, flags] = file.endsWith('.c') ? [compiler('c'), C] : [compiler('c++'), CXX];
    const out = join(this.scratch, `${name}-${link.length}`);
    await this.#ends(name, run(command, [...flags, ...this.#include(), file, ...link, '-o', out]));
    return [out];
  }

  /** Compiles a program for Node with Emscripten. Returns the command that runs it. */
  async node(name, flags = []) {
    // A single file: with another one beside it, versions before 3.1.21 mistake a Node that has fetch for a browser.
    const out = await this.wasm(name, `${name}.cjs`, ['-sENVIRONMENT=node', '-sSINGLE_FILE=1', ...flags]);
    return [process.execPath, out];
  }

  /** Compiles a program with Emscripten. Returns the file that loads it. */
  async wasm(name, out, flags) {
    const path = join(this.scratch, out);
    const args = [...EMCC_FLAGS, ...flags, ...this.#include(), this.source(name), this.wasmArchive, '-o', path];
    await this.#ends(name, this.emscripten.compile(args));
    return path;
  }

  /** The source of a program: one of the examples, of the tests, or of those written here. */
  source(name) {
    const folders = [join(cabi, 'examples'), join(cabi, 'tests'), this.scratch];
    const found = folders.flatMap((folder) => ['c', 'cpp'].map((ending) => join(folder, `${name}.${ending}`))).find((file) => existsSync(file));
    if (!found) throw new Error(`no source of ${name}`);
    return found;
  }

  #include() {
    return [`-I${join(this.prefix, 'include')}`, `-I${this.scratch}`];
  }

  async #ends(name, compiling) {
    const { code, output } = await compiling;
    if (code !== 0) throw new Error(`${name} was not compiled:\n${output}`);
  }
}

/** The compiler for a language; skips the leg if there is none. */
export function compiler(language) {
  const [variable, names] = language === 'c' ? ['CC', ['cc', 'gcc', 'clang']] : ['CXX', ['c++', 'g++', 'clang++']];
  const found = process.env[variable] ?? onPath(names);
  if (!found) throw new Skip(`no compiler ($${variable}, ${names.join(', ')})`);
  return found;
}

/** Runs a command that must succeed. Returns its output. */
export async function succeeds(command, args, options) {
  const { code, output } = await run(command, args, options);
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}, and said:\n${output.slice(-4000)}`);
  return output;
}

/** Runs a program that must end with the code `wanted` and print something that matches. Returns its output. */
export async function says([command, ...first], args, pattern, wanted = 0) {
  const { code, output } = await run(command, [...first, ...args], { limit: LIMIT });
  if (code === wanted && pattern.test(output)) return output;
  throw new Error(`${[command, ...first, ...args].join(' ').slice(0, 200)} ended with ${code}, and said:\n${output.slice(-4000)}`);
}

/** Runs the adder with numbers that carry through every bit, and with others; a number that is too large is refused. */
export async function adds(program, words = []) {
  const set = words.at(-1) ?? 'bool-128';
  for (const [a, b] of [[173, 102], [255, 1], [0, 0]]) {
    await says(program, [...words.slice(0, -1), String(a), String(b), ...words.slice(-1)], new RegExp(`^${a} \\+ ${b} = ${a + b}, encrypted with ${set}`));
  }
  await says(program, ['256', '0'], /^256 is not a number from 0 to 255$/m, 1);
}

/** Arguments for the adder with the toy set. */
export const TOY = ['--allow-insecure', 'toy-bool'];

/** Runs a program that counts its checks and its failures, of which there must be none. Returns the count of checks. */
export async function counts(program, what) {
  const said = await says(program, [], new RegExp(`^\\d+ ${what}, 0 wrong$`, 'm'));
  return new RegExp(`\\d+ ${what}`).exec(said)[0];
}

/** Compares every digest of the vectors with the output of the program `portable`. Returns how many there were. */
export async function digests(program, vectors) {
  let count = 0;
  // Only keys and fresh ciphertexts are compared for these; their computations are compared elsewhere.
  const client = ({ name, secret, keyId, parts, fresh }) => ({ name, secret, keyId, parts, ...(fresh && { fresh }) });
  const methods = {
    gate: vectors.gates,
    ship: vectors.sets,
    conventional: vectors.conventional,
    msb: vectors.reduction.map(client),
    link: vectors.link.map(client),
    bgv: vectors.integers.map(client),
  };
  for (const [method, sets] of Object.entries(methods)) {
    for (const { name, fingerprint, parts, ...wanted } of sets) {
      const said = await says(program, [method, name, wanted.secret, ...parts.map(([index]) => String(index))], /^keyId /m);
      const found = new Map(said.trimEnd().split('\n').map((line) => /^(.*) (\S+)$/.exec(line).slice(1)));
      for (const [index, digest] of parts) wanted[`part ${index}`] = digest;
      // Ciphertexts of secure sets have fresh randomness, here as in npm.
      const compared = Object.entries(wanted).filter(([key]) => name.startsWith('toy') || /^(secret|keyId|part \d+)$/.test(key));
      for (const [key, value] of compared) {
        count += 1;
        if (found.get(key) !== value) throw new Error(`${name}: ${key} is ${found.get(key)}, and in the vectors ${value}`);
      }
    }
  }
  return `${count} values of portable.json`;
}
