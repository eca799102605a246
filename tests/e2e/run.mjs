// Journeys through the demo in Chromium: `node tests/e2e/run.mjs [words in a test's name …]`.
//
// Needs a built demo (demo/dist) and, for the journeys with a server, the binary `refloat`:
//   REFLOAT_BIN            the server; else target/quick/refloat, else target/debug/refloat
//   REFLOAT_DEMO           the built demo; else demo/dist
//   CHROMIUM               the browser; else chromium on the path
//   REFLOAT_E2E_SHIP13=1   also the journey at full size (1.5 GB of keys, minutes)
import { openBrowser } from './lib/browser.mjs';
import { collected, select } from './lib/harness.mjs';
import { say } from './lib/say.mjs';

await import('./journeys/shell.mjs');
await import('./journeys/slot.mjs');
await import('./journeys/page.mjs');
await import('./journeys/control.mjs');
await import('./journeys/input.mjs');
await import('./journeys/promises.mjs');
await import('./journeys/access.mjs');
await import('./journeys/server.mjs');
await import('./journeys/looks.mjs');
await import('./journeys/gates.mjs');
await import('./journeys/conventional.mjs');
await import('./journeys/digits.mjs');
await import('./journeys/exact.mjs');
await import('./journeys/patients.mjs');
await import('./journeys/triage.mjs');
await import('./journeys/methods.mjs');

const LIMIT = 180_000;
const total = { passed: 0, failed: 0, skipped: 0 };
let repeated = 0;
const browser = await openBrowser();
try {
  for (const { name, body, options } of select(collected, process.argv.slice(2))) {
    if (options.skip) {
      say(`skip  ${name}: ${options.skip}`);
      total.skipped += 1;
      continue;
    }
    let { failure, seconds } = await attempt(body, options);
    if (failure !== undefined) {
      // A browser on a loaded machine may stumble: one more try, and both outcomes are told.
      say(`again ${name}\n${indented(failure)}`);
      repeated += 1;
      ({ failure, seconds } = await attempt(body, options));
    }
    if (failure === undefined) {
      say(`ok    ${name} (${seconds} s)`);
      total.passed += 1;
    } else {
      say(`FAIL  ${name}\n${indented(failure)}`);
      total.failed += 1;
    }
  }
} finally {
  await browser.close();
}
if (repeated > 0) say(`tried twice: ${repeated}`);
say(`${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

/** Runs a journey; gives what went wrong, if anything, and its duration. */
async function attempt(body, options) {
  const began = Date.now();
  const cleanups = [];
  const context = { browser, after: (f) => cleanups.push(f) };
  let timer;
  let failure;
  try {
    const limit = options.limit ?? LIMIT;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`not finished after ${limit / 1000} s`)), limit);
    });
    await Promise.race([body(context), late]);
  } catch (error) {
    failure = error ?? new Error('a journey failed without saying why');
  } finally {
    clearTimeout(timer);
    // What the page wrote to its console is judged here, too.
    for (const cleanup of cleanups.reverse()) await Promise.resolve(cleanup()).catch((error) => { failure ??= error; });
  }
  return { failure, seconds: ((Date.now() - began) / 1000).toFixed(1) };
}

function indented(failure) {
  return `      ${String(failure.stack ?? failure).replaceAll('\n', '\n      ')}`;
}
