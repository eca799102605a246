// `node tests/tools/argmax.mjs [--runs 100] [--preset n15+fbs16-50] [--count 16] [--by gates|digits]`: argmax of random encrypted
// numbers over HTTP, each a job of its own on a server that this program starts, after `npm run build:server`. The numbers are as far apart
// as the set requires; every answer is decrypted and compared with the clear one. Prints the times of the jobs, and fails if one was wrong.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stop, main, say } from './lib/log.mjs';
import { serverBinary } from './lib/paths.mjs';
import { start } from './lib/run.mjs';
import { freePort, serve } from './lib/server.mjs';

/** Runs a refloat command. Returns what it printed. */
async function refloat(args) {
  const child = start(serverBinary, ['--json', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (errors += data));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Stop(`refloat ${args[0]} failed: ${errors}`);
  return JSON.parse(out);
}

/** Numbers in [0, 1] in random order, any two of them at least `apart` from each other. */
function drawn(count, apart) {
  const room = 1 - (count - 1) * apart;
  if (room <= 0) throw new Stop(`${count} numbers in [0, 1] are not ${apart} apart; take a smaller --count`);
  const places = Array.from({ length: count }, () => Math.random() * room).sort((a, b) => a - b);
  const numbers = places.map((place, i) => place + i * apart);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [numbers[i], numbers[j]] = [numbers[j], numbers[i]];
  }
  return numbers;
}

/** The value of an option, which must be a positive whole number. */
function positive(name, text) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Stop(`--${name} ${text}: give a whole number above 0`);
  return value;
}

const options = {
  runs: { type: 'string', default: '100' },
  preset: { type: 'string', default: 'n15+fbs16-50' },
  count: { type: 'string', default: '16' },
  by: { type: 'string' },
};

await main(async () => {
  const { values } = parseArgs({ options });
  const [runs, count] = [positive('runs', values.runs), positive('count', values.count)];
  const insecure = values.preset.startsWith('toy') ? ['--allow-insecure'] : [];
  const folder = await mkdtemp(join(tmpdir(), 'refloat-'));
  const at = (name) => join(folder, name);
  try {
    const { orders } = await refloat(['params', values.preset]);
    if (orders?.leastUnit === undefined) throw new Stop(`${values.preset} compares no slots; take a set that links numbers to gates`);
    await refloat(['keygen', '--preset', values.preset, '--out', at('keys'), ...insecure]);
    const server = await serve({ port: await freePort(), args: ['--data', at('data'), '--log-level', 'warn', ...insecure] });
    const seconds = [];
    let wrong = 0;
    try {
      const ask = ['argmax', '--count', `${count}`, '--range', 'unit', '--keys', at('keys'), '--in', at('x.ct'), '--out', at('y.ct')];
      const way = values.by === undefined ? [] : ['--by', values.by];
      for (let run = 0; run < runs; run++) {
        const numbers = drawn(count, orders.leastUnit);
        await writeFile(at('x.json'), JSON.stringify(numbers));
        await refloat(['encrypt', '--key', at('keys'), '--in', at('x.json'), '--out', at('x.ct')]);
        const done = await refloat([...ask, ...way, '--server', server.url]);
        if (run === 0) {
          for (const { by, reason } of done.compared ?? []) say(`by ${by}: ${reason}`);
          say(`each wrong with a probability of at most 2^${done.logFailure?.toFixed(1)}, numbers at least ${orders.leastUnit} apart`);
        }
        // The first job reads and expands the keys, too.
        if (run > 0 || runs === 1) seconds.push(done.seconds);
        await refloat(['decrypt', '--key', at('keys'), '--in', at('y.ct'), '--out', at('y.json')]);
        const found = JSON.parse(await readFile(at('y.json'), 'utf8'));
        const largest = numbers.indexOf(Math.max(...numbers));
        const right = found.every((y, i) => Math.abs(y - (i === largest ? 1 : 0)) < 0.01);
        if (!right) {
          wrong += 1;
          say(`run ${run + 1}: wrong, for ${JSON.stringify(numbers)}`);
        }
        if ((run + 1) % 10 === 0) say(`${run + 1} of ${runs}, ${wrong} wrong`);
      }
    } finally {
      await server.stop();
    }
    seconds.sort((a, b) => a - b);
    const shown = [seconds[0], seconds[Math.floor(seconds.length / 2)], seconds.at(-1)].map((s) => s.toFixed(2));
    say(`${runs} argmax of ${count} through HTTP on ${values.preset}: ${wrong} wrong; fastest, median, slowest job ${shown.join(', ')} s`);
    return wrong === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
