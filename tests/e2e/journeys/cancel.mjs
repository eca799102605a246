// Whatever a page is doing can be cancelled, and started again. tests/tools/cancels.mjs measures how long the button takes.
import assert from 'node:assert/strict';
import { PAGES, cancelAt } from '../lib/phases.mjs';
import { test, until } from '../lib/test.mjs';

for (const [name, { path = `${name}.html`, served, slow, prepare, ready, button, phases }] of Object.entries(PAGES)) {
  test(`cancel: in every phase of ${name}`, async ({ open, site, serve }) => {
    if (slow) test.slow();
    const page = await open(`${served ? (await serve()).url : site}${path}`, { ready: false, reducedMotion: 'reduce', prepare });
    await ready?.(page);
    await page.locator(`${button}:enabled`).waitFor();
    for (const phase of phases) {
      await page.evaluate(() => { document.getElementById('live').textContent = ''; });
      assert.notEqual(await cancelAt(page, button, phase), undefined, `${phase} came`);
      await until(`${phase}: that it was cancelled is said`, async () => /Cancelled/.test(await page.locator('#live').innerText()));
      assert.deepEqual(await page.locator('.problem').allInnerTexts(), [], `${phase}: cancelling is not an error`);
      assert.equal(await page.locator('[data-act=cancel]').count(), 0, `${phase}: nothing goes on`);
    }
  });
}
