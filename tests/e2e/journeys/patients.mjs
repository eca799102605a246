// Patients: logistic regression on encrypted measurements, on the real server.
import assert from 'node:assert/strict';
import { PHONE, opened, soundInBoth } from '../lib/looks.mjs';
import { clickWhen } from '../lib/page.mjs';
import { asksFirst, tellsOfUnpacking } from '../lib/sending.mjs';
import { test } from '../lib/test.mjs';

/** Presses the button, and waits for scores of the reader's own. */
async function scored(page) {
  await page.locator('[data-act=run]:enabled').click();
  await page.locator('.patients-recorded').waitFor({ state: 'detached' });
  await page.locator('#outcome').waitFor({ timeout: 120_000 });
}

/** Counts from now on how often the page starts saying that it makes keys. Returns a function that reads the count. */
async function keysMade(page) {
  await page.evaluate(() => {
    let said = false;
    globalThis.keysMade = 0;
    new MutationObserver(() => {
      const says = document.getElementById('patients-controls').textContent.includes('Making evaluation keys');
      if (says && !said) globalThis.keysMade += 1;
      said = says;
    }).observe(document.getElementById('patients-controls'), { subtree: true, childList: true, characterData: true });
  });
  return () => page.evaluate(() => globalThis.keysMade);
}

test('patients: scores of encrypted measurements', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(`${url}patients.html?set=toy-conventional10-50bit`, opened(PHONE));
  await scored(page);
  const words = await page.locator('#outcome').innerText();
  const [count, right, bootstraps] = /(\d+) patients scored with \S+, (\d+) of them correctly, with (\d+) bootstraps/.exec(words).slice(1).map(Number);
  assert.ok(count === 16 && right >= 14 && bootstraps >= 3, words);
  const cells = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.equal(cells.length, 16);
  for (const [, encrypted, clear, exact] of cells) {
    assert.ok(Math.abs(encrypted - clear) < 2e-3, `${encrypted} and ${clear}`);
    assert.ok(Math.abs(clear - exact) < 2e-2, `${clear} and ${exact}`);
  }
  assert.equal(new Set(cells.map((row) => row[1])).size, 16, 'sixteen scores');

  // The program, with the levels of the run.
  await page.locator('.patients-graph .patients-level', { hasText: 'level' }).first().waitFor();
  await page.click('[data-act="table:program"]');
  const values = await page.locator('#figure-program tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(values.map(([name]) => name), ['x', 'w x', 'x²', 'v x²', 'w x + v x²', 'sum over 32 slots', 'z', 'score']);
  for (const [name, level, logQ, logScale] of values) assert.ok(Number(level) >= 0 && Number(logQ) > Number(logScale) && Number(logScale) > 20, `${name}: ${level}, ${logQ}, ${logScale}`);
  const put = Object.fromEntries(values.map((row) => [row[0], Number(row[4])]));
  assert.ok(Object.values(put).every((count) => count >= 0 && count <= bootstraps), JSON.stringify(put));
  assert.equal(put['v x²'], 1);
  await page.click('[data-act="table:program"]');
  await page.locator('.patients-graph').waitFor();
  await soundInBoth(page, 'patients');
});

