// Pictures for people to look at: the first screen of every page, the whole page and each step of its story, on a desk and on a phone,
// light and dark. The pages must be built, and the server for those that use one. The pictures go to tests/e2e/shots, which is not under
// version control.
//
//   node tests/tools/shots.mjs [page ...]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { realServer, staticHost } from '../e2e/lib/host.mjs';
import { drawn, refloat, station } from '../e2e/lib/page.mjs';
import { serverBinary, shots } from '../e2e/lib/paths.mjs';
import { needChromium } from './lib/browser.mjs';
import { Stop, main, say } from './lib/log.mjs';

const STATIONS = ['encrypt', 'exhaust', 'slots_to_coeffs', 'encapsulate', 'encode_phase', 'blind_rotate', 'product_tree', 'conjugate', 'decrypt'];

/** Presses each button of a list, and takes a picture after each. */
async function each(page, take, selector, name) {
  await page.locator(selector).first().waitFor();
  for (let i = 0; i < (await page.locator(selector).count()); i++) {
    await page.locator(selector).nth(i).click();
    await take(`${name}-${i}`);
  }
}

/** Presses a button, and waits until something is there. */
async function press(page, button, done) {
  await page.locator(button).first().click();
  await page.locator(done).first().waitFor({ timeout: 120_000 });
}

/** What is there once a page is drawn, and its steps; `take` makes a picture of the window with the named element in the middle. */
const PAGES = {
  index: {
    ready: '[data-act=refloat]:enabled',
    steps: async (page, take) => {
      await refloat(page);
      for (const name of STATIONS) {
        await station(page, name);
        await take(name, '#story [aria-current]');
      }
      await page.locator('[data-act=break]').click();
      await page.waitForFunction(() => !document.querySelector('[data-act=cancel]'));
      await take('broken', '[data-act=break]');
    },
  },
  gates: {
    path: 'gates.html?set=toy-bool',
    ready: '[data-act=add]:enabled',
    steps: async (page, take) => {
      await press(page, '[data-act=add]', '#sum');
      await take('added', '#gates-adder');
      await press(page, '[data-act=look]', '#close-result');
      await take('looked', '#gates-close');
      await press(page, '[data-act=evaluate]', '#outputs');
      await take('evaluated', '#gates-builder');
      await press(page, '[data-act=lookup]', '[data-act=again]:enabled');
      await take('looked-up', '#gates-draw');
    },
  },
  comb: { ready: '.conv-dots circle', steps: (page, take) => each(page, (name) => take(name, '#conv-story [aria-current]'), '#conv-stages [data-act^="at:"]', 'stage') },
  digits: {
    ready: '.digits-dots circle',
    steps: async (page, take) => {
      for (const reading of ['hour', 'octal', 'fraction', 'table']) {
        await page.locator('[data-input=reading]').selectOption(reading);
        await page.locator('[data-act=run]:enabled').click();
        await page.locator('[data-act=run]:enabled').waitFor({ timeout: 120_000 });
        await each(page, (name) => take(name, '#digits-story'), '#digits-story [data-act^="at:"]', reading);
      }
    },
  },
  exact: { ready: '#exact-stages button:enabled', steps: (page, take) => each(page, (name) => take(name, '#exact-stages'), '#exact-stages [data-act^="at:"]', 'stage') },
  patients: {
    path: 'patients.html?set=toy-conventional10-50bit',
    ready: '.patients-line',
    steps: async (page, take) => {
      await page.locator('[data-act=run]:enabled').click();
      await take('running');
      await page.locator('.patients-recorded').waitFor({ state: 'detached' });
      await page.locator('#outcome').waitFor({ timeout: 120_000 });
      await take('way', '#patients-way');
      await take('scores', '#scores');
    },
  },
  triage: {
    ready: '.triage-cell.won',
    steps: async (page, take) => {
      await page.locator('[data-act="ask:nearest"]').click();
      await take('nearest');
      await page.locator('[data-act="ask:urgent"]').click();
      await page.locator('[data-act=run]:enabled').click();
      await page.locator('#triage-story .now').waitFor({ timeout: 120_000 });
      await take('running');
      await page.locator('[data-act=run]:enabled').waitFor({ timeout: 120_000 });
      await take('urgent', '#triage-triangle');
    },
  },
  methods: { ready: '.methods-at', steps: (page, take) => each(page, (name) => take(name, '#methods-crossing'), '[data-act^="kind:"]', 'kind') },
  missing: { path: 'there/is/nothing', ready: '#path' },
};

/** Pages whose steps could not be taken to the end. */
let failed = 0;

/** A desk and a phone. */
const WINDOWS = [[1280, 800], [390, 844]];

async function photograph(browser, url, name, colorScheme, [width, height]) {
  const { path = `${name}.html`, ready, steps } = PAGES[name];
  const context = await browser.newContext({ colorScheme, viewport: { width, height }, reducedMotion: 'reduce', hasTouch: width < 600 });
  const page = await context.newPage();
  const take = async (step, at, fullPage = false) => {
    if (at) await page.locator(at).first().evaluate((element) => element.scrollIntoView({ block: 'start' }));
    await drawn(page);
    await page.screenshot({ path: join(shots, `${name}-${step}-${colorScheme}-${width}.png`), fullPage });
  };
  try {
    await page.goto(url + path);
    await page.locator(ready).first().waitFor({ timeout: 60_000 });
    await page.waitForLoadState('networkidle');
    await take('first');
    await take('whole', undefined, true);
    await steps?.(page, take);
  } catch (error) {
    say(`${name}, ${colorScheme}, ${width} px: ${error.message}`);
    failed++;
  } finally {
    await context.close();
  }
}

await main(async () => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in PAGES));
  if (unknown.length) throw new Stop(`no page is called ${unknown.join(', ')}; there are ${Object.keys(PAGES).join(', ')}`);
  mkdirSync(shots, { recursive: true });
  const after = [];
  const withServer = serverBinary() !== undefined;
  const host = withServer ? await realServer(after) : await staticHost();
  if (!withServer) {
    say('no server is built, so the pages are as they are without one');
    after.push(host.close);
  }
  const { url } = host;
  const browser = await chromium.launch({ executablePath: await needChromium(), args: ['--no-sandbox', '--disable-gpu'] });
  after.push(() => browser.close());
  try {
    for (const name of wanted.length ? wanted : Object.keys(PAGES)) {
      for (const colorScheme of ['light', 'dark']) for (const window of WINDOWS) await photograph(browser, url, name, colorScheme, window);
      say(`${name}: taken`);
    }
  } finally {
    for (const end of after.reverse()) await end();
  }
  return failed ? 1 : 0;
});
