// `node tests/tools/http-and-files.mjs [SET] [--rounds K]`: a conventional or SHIP set at full size, once on files and once over HTTP,
// after `npm run build:server`. Both results must be the same bytes and decrypt to what was encrypted. Prints the time and peak memory
// (on Linux) of each command. n16 takes 5 GB of disk and 10 GB of memory.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stop, main, say } from './lib/log.mjs';
import { serverBinary } from './lib/paths.mjs';
import { start } from './lib/run.mjs';
import { freePort, serve } from './lib/server.mjs';

/** The most memory a process has had, in bytes. */
function peakOf(pid) {
  try {
    return 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const gigabytes = (bytes) => (bytes ? `${(bytes / 1e9).toFixed(2)} GB` : '');
const row = (what, seconds = '', memory = '') => say(what.padEnd(44) + seconds.padStart(9) + memory.padStart(12));

/** Runs a refloat command and prints its time and memory. Returns what it printed. */
async function refloat(what, args) {
  const began = performance.now();
  const child = start(serverBinary, ['--json', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [peak, out, errors] = [0, '', ''];
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (errors += data));
  const look = setInterval(() => (peak = Math.max(peak, peakOf(child.pid))), 50);
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  clearInterval(look);
  if (code !== 0) throw new Stop(`refloat ${args[0]} failed: ${errors}`);
  row(what, `${((performance.now() - began) / 1000).toFixed(2)} s`, gigabytes(peak));
  return JSON.parse(out);
}

await main(async () => {
  const { values, positionals } = parseArgs({ options: { rounds: { type: 'string' } }, allowPositionals: true });
  const [set = 'n16'] = positionals;
  const insecure = set.startsWith('toy') ? ['--allow-insecure'] : [];
  const rounds = values.rounds === undefined ? [] : ['--rounds', values.rounds];
  const folder = await mkdtemp(join(tmpdir(), 'refloat-'));
  const at = (name) => join(folder, name);
  try {
    const made = await refloat(`${set}: keygen`, ['keygen', '--preset', set, '--out', at('keys'), ...insecure]);
    row(`${gigabytes(made.bytes)} of keys`);
    const { slots } = await refloat('params', ['params', set]);
    const numbers = Array.from({ length: slots }, () => (2 * Math.random() - 1).toFixed(12));
    await writeFile(at('in.csv'), numbers.join('\n'));
    await refloat('encrypt', ['encrypt', '--key', at('keys'), '--in', at('in.csv'), '--out', at('in.ct'), '--exhausted']);
    const bootstrap = async (what, out, ...more) => {
      const args = ['bootstrap', '--keys', at('keys'), '--in', at('in.ct'), '--out', at(out), ...rounds, ...more];
      const { seconds, after } = await refloat(what, args);
      row(`  of it the job, to level ${after.level}`, `${seconds.toFixed(2)} s`);
    };
    await bootstrap('bootstrap with keys from files', 'files.ct');
    const server = await serve({ port: await freePort(), args: ['--data', at('data'), '--log-level', 'warn', ...insecure] });
    try {
      await bootstrap('over HTTP: keys sent, loaded, bootstrap', 'http.ct', '--server', server.url);
      await bootstrap('over HTTP once more', 'again.ct', '--server', server.url);
      row('the server, in all', '', gigabytes(peakOf(server.pid)));
    } finally {
      await server.stop();
    }
    const [files, http, again] = await Promise.all(['files.ct', 'http.ct', 'again.ct'].map((name) => readFile(at(name))));
    if (!files.equals(http) || !files.equals(again)) throw new Stop('the results differ');
    const read = ['decrypt', '--key', at('keys'), '--in', at('http.ct'), '--out', at('out.csv'), '--compare', at('in.csv')];
    const { precision } = await refloat('decrypt', read);
    say(`the same ${files.length} bytes thrice; ${precision.worst.toFixed(2)} bits in the worst slot, ${precision.rms.toFixed(2)} rms`);
    return 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