test('patients: without a server the tab runs the program, and can be stopped', async ({ open, site }) => {
  const page = await open(`${site}patients.html?set=toy-conventional10-50bit`, { ready: false, reducedMotion: 'reduce' });
  await page.locator('#patients-controls', { hasText: 'npm start' }).waitFor();
  assert.match(await page.locator('[data-input=set] option:checked').innerText(), /toy-conventional10-50bit · this tab/);
  await page.locator('.patients-recorded').waitFor();
  const cancelled = clickWhen(page, 'This tab is at step', '[data-act=cancel]', '#patients-controls');
  await page.locator('[data-act=run]:enabled').click();
  await cancelled;
  await page.locator('[data-act=run]:enabled').waitFor();
  assert.equal(await page.locator('.problem').count(), 0);
  assert.match(await page.locator('#live').innerText(), /Cancelled/);
  // What was there before the run comes back.
  await page.locator('.patients-recorded').waitFor();
  // Started again and not cancelled, with the existing keys.
  const made = await keysMade(page);
  await scored(page);
  assert.equal(await made(), 0, 'the keys were there');
  const [count, right, bootstraps] = /(\d+) patients scored with \S+, (\d+) of them correctly, with (\d+) bootstraps/.exec(await page.locator('#outcome').innerText()).slice(1).map(Number);
  assert.ok(count === 16 && right >= 14 && bootstraps >= 3, `${count}, ${right}, ${bootstraps}`);
  const cells = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  for (const [, encrypted, clear] of cells) assert.ok(Math.abs(encrypted - clear) < 2e-3, `${encrypted} and ${clear}`);
});

test('patients: keys of another set, and of a page that nobody looks at, are freed', async ({ open, site }) => {
  const page = await open(`${site}patients.html?set=toy-conventional10-50bit`, { ready: false, reducedMotion: 'reduce', prepare: (p) => p.clock.install() });
  const hint = page.locator('.conv-set');
  await hint.filter({ hasText: 'are made with the first run' }).waitFor();
  await scored(page);
  await hint.filter({ hasText: /evaluation keys made here in .* MB in memory/ }).waitFor();
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await page.clock.fastForward(9 * 60_000);
  await hint.filter({ hasText: 'MB in memory' }).waitFor();
  await page.clock.fastForward(61_000);
  await hint.filter({ hasText: 'are made with the first run' }).waitFor();
  const made = await keysMade(page);
  await scored(page);
  assert.equal(await made(), 1, 'the keys were made anew');
  // Keys of another set replace these.
  await page.locator('[data-input=set]').selectOption('toy-conventional11@tab');
  const cancelled = clickWhen(page, 'Making evaluation keys', '[data-act=cancel]', '#patients-controls');
  await page.locator('[data-act=run]:enabled').click();
  await cancelled;
  await page.locator('[data-input=set]:enabled').selectOption('toy-conventional10-50bit@tab');
  await hint.filter({ hasText: 'are made with the first run' }).waitFor();
});

test('patients: a server that lacks the sets is not reported as unreachable', async ({ open, serve }) => {
  const { url } = await serve();
  const without = async (route) => {
    const response = await route.fetch();
    const offer = await response.json();
    await route.fulfill({ response, json: { ...offer, sets: offer.sets.filter(({ method }) => method !== 'ckks-conventional') } });
  };
  const page = await open(`${url}patients.html?set=toy-conventional10-50bit`, { ready: false, prepare: (p) => p.route('**/v1/params*', without) });
  await page.locator('[data-act=run]:enabled').waitFor();
  const words = await page.locator('#patients-controls').innerText();
  assert.match(words, /The server here has none of the sets that this program runs with/);
  assert.doesNotMatch(words, /No server/);
  assert.match(await page.locator('[data-input=set] option:checked').innerText(), /this tab/);
});

test('patients: large keys are sent only after the reader has agreed to their size, once', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(`${url}patients.html?set=toy-conventional10-50bit`, opened(PHONE));
  await page.locator('.patients-recorded').waitFor();
  await page.locator('[data-input=set]:enabled').selectOption('n15@server');
  // The page still shows the run with another set, and says so.
  assert.match(await page.locator('#patients-way .recorded').innerText(), /with toy-conventional11\. n15, chosen above, is not what it shows/);
  assert.match(await page.locator('#outcome').innerText(), /scored with toy-conventional11,/);
  await asksFirst(page, 'patients');
  await page.locator('.patients-recorded').waitFor();
});

test('patients: while the server unpacks keys, and tells nothing, the page says so', async ({ open, serve }) => {
  const { url } = await serve();
  await tellsOfUnpacking(open, `${url}patients.html?set=toy-conventional10-50bit`, 'patients');
});
