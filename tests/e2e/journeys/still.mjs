// Pages stay still as they open: what is being read does not move when recorded runs, sets and a server's answer come.
import assert from 'node:assert/strict';
import { DESK, PHONE, opened } from '../lib/looks.mjs';
import { test, until } from '../lib/test.mjs';

const PAGES = ['index', 'gates', 'comb', 'digits', 'exact', 'patients', 'triage', 'methods'];
/** The cumulative layout shift that counts as good, by the definition of web vitals. */
const GOOD = 0.1;
/** Milliseconds without a request after which everything has come. */
const QUIET = 1000;

/** Makes a page add up how far things move that the reader did not move; call it before the page opens. */
function watch(page) {
  return page.addInitScript(() => {
    globalThis.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) globalThis.shifts.push({ value, of: sources.map(({ node }) => node?.id || node?.className || node?.nodeName).join(', ') });
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

for (const served of [false, true]) {
  for (const look of [DESK, PHONE]) {
    test(`still: every page as it opens, ${look.viewport.width} px, ${served ? 'with' : 'without'} a server`, async ({ open, site, serve }) => {
      test.setTimeout(180_000);
      const base = served ? (await serve()).url : site;
      const page = await open(`${base}methods.html`, { ...opened(look), reducedMotion: 'no-preference', prepare: watch });
      for (const name of PAGES) {
        await page.goto(`${base}${name}.html`);
        await until(`${name} is open`, () => page.evaluate(() => document.body.dataset.opening === undefined));
        await page.waitForLoadState('networkidle');
        await page.waitForTimeout(QUIET);
        const shifts = await page.evaluate(() => globalThis.shifts);
        const sum = shifts.reduce((all, { value }) => all + value, 0);
        assert.ok(sum < GOOD, `${name} moves by ${sum.toFixed(3)}: ${JSON.stringify(shifts)}`);
        assert.equal(await page.locator('main').isVisible(), true, `${name} is all there`);
      }
    });
  }
}

test('still: a page whose recorded run does not come is shown without it', async ({ open, site }) => {
  const page = await open(`${site}comb.html`, { ...opened(DESK), expectLostRequests: true, prepare: (p) => p.route('**/*.json', (route) => route.fulfill({ status: 404, body: '' })) });
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('#mine-title').waitFor({ timeout: 15_000 });
});
