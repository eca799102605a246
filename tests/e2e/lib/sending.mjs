// Promises of the pages that send keys to a server.
import assert from 'node:assert/strict';
import { soundInBoth } from './looks.mjs';
import { clickWhen } from './page.mjs';

/** Starts a run with large keys: nothing is sent before the reader agrees, and a reader who has agreed is not asked again. Ends idle. */
export async function asksFirst(page, name) {
  let sent = 0;
  page.on('request', (request) => { sent += Number(request.method() !== 'GET'); });
  const run = page.locator('[data-act=run]:enabled');
  await run.click();
  const question = page.getByRole('group', { name: /Make and send [\d.]+ [MG]B of evaluation keys\?/ });
  await question.waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-act')), 'confirm', 'the focus is on the answer');
  await soundInBoth(page, `${name}-large`);
  await question.getByRole('button', { name: 'Not now' }).click();
  await question.waitFor({ state: 'detached' });
  assert.equal(sent, 0, 'nothing was sent');
  await run.click();
  // Cancelled once something has been sent.
  const cancelled = clickWhen(page, ' MB of ', '[data-act=cancel]', `#${name}-controls`);
  await question.getByRole('button', { name: 'Make and send' }).click();
  await cancelled;
  await run.click();
  await page.locator('[data-act=cancel]').waitFor();
  assert.equal(await question.count(), 0, 'not asked again');
  await page.keyboard.press('Escape');
  await run.waitFor();
}

/** Opens a page, calls `chosen`, and runs while the server says nothing about the run for a while: the page says what is happening. */
export async function tellsOfUnpacking(open, address, name, chosen = async () => undefined) {
  let tell;
  const told = new Promise((resolve) => { tell = resolve; });
  const quiet = async (route) => { await told; await route.continue(); };
  const page = await open(address, { ready: false, reducedMotion: 'reduce', prepare: (p) => p.route('**/v1/jobs/*/events', quiet) });
  await chosen(page);
  await page.locator('[data-act=run]:enabled').click();
  await page.locator(`#${name}-controls`, { hasText: 'it unpacks the keys' }).waitFor({ timeout: 60_000 });
  assert.equal(await page.locator('progress[value]').count(), 0, 'how long it takes is not known');
  tell();
  await page.locator('[data-act=run]:enabled').waitFor({ timeout: 60_000 });
  assert.equal(await page.locator('.problem').count(), 0);
}
