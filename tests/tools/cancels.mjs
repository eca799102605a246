// How long a press of “Cancel” takes on every page that runs something, in each of its phases: milliseconds until the first button can be
// pressed again. The press comes at the beginning of a phase, and also a while later, when the worker is in the middle of it. The demo must
// be built, and the server for the page that uses one. Ends with 1 if a press took longer than the limit, or if a phase was never seen.
// `npm test` does not run this, because no test depends on a machine's speed; the table is in demo/README.md.
//
//   node tests/tools/cancels.mjs [--runs 5] [--limit 300] [page ...]
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { realServer, staticHost } from '../e2e/lib/host.mjs';
import { serverBinary } from '../e2e/lib/paths.mjs';
import { PAGES, cancelAt } from '../e2e/lib/phases.mjs';
import { needChromium } from './lib/browser.mjs';
import { Stop, main, say } from './lib/log.mjs';

/** How long a phase has lasted when the press comes, in milliseconds. */
const LATE = [0, 40];

/** Prints the times of a page. Returns how many of its phases took longer than the limit or were never seen. */
async function measure(browser, url, name, { runs, limit }) {
  const { path = `${name}.html`, prepare, ready, button, phases } = PAGES[name];
  const times = phases.map(() => []);
  for (let run = 0; run < runs; run++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await prepare?.(page);
    await page.goto(url + path);
    await ready?.(page);
    await page.locator(`${button}:enabled`).waitFor({ timeout: 60_000 });
    for (const [i, phase] of phases.entries()) {
      for (const late of LATE) times[i].push((await cancelAt(page, button, phase, late)) ?? []);
    }
    await context.close();
  }
  let faults = 0;
  for (const [i, [, words]] of phases.entries()) {
    // There is no time for a phase that was over before it could be seen.
    const sorted = times[i].flat().sort((a, b) => a - b);
    const [middle = NaN, most = NaN] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
    const fault = sorted.length === 0 ? '  was never seen' : most > limit ? `  more than ${limit} ms` : '';
    faults += Number(fault !== '');
    say(`${name.padEnd(14)}${`${i + 1}: ${words}`.padEnd(32)}${middle.toFixed(0).padStart(6)} ms, ${most.toFixed(0).padStart(6)} ms at most${fault}`);
  }
  return faults;
}

await main(async () => {
  const { values, positionals: words } = parseArgs({ allowPositionals: true, options: { runs: { type: 'string', default: '5' }, limit: { type: 'string', default: '300' } } });
  const [runs, limit] = [Number(values.runs), Number(values.limit)];
  const unknown = words.filter((name) => !(name in PAGES));
  if (unknown.length || !(runs >= 1) || !(limit > 0)) throw new Stop(`usage: node tests/tools/cancels.mjs [--runs N] [--limit MS] [page ...], of ${Object.keys(PAGES).join(', ')}`);
  const after = [];
  const host = await staticHost();
  after.push(host.close);
  const server = serverBinary() === undefined ? undefined : await realServer(after);
  const browser = await chromium.launch({ executablePath: await needChromium(), args: ['--no-sandbox', '--disable-gpu'] });
  after.push(() => browser.close());
  say(`Chromium ${browser.version()}, load average ${loadavg()[0].toFixed(1)} before it`);
  let faults = 0;
  try {
    for (const name of words.length ? words : Object.keys(PAGES)) {
      if (PAGES[name].served && !server) say(`${name}: no server is built`);
      else faults += await measure(browser, PAGES[name].served ? server.url : host.url, name, { runs, limit });
    }
  } finally {
    for (const end of after.reverse()) await end();
  }
  if (faults > 0) throw new Stop(`${faults} phases took longer than ${limit} ms to cancel, or were not seen`);
});
