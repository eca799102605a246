// The fourth page: logistic regression on encrypted measurements, on the real server.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { violations } from '../lib/page.mjs';
import { test } from '../lib/test.mjs';
import { shots } from '../lib/paths.mjs';

for (const [colorScheme, width] of [['light', 1280], ['dark', 390]]) {
  test(`patients: scores of encrypted measurements, ${colorScheme}, ${width} px`, async ({ open, serve }) => {
    const { url } = await serve();
    const options = { ready: false, reducedMotion: 'reduce', colorScheme, viewport: { width, height: 800 } };
    const page = await open(`${url}patients.html?set=toy-conventional10-50bit`, options);
    await page.locator('[data-act=run]:enabled').click();
    await page.locator('#outcome').waitFor({ timeout: 120_000 });
    const words = await page.locator('#outcome').innerText();
    const [count, right, bootstraps] = /(\d+) patients scored, (\d+) of them rightly, with (\d+) bootstraps/.exec(words).slice(1).map(Number);
    assert.ok(count === 16 && right >= 14 && bootstraps >= 3, words);
    const cells = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.equal(cells.length, 16);
    for (const [, encrypted, clear, exact] of cells) {
      assert.ok(Math.abs(encrypted - clear) < 2e-3, `${encrypted} and ${clear}`);
      assert.ok(Math.abs(clear - exact) < 2e-2, `${clear} and ${exact}`);
    }
    assert.equal(new Set(cells.map((row) => row[1])).size, 16, 'sixteen scores');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} px too wide`);
    assert.deepEqual(await violations(page), []);
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: join(shots, `patients-${colorScheme}-${width}.png`), fullPage: true });
  });
}

test('patients: without a server the tab runs the program, and can be stopped', async ({ open, site }) => {
  const page = await open(`${site}patients.html?set=toy-conventional10-50bit`, { ready: false, reducedMotion: 'reduce' });
  await page.locator('#patients-controls', { hasText: 'npm start' }).waitFor();
  assert.match(await page.locator('[data-input=set] option:checked').innerText(), /toy-conventional10-50bit, in this tab/);
  await page.locator('[data-act=run]:enabled').click();
  await page.locator('#patients-controls', { hasText: 'This tab is at step' }).waitFor({ timeout: 120_000 });
  await page.locator('[data-act=cancel]').click();
  await page.locator('[data-act=run]:enabled').waitFor();
  assert.equal(await page.locator('.problem').count(), 0);
  assert.equal(await page.locator('#outcome').count(), 0);
  // Again, to its end, with the keys that are there.
  await page.locator('[data-act=run]:enabled').click();
  await page.locator('#outcome').waitFor({ timeout: 120_000 });
  const [count, right, bootstraps] = /(\d+) patients scored, (\d+) of them rightly, with (\d+) bootstraps/.exec(await page.locator('#outcome').innerText()).slice(1).map(Number);
  assert.ok(count === 16 && right >= 14 && bootstraps >= 3, `${count}, ${right}, ${bootstraps}`);
  const cells = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  for (const [, encrypted, clear] of cells) assert.ok(Math.abs(encrypted - clear) < 2e-3, `${encrypted} and ${clear}`);
});
