// `npm run test:arm`: refloat for 64-bit ARM, compiled here and run by an emulator. One line per leg: passed, or skipped and why.
//
//   --short     only the kernels; `npm test` runs these if the emulator and the compiler are installed. The other legs compile more and
//               run for minutes
//   --install   installs what is missing: the Rust target and Debian's packages
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ARM, cargoForArm, emulated, missingForArm } from './lib/arm.mjs';
import { countTests } from './lib/count.mjs';
import { doJob } from './lib/job.mjs';
import { begin, bold, main, red, say } from './lib/log.mjs';
import { root, target } from './lib/paths.mjs';
import { run } from './lib/run.mjs';
import { inScratch } from './lib/scratch.mjs';
import { refresh, toysLeft } from './lib/toys.mjs';

const legs = {
  'ARM: every kernel, NEON and scalar': (progress) => tests(progress, ['--package', 'refloat', '--lib', '--', 'arith::']),
  'ARM: the shared vectors, with a bootstrap of each method': (progress) => tests(progress, ['--package', 'refloat-wasm', '--test', 'portable']),
  'ARM: one server job': job,
  'ARM: a bootstrap of every other toy set': toys,
};

/** The server and command line, emulated. */
const refloat = [...emulated, join(target, ARM, 'debug', 'refloat')];

/** What `refloat bench` ends with on ARM alone: whoever has the hardware is asked for figures. */
const REQUEST = /no timings from 64-bit ARM: if you can, send it the output above/;

await main(async () => {
  const words = process.argv.slice(2);
  const chosen = Object.entries(legs).slice(0, words.includes('--short') ? 1 : undefined);
  const missing = await missingForArm(words.includes('--install'));
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, leg] of chosen) {
    const progress = begin(name);
    if (missing) {
      progress.skip(bold(`skipped: ${missing}`));
      total.skipped += 1;
      continue;
    }
    try {
      const { passed, said } = await leg(progress);
      progress.done(said);
      total.passed += passed;
    } catch (error) {
      progress.fail();
      say(red(error.message));
      total.failed += 1;
    }
  }
  say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  // The whole is asked for by name: if nothing of it ran, that is no success.
  return total.failed || (chosen.length > 1 && total.passed === 0) ? 1 : 0;
});

async function tests(progress, args) {
  const { passed } = countTests(await cargoForArm(progress, ['test', ...args]));
  if (passed === 0) throw new Error(`cargo test ${args.join(' ')} ran no test`);
  return { passed, said: `${passed} tests` };
}

/** The main job by the server and the command line, both of them emulated, and a measurement. */
async function job(progress) {
  await buildServer(progress);
  return inScratch('arm', async (folder) => {
    const { about, bits } = await doJob(progress, refloat, folder);
    if (!/neon/.test(about)) throw new Error(`refloat about does not name NEON:\n${about}`);
    const bench = await ask(['bench', '--preset', 'toy10', '--runs', '1', '--threads', '1']);
    if (!REQUEST.test(bench)) throw new Error(`refloat bench does not ask for figures from ARM:\n${bench}`);
    return { passed: 1, said: `toy10, ${bits} bits` };
  });
}

/** Toy sets for which the shared vectors have no bootstrap. */
async function toys(progress) {
  await buildServer(progress);
  const listed = await ask(['params', '--json'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const left = toysLeft(JSON.parse(listed), JSON.parse(readFileSync(join(root, 'tests', 'vectors', 'portable.json'), 'utf8')));
  for (const set of left) {
    progress.update(set.name);
    await inScratch('arm', (folder) => refresh(set, refloat, folder));
  }
  return { passed: left.length, said: left.map(({ name }) => name).join(', ') };
}

/** Runs the command line. Returns its output. */
async function ask(args, options) {
  const [program, ...first] = refloat;
  const { code, output } = await run(program, [...first, ...args], options);
  if (code !== 0) throw new Error(`refloat ${args.join(' ')} ended with ${code}, and said:\n${output}`);
  return output;
}

async function buildServer(progress) {
  await cargoForArm(progress, ['build', '--package', 'refloat-server', '--bin', 'refloat']);
}
