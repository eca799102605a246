// What a program is linked with that no lock file names: Rust's own library, the C library and the compiler's own routines, each with
// its version, its licence and the text of it. THIRD-PARTY.txt and the bills of materials are both made of this list.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';
import { run } from './run.mjs';

/** Headers of mingw-w64, as Debian installs them, say which version it is. */
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

/** The C library that Rust brings for static files; the archive holds its version as a string of its own. */
function musl(archive) {
  const version = wanted(/\0(\d+\.\d+\.\d+)\0/, textOf(archive, 'latin1'), archive);
  const text = textOf(join(root, 'LICENSE-MIT')).replace(/^Copyright .*$/m, 'Copyright © 2005-2020 Rich Felker, et al.');
  return { name: 'musl', version, license: 'MIT', texts: [{ file: 'COPYRIGHT', text }] };
}

/** What starts programs for Windows, and the parts of the C library that Windows does not have. */
function mingw() {
  const header = textOf(MINGW_HEADER);
  const version = ['MAJOR', 'MINOR', 'BUGFIX'].map((part) => wanted(new RegExp(`__MINGW64_VERSION_${part} (\\d+)`), header, MINGW_HEADER)).join('.');
  return { name: 'mingw-w64 runtime', version, license: 'ZPL-2.1', texts: [copyright('mingw-w64-x86-64-dev')] };
}

/** What unwinds the stack in programs for Windows. */
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

/** What an expression's group matches in a text that `where` gave. */
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

/** The text of a page: without what is not text, and with few empty lines. */
function plain(html) {
  const entities = { lt: '<', gt: '>', quot: '"', amp: '&', '#x27': "'", '#39': "'", '#x2F': '/' };
  const text = html.replace(/<(style|head)\b[^]*?<\/\1>/g, '').replace(/<[^>]*>/g, '');
  return text.replace(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole).replace(/[ \t]+$/gm, '').replace(/\n{3,}/g, '\n\n');
}
