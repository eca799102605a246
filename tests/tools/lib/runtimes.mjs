// Libraries in a program that no lock file names: Rust's own library, the C library and the compiler's routines, each with version,
// licence and licence text. THIRD-PARTY.txt and the bills of materials are both made from this list.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';
import { run } from './run.mjs';

/** Header of mingw-w64, as Debian installs it, that has the version. */
const MINGW_HEADER = '/usr/x86_64-w64-mingw32/include/_mingw_mac.h';

/** The runtime libraries that a program for a system is linked with, as {name, version, license, texts}. */
export async function runtimesOf(system) {
  const sysroot = await output('rustc', '--print', 'sysroot');
  const library = {
    name: 'Rust standard library',
    version: wanted(/^rustc (\S+)/, await output('rustc', '--version'), 'rustc --version'),
    license: 'MIT OR Apache-2.0',
    texts: [{ file: 'COPYRIGHT-library.html', text: plain(textOf(join(sysroot, 'share', 'doc', 'rust', 'COPYRIGHT-library.html'))) }],
  };
  if (system.endsWith('-musl')) return [library, musl(join(sysroot, 'lib', 'rustlib', system, 'lib', 'self-contained', 'libc.a'))];
  if (system.endsWith('-windows-gnu')) return [library, mingw(), await gcc()];
  return [library];
}

/** The C library that Rust brings for static programs; the archive has its version as a string of its own. */
function musl(archive) {
  const version = wanted(/\0(\d+\.\d+\.\d+)\0/, textOf(archive, 'latin1'), archive);
  const text = textOf(join(root, 'LICENSE-MIT')).replace(/^Copyright .*$/m, 'Copyright © 2005-2020 Rich Felker, et al.');
  return { name: 'musl', version, license: 'MIT', texts: [{ file: 'COPYRIGHT', text }] };
}

/** The code that starts Windows programs, and the parts of the C library that Windows lacks. */
function mingw() {
  const header = textOf(MINGW_HEADER);
  const version = ['MAJOR', 'MINOR', 'BUGFIX'].map((part) => wanted(new RegExp(`__MINGW64_VERSION_${part} (\\d+)`), header, MINGW_HEADER)).join('.');
  return { name: 'mingw-w64 runtime', version, license: 'ZPL-2.1', texts: [copyright('mingw-w64-x86-64-dev')] };
}

/** The library that unwinds the stack in Windows programs. */
async function gcc() {
  const version = wanted(/^(\d[\d.]*)/, await output('x86_64-w64-mingw32-gcc', '-dumpfullversion'), 'x86_64-w64-mingw32-gcc -dumpfullversion');
  const license = 'GPL-3.0-or-later WITH GCC-exception-3.1';
  return { name: 'GCC runtime library', version, license, texts: [copyright('gcc-mingw-w64-base')] };
}

/** The licence of a package of Debian's. */
const copyright = (name) => ({ file: 'copyright', text: textOf(`/usr/share/doc/${name}/copyright`) });

function textOf(path, encoding = 'utf8') {
  if (!existsSync(path)) throw new Error(`no ${path}; \`npm run test:targets\` installs the compilers whose runtime it belongs to`);
  return readFileSync(path, encoding);
}

/** The first group of a match in a text from `where`, which must match. */
function wanted(expression, text, where) {
  const found = expression.exec(text)?.[1];
  if (!found) throw new Error(`${where} says no version: wanted ${expression}`);
  return found;
}

async function output(command, ...args) {
  const { code, output: text } = await run(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}`);
  return text.trim();
}

/** The text of an HTML page, without markup and with few empty lines. */
function plain(html) {
  const entities = { lt: '<', gt: '>', quot: '"', amp: '&', '#x27': "'", '#39': "'", '#x2F': '/' };
  const text = html.replace(/<(style|head)\b[^]*?<\/\1>/g, '').replace(/<[^>]*>/g, '');
  return text.replace(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole).replace(/[ \t]+$/gm, '').replace(/\n{3,}/g, '\n\n');
}
