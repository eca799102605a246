// Records what a bootstrapping costs at full size with the set n16, for the page of the comb to show beside its own small one
// (src/recorded/conventional-n16.json): keys, a message, its bootstrapping on one thread and its decryption, by a released `refloat`. It
// takes a quiet machine with 12 GB of memory and 3 GB of disk, and a few minutes:
//
//   node demo/scripts/record-conventional-n16.mjs target/release/refloat
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { begin, main, say, Stop } from '../../tests/tools/lib/log.mjs';
import { must } from '../../tests/tools/lib/run.mjs';
import { inScratch } from '../../tests/tools/lib/scratch.mjs';
import { keep, modulesOfPages } from './recording.mjs';

const SET = 'n16';
const MESSAGE = 'chirp';
const THREADS = 1;
/** GiB: enough for keys and diagonals to be ready before the run. */
const MEMORY = 12;

await main(async () => {
  const [given] = process.argv.slice(2);
  if (!given) throw new Stop('which refloat? node demo/scripts/record-conventional-n16.mjs target/release/refloat');
  /** What a command prints as JSON. */
  const printed = async (...words) => {
    const step = begin(`refloat ${words[0]}`);
    const { output } = await must(step, resolve(given), [...words.map(String), '--json'], { stdio: ['ignore', 'pipe', 'ignore'] });
    step.done();
    return JSON.parse(output);
  };
  const vite = await modulesOfPages();
  const { numbersOf } = await vite.ssrLoadModule('/src/conventional/state.ts').finally(() => vite.close());
  const date = new Date().toISOString().slice(0, 10);
  const { machine } = await printed('about');
  const set = await printed('params', SET);
  const message = numbersOf(MESSAGE, set.slots);
  const recorded = await inScratch('n16', async (folder) => {
    const [keys, numbers, spent, fresh, back] = ['keys', 'numbers.json', 'spent.ct', 'fresh.ct', 'back.json'].map((name) => join(folder, name));
    writeFileSync(numbers, JSON.stringify([...message]));
    const made = await printed('keygen', '--preset', SET, '--out', keys);
    const input = await printed('encrypt', '--exhausted', '--key', keys, '--in', numbers, '--out', spent);
    const run = await printed('bootstrap', '--keys', keys, '--in', spent, '--out', fresh, '--threads', THREADS, '--memory', MEMORY);
    const { precision } = await printed('decrypt', '--key', keys, '--in', fresh, '--out', back, '--compare', numbers);
    const title = (id) => set.stages.find((stage) => stage.id === id).title;
    return {
      set: SET,
      ...{ logN: set.logN, slots: set.slots, securityBits: set.securityBits, inputLevel: set.inputLevel, outputLevel: set.outputLevel },
      message: MESSAGE,
      date,
      machine,
      threads: THREADS,
      keyBytes: made.bytes,
      seconds: run.seconds,
      input: { level: input.level, logQ: input.logQ },
      stages: run.stages.map(({ stage, seconds, level, logQ }) => ({ stage, title: title(stage), seconds, level, logQ })),
      bits: { worst: precision.worst, rms: precision.rms },
    };
  });
  const size = keep('conventional-n16', recorded, (_, x) => (typeof x === 'number' && !Number.isInteger(x) ? Number(x.toPrecision(6)) : x));
  say(`recorded ${recorded.seconds.toFixed(2)} s, load average ${machine.load ?? 'unknown'} before it, ${size} bytes`);
});
