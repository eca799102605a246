// Pages that run in the tab.
import assert from 'node:assert/strict';

/** Opens such a page, and waits until a run can be asked for. */
export async function begin({ open, site }, address, options = {}) {
  const page = await open(`${site}${address}`, { ready: false, reducedMotion: 'reduce', ...options });
  await page.locator('[data-act=run]:enabled').waitFor();
  return page;
}

/** Waits for the end of a run, which must leave no problem on the page. */
export async function cameBack(page) {
  await page.locator('#outcome', { hasText: 'came back' }).waitFor({ timeout: 120_000 });
  // The page is done when it offers the next run; the result is drawn before that.
  await page.locator('[data-act=run]').waitFor({ timeout: 60_000 });
  assert.deepEqual(await page.locator('.problem').allInnerTexts(), []);
}
