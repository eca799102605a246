// `node tests/tools/pair.mjs ONE OTHER [--rounds N] -- ARGUMENTS OF refloat bench`: two binaries in turn on one machine, such as the
// static one and the dynamic one. For every time, prints the least of each binary with their ratio, which a noisy machine disturbs less
// the more rounds there are, and the median of the ratios of neighbouring runs.
import { parseArgs } from 'node:util';
import { Stop, begin, main, say } from './lib/log.mjs';
import { median, timesOf } from './lib/pair.mjs';
import { run } from './lib/run.mjs';

await main(async () => {
  const at = process.argv.indexOf('--');
  const [own, bench] = at < 0 ? [process.argv.slice(2), []] : [process.argv.slice(2, at), process.argv.slice(at + 1)];
  const { values, positionals } = parseArgs({ args: own, options: { rounds: { type: 'string', default: '5' } }, allowPositionals: true });
  const rounds = Number(values.rounds);
  if (positionals.length !== 2 || !(Number.isInteger(rounds) && rounds > 0)) {
    throw new Stop('usage: node tests/tools/pair.mjs ONE OTHER [--rounds N] [-- ARGUMENTS OF refloat bench]');
  }
  const step = begin(`refloat bench ${bench.join(' ')}, ${rounds} rounds`);
  const found = new Map();
  for (let round = 0; round < rounds; round++) {
    step.update(`round ${round + 1}`);
    // The two take turns at being first.
    const order = round % 2 ? [1, 0] : [0, 1];
    for (const which of order) {
      for (const [what, seconds] of timesOf(await measure(positionals[which], bench))) {
        if (!found.has(what)) found.set(what, [[], []]);
        found.get(what)[which].push(seconds);
      }
    }
  }
  step.done();
  say(`| | ${positionals.join(' | ')} | ratio of the least | median of ratios |`);
  say('| --- | --- | --- | --- | --- |');
  for (const [what, both] of found) {
    const least = both.map((times) => Math.min(...times));
    const ratios = [least[0] / least[1], median(both[0].map((time, i) => time / both[1][i]))];
    const cells = [...least.map((time) => `${(1e3 * time).toPrecision(4)} ms`), ...ratios.map((ratio) => ratio.toFixed(3))];
    say(`| ${what} | ${cells.join(' | ')} |`);
  }
});

async function measure(binary, bench) {
  const { code, output } = await run(binary, ['bench', ...bench, '--json'], { stdio: ['ignore', 'pipe', 'ignore'] });
  if (code !== 0) throw new Stop(`${binary} bench ${bench.join(' ')} ended with ${code}`);
  return JSON.parse(output);
}
