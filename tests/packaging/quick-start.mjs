// The README's quick start as somebody does it who has Node and nothing else: the packages of a release are installed in an empty
// folder, where no compiler is to be found, and the commands and the program of the README run there, with a 128-bit set.
//
//   node tests/packaging/quick-start.mjs FOLDER-WITH-THE-PACKAGES
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Stop, main, say } from '../tools/lib/log.mjs';
import { onPath } from '../tools/lib/browser.mjs';
import { root } from '../tools/lib/paths.mjs';
import { readGreyPng, toValues } from '../tools/lib/png.mjs';
import { kill, run, start } from '../tools/lib/run.mjs';
import { freePort, isFree, notReady } from '../tools/lib/server.mjs';

/** Commands that npm and its packages use. */
const NEEDED = ['node', 'npm', 'npx', 'sh'];

/** Commands that build something, none of which may be found. */
const COMPILERS = ['cargo', 'rustc', 'cc', 'gcc', 'clang', 'make', 'python3'];

/** The server's address in the README. */
const ADDRESS = 'http://127.0.0.1:7878';

/**
 * What a pixel from -1 to 1 may differ by: from the picture that was encrypted, as ship13 promises five bits and both are rounded to 8-bit
 * grey; and from the photo, which is made smaller here by averages and there by a sharper filter.
 */
const TOLERANCE = 2 ** -5 + 2 / 255;
const SMALLER = 0.25;

/** Milliseconds after which a command is taken to hang, and in which the server must start. */
const LIMIT = 20 * 60_000;
const READY = 30_000;

await main(async () => {
  const [folder, ...rest] = process.argv.slice(2);
  if (!folder || rest.length) throw new Stop('usage: node tests/packaging/quick-start.mjs FOLDER-WITH-THE-PACKAGES');
  const place = mkdtempSync(join(tmpdir(), 'refloat-quick-start-'));
  try {
    const env = { ...process.env, PATH: bareFolder(place), HOME: join(place, 'home') };
    await checkBare(env);
    const project = join(place, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
    await must('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs(resolve(folder))], { cwd: project, env });
    env.PATH += `:${join(project, 'node_modules', '.bin')}`;
    await commandLine(project, env);
    await server(place, project, env);
    say(`1 passed, 0 failed`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

/** A folder for PATH with what npm needs and nothing else. */
function bareFolder(place) {
  const bare = join(place, 'bin');
  mkdirSync(bare);
  for (const name of NEEDED) symlinkSync(onPath([name]), join(bare, name));
  return bare;
}

/** Checks that a shell finds what npm needs, and no compiler. */
async function checkBare(env) {
  const found = async (names) => (await run('sh', ['-c', `for name in ${names.join(' ')}; do command -v $name; done`], { env })).output.trim();
  const needed = await found(NEEDED);
  if (needed.split('\n').length !== NEEDED.length) throw new Error(`of ${NEEDED.join(', ')} a shell finds:\n${needed}`);
  const compilers = await found(COMPILERS);
  if (compilers) throw new Error(`a shell finds compilers:\n${compilers}`);
}

/** The packages for this platform. */
function tarballs(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const wanted = ['refloat-\\d', 'refloat-server-\\d', `refloat-server-${process.platform}-${process.arch}-`];
  return wanted.map((start) => {
    const found = names.filter((name) => new RegExp(`^${start}`).test(name));
    if (found.length !== 1) throw new Stop(`${folder} has ${found.length} packages called ${start}: ${found.join(', ')}`);
    return join(folder, found[0]);
  });
}

/** Runs the commands of the README, except for the server. */
async function commandLine(project, env) {
  copyFileSync(join(root, 'demo', 'public', 'boat.png'), join(project, 'photo.png'));
  const lines = block('sh', 'refloat keygen').map((line) => line.replace(/\s+#.*$/, '')).filter((line) => line !== 'refloat serve');
  if (lines.length < 4) throw new Error(`the README's commands are ${lines.join('; ')}`);
  for (const line of lines) await must('sh', ['-c', line], { cwd: project, env });
  await must('sh', ['-c', 'refloat decrypt --key keys --in photo.ct --out sent.png'], { cwd: project, env });
  const [photo, sent, fresh] = ['photo.png', 'sent.png', 'fresh.png'].map((name) => readGreyPng(join(project, name)));
  const apart = (x, y) => {
    const [here, there] = [x, y].map((picture) => toValues(picture, fresh.width));
    return Math.max(...here.map((value, i) => Math.abs(value - there[i])));
  };
  const [worst, seen] = [apart(sent, fresh), apart(photo, fresh)];
  if (!(worst < TOLERANCE && seen < SMALLER)) throw new Error(`fresh.png differs by ${worst} from what was sent and by ${seen} from photo.png in a pixel, where pixels are from -1 to 1`);
  say(`${lines.length} commands, ${lines[0]} first; the picture came back within ${worst.toFixed(3)}`);
}

/** The program of the README, with a server that `npx` starts and that serves the demo. */
async function server(place, project, env) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const began = Date.now();
  const child = start('npx', ['--offline', 'refloat-server', '--listen', `127.0.0.1:${port}`, '--data', join(place, 'data')], { cwd: project, env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const closed = new Promise((settle) => child.on('close', settle));
  try {
    while (await notReady(url)) {
      if (child.exitCode !== null || Date.now() - began > READY) throw new Error(`npx refloat-server is not ready, and said:\n${said}`);
      await new Promise((settle) => setTimeout(settle, 20));
    }
    say(`npx refloat-server answered after ${Date.now() - began} ms`);
    const page = await (await fetch(url)).text();
    if (!/<script type="module"/.test(page)) throw new Error(`the demo is not served, but:\n${page.slice(0, 500)}`);
    const program = block('ts', "from 'refloat'").join('\n').replace(ADDRESS, url);
    if (!program.includes(url)) throw new Error(`the README's program does not name ${ADDRESS}`);
    writeFileSync(join(project, 'program.js'), program);
    const output = await must('node', ['program.js'], { cwd: project, env });
    const values = (output.match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? []).slice(-3).map(Number);
    const right = [0.5, -0.25, 1].every((value, i) => Math.abs(value - values[i]) < 0.05);
    if (!right) throw new Error(`the README's program printed:\n${output}`);
    say(`the program printed ${values.join(', ')}`);
  } finally {
    // As a supervisor would: the signal goes to the process that was started, not to its group.
    child.kill('SIGTERM');
    const hard = setTimeout(() => kill(child, 'SIGKILL'), READY);
    await closed;
    clearTimeout(hard);
  }
  // npx does not wait for the server to end.
  for (const deadline = Date.now() + READY; !(await isFree(port)); ) {
    if (Date.now() > deadline) throw new Error('the server outlived npx');
    await new Promise((settle) => setTimeout(settle, 100));
  }
}

/** The lines of the README's first block in a language that has a text in it. */
function block(language, having) {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(new RegExp('^```' + language + '\\n([^]*?)^```', 'gm'))].map(([, code]) => code);
  const found = blocks.find((code) => code.includes(having));
  if (!found) throw new Error(`the README has no ${language} with ${having}`);
  return found.trim().split('\n');
}

async function must(command, args, options) {
  const { code, output } = await run(command, args, { limit: LIMIT, ...options });
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}, and said:\n${output}`);
  return output;
}
