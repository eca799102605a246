// `node tests/tools/repetition.mjs [--under PATH] [--list]`: pairs of places in the source that share six or more lines of code. Blank
// lines, comments and imports do not count as lines, nor do places with fewer than sixty characters in all. `--list` prints the pairs,
// the longest first. This is a measure for tidying up, not a test: some repetition is clearer than what would avoid it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { main, say } from './lib/log.mjs';
import { root } from './lib/paths.mjs';
import { pairsOf } from './lib/repetition.mjs';

/** Written by programs of the repository. */
const GENERATED = ['ts/src/sets.ts'];

await main(() => {
  const { values } = parseArgs({ options: { under: { type: 'string', default: '.' }, list: { type: 'boolean' } } });
  const names = execFileSync('git', ['ls-files', '-z', '--', values.under], { cwd: root, encoding: 'utf8' });
  const sources = names.split('\0').filter((name) => /\.(rs|ts|mjs|css|c|h|cpp|hpp)$/.test(name) && !GENERATED.includes(name));
  const pairs = pairsOf(sources.map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') })));
  if (values.list) for (const { lines, one, other } of pairs) say(`${String(lines).padStart(3)}  ${one}  ${other}`);
  say(`${pairs.length} pairs of places in ${sources.length} files`);
});
