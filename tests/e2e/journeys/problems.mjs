// What goes wrong on any page is said in the window, beside the button that was pressed, and has the focus. The first page's own kinds of
// problems are in promises.mjs.
import assert from 'node:assert/strict';
import { DESK, PHONE, opened } from '../lib/looks.mjs';
import { drawn, keepWorkers, messageLies } from '../lib/page.mjs';
import { test, until } from '../lib/test.mjs';

/** What can be pressed on each page. */
const PAGES = [
  { name: 'index', buttons: ['[data-act=refloat]', '[data-act=break]'] },
  { name: 'gates', buttons: ['[data-act=add]', '[data-act=look]', '[data-act=evaluate]', '[data-act=lookup]'] },
  { name: 'conventional', buttons: ['[data-act=run]'] },
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
