// `npm run bench:tables [-- OPTIONS]`: measures the tables of core/BENCHMARKS.md again and writes them, with machine, date and load.
//   --list          prints every table with its commands, and whether this program runs them; measures nothing
//   --only WORDS    only the commands that have all these words; the name of a table counts as a word of each of its commands
//   --binary PATH   measures this `refloat` instead of a release build of this tree
//   --file PATH     another file than core/BENCHMARKS.md
//   --busy          writes figures even if the machine does other work too
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isRun, refreshed, tablesOf, withTable } from './lib/benchmarks.mjs';
import { Stop, begin, main, say } from './lib/log.mjs';
import { root, target } from './lib/paths.mjs';
import { prepare } from './lib/prepare.mjs';
import { cargoProgress, must } from './lib/run.mjs';

/** Load per thread from which on the machine counts as busy. */
const BUSY = 0.25;

await main(async () => {
  const { values } = parseArgs({
    options: { list: { type: 'boolean' }, only: { type: 'string' }, binary: { type: 'string' }, file: { type: 'string' }, busy: { type: 'boolean' } },
  });
  const file = values.file ?? join(root, 'core/BENCHMARKS.md');
  const words = values.only?.split(/\s+/).filter(Boolean) ?? [];
  const jobs = tablesOf(readFileSync(file, 'utf8')).flatMap((table) =>
    table.runs.map((one) => ({ table, ...one })).filter(({ command }) => words.every((word) => [table.id, ...command.split(' ')].includes(word))),
  );
  if (jobs.length === 0) throw new Stop(`no table and no command of ${file} has the words ${words.join(' ')}; --list prints all`);
  if (values.list) {
    for (const { table, command, where } of jobs) say(`${table.id}${isRun(table, command) ? '' : ' (by hand)'}\n  ${command}\n  ${where}`);
    return;
  }
  const runs = jobs.filter(({ table, command }) => isRun(table, command));
  if (runs.length === 0) throw new Stop('these are measured by hand; --list prints their commands');
  const load = loadavg()[0] / cpus().length;
  if (load > BUSY && !values.busy) {
    throw new Stop(`the machine does other work (load average ${load.toFixed(2)} for each thread); wait, or write its figures with --busy`);
  }
  const binary = values.binary ?? (await released());
  for (const command of new Set(runs.map((one) => one.command))) {
    const step = begin(command);
    const { output } = await must(step, binary, [...command.split(' ').slice(1), '--json'], { stdio: ['ignore', 'pipe', 'ignore'] });
    for (const { table } of runs.filter((one) => one.command === command)) {
      // The file is read again because somebody may have changed it meanwhile.
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, withTable(text, table.id, (now) => refreshed(now, command, JSON.parse(output), new Date())));
    }
    step.done();
  }
  const byHand = jobs.length - runs.length;
  if (byHand > 0) say(`${byHand} commands are run by hand; --list prints them`);
});

async function released() {
  await prepare();
  const step = begin('refloat, as it is released');
  await must(step, 'cargo', ['build', '--release', '--package', 'refloat-server'], cargoProgress(step));
  step.done();
  return join(target, 'release', process.platform === 'win32' ? 'refloat.exe' : 'refloat');
}
