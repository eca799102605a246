// `node tests/tools/pair.mjs ONE OTHER [--rounds N] -- ARGUMENTS OF refloat bench`: two binaries in turn on one machine, such as the
// static one and the dynamic one. For every time, prints the least of each binary, and the median of the ratios of neighbouring runs.
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
  say(`| | ${positionals.join(' | ')} | ratio |`);
  say('| --- | --- | --- | --- |');
  for (const [what, both] of found) {
    const least = both.map((times) => `${(1e3 * Math.min(...times)).toPrecision(4)} ms`);
    const ratio = median(both[0].map((time, i) => time / both[1][i]));
    say(`| ${what} | ${least.join(' | ')} | ${ratio.toFixed(3)} |`);
  }
});

async function measure(binary, bench) {
  const { code, output } = await run(binary, ['bench', ...bench, '--json'], { stdio: ['ignore', 'pipe', 'ignore'] });
  if (code !== 0) throw new Stop(`${binary} bench ${bench.join(' ')} ended with ${code}`);
  return JSON.parse(output);
}
