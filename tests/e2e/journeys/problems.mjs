// Every page reports problems inside the window, beside the button that was pressed, and gives the message the focus. If a server is gone,
// the page says that it tries again, and how often. The first page's own kinds of problems are in promises.mjs.
import assert from 'node:assert/strict';
import { DESK, PHONE, opened } from '../lib/looks.mjs';
import { drawn, keepWorkers, messageLies } from '../lib/page.mjs';
import { test, until } from '../lib/test.mjs';

/** The buttons of each page. */
const PAGES = [
  { name: 'index', buttons: ['[data-act=refloat]', '[data-act=break]'] },
  { name: 'gates', buttons: ['[data-act=add]', '[data-act=look]', '[data-act=evaluate]', '[data-act=lookup]'] },
  { name: 'comb', buttons: ['[data-act=run]'] },
  { name: 'digits', buttons: ['[data-act=run]'] },
  { name: 'exact', buttons: ['[data-act=run]'] },
  { name: 'patients', buttons: ['[data-act=run]'] },
  { name: 'triage', buttons: ['[data-act=run]'], served: true },
];

async function inTheWindow(page, what) {
  await page.locator('.problem').first().waitFor();
  await until(`${what}: the message in the window, with the focus`, async () => {
    const { inside, focused } = await messageLies(page);
    return inside && focused;
  });
  assert.equal((await messageLies(page)).role, 'alert');
}

for (const { name, buttons, served } of PAGES) {
  test(`problems: a crashed worker is told on ${name}`, async ({ open, site, serve }) => {
    const url = served ? (await serve()).url : site;
    for (const look of [PHONE, DESK]) {
      for (const button of buttons) {
        const page = await open(`${url}${name}.html`, { ...opened(look), prepare: keepWorkers });
        await page.locator(`${button}:enabled`).waitFor();
        // What the page asks for as it opens would fail too, and move the button while it is being pressed.
        await page.waitForLoadState('networkidle');
        await page.evaluate(() => {
          for (const worker of globalThis.workers) {
            worker.terminate();
            worker.dispatchEvent(new ErrorEvent('error', { message: 'unreachable executed' }));
          }
        });
        await drawn(page);
        await page.locator(button).click();
        await inTheWindow(page, button);
        assert.match(await page.locator('.problem').innerText(), /worker of refloat (died|did not start)|stopped in the middle/);
      }
    }
  });
}

test('problems: figures that cannot be read are told on methods', async ({ open, site }) => {
  const prepare = (page) => page.route('**/methods*.json', (route) => route.fulfill({ body: 'no figures' }));
  for (const look of [PHONE, DESK]) {
    const page = await open(`${site}methods.html`, { ...opened(look), prepare });
    await inTheWindow(page, 'methods');
  }
});

/** The pages that send keys to a server and compute there; `chosen` selects the server. */
const SERVED = [
  { name: 'patients', path: 'patients.html?set=toy-conventional10-50bit' },
  { name: 'triage', path: 'triage.html' },
  {
    name: 'exact',
    path: 'exact.html',
    chosen: async (page) => {
      await page.selectOption('[data-input=there]', 'toy-bgv10');
      await page.locator('#exact-set', { hasText: 'toy-bgv10' }).waitFor();
    },
  },
];
const AT_WORK = /Making and sending|are sent; the server checks|unpacks the keys|The server is at step|At work|Compared|under way|is next/;
/** What is waiting for an answer when the server goes: an upload of keys, and the events of a run. */
const WAITING = [['while keys are sent', '**/v1/keys/*/chunks/*', PHONE], ['while it computes', '**/v1/jobs/*/events', DESK]];

/** Opens one of these pages on a server, starts a run, and ends the server at the first of these requests. */
async function lost(open, serve, { path, chosen = async () => undefined }, requests, look) {
  const { url, stop } = await serve();
  let asked;
  const first = new Promise((resolve) => { asked = resolve; });
  let gone;
  const ended = new Promise((resolve) => { gone = resolve; });
  const hold = async (route) => { asked(); await ended; await route.continue(); };
  const page = await open(`${url}${path}`, { ...opened(look), expectLostRequests: true, prepare: (p) => p.route(requests, hold) });
  await page.locator('[data-act=run]:enabled').waitFor();
  await chosen(page);
  await page.evaluate(() => {
    globalThis.said = [];
    globalThis.spoken = [];
    new MutationObserver(() => {
      const words = [...document.querySelectorAll('[id$=-controls] .hint')].map((one) => one.textContent.trim()).join(' ');
      if (globalThis.said.at(-1) !== words) globalThis.said.push(words);
      const live = document.getElementById('live').textContent;
      if (globalThis.spoken.at(-1) !== live) globalThis.spoken.push(live);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.locator('[data-act=run]:enabled').click();
  await first;
  await stop('SIGKILL');
  gone();
  return page;
}

for (const one of SERVED) {
  for (const [when, requests, look] of WAITING) {
    test(`problems: ${one.name} counts its tries when the server goes ${when}`, async ({ open, serve }) => {
      const page = await lost(open, serve, one, requests, look);
      await inTheWindow(page, one.name);
      assert.match(await page.locator('.problem').innerText(), /^The server does not answer\. Start it again.* and begin again\./);
      const { said, spoken } = await page.evaluate(() => ({ said: globalThis.said, spoken: globalThis.spoken }));
      const words = (n) => `The server does not answer: trying again, ${n} of 4.`;
      for (const n of [2, 3, 4]) {
        assert.ok(said.some((text) => text.includes(words(n))), `try ${n} is shown: ${said.join(' | ')}`);
        assert.ok(spoken.includes(words(n)), `try ${n} is announced: ${spoken.join(' | ')}`);
      }
      for (const text of said.slice(said.findIndex((text) => text.includes('trying again')))) assert.doesNotMatch(text, AT_WORK);
      assert.equal(await page.locator('[data-act=run]:enabled').count(), 1, 'it can be begun again');
    });
  }

  test(`problems: ${one.name} can be cancelled while it tries again`, async ({ open, serve }) => {
    const page = await lost(open, serve, one, WAITING[1][1], PHONE);
    await page.locator('[id$=-controls]', { hasText: 'trying again, 2 of 4' }).waitFor();
    await page.locator('[data-act=cancel]').click();
    await page.locator('[data-act=run]:enabled').waitFor();
    await page.locator('#live', { hasText: 'Cancelled' }).waitFor({ state: 'attached' });
    assert.equal(await page.locator('.problem').count(), 0);
    assert.doesNotMatch(await page.locator('[id$=-controls]').innerText(), /trying again/);
  });
}
