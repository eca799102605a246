// Pausing, stepping, cancelling, replaying, addresses, a crashed worker.
import assert from 'node:assert/strict';
import { test, until } from '../lib/test.mjs';
import { cameBack, clickWhen, finished, keepWorkers, refloat, refloatAndCancel, station } from '../lib/page.mjs';

const tracks = async (page) => Number((await page.locator('.part').innerText()).split('/')[0] ?? 0);

test('control: pause in the middle, step one track, go on', async ({ open, site }) => {
  const page = await open(site);
  const paused = clickWhen(page, 'Rotate blindly', '[data-act=play]');
  await page.click('[data-act=refloat]');
  await paused;
  await page.getByText('Bootstrapping (paused)').waitFor();
  await page.waitForTimeout(150);
  const before = await tracks(page);
  await page.waitForTimeout(300);
  assert.equal(await tracks(page), before, 'nothing moves while paused');
  assert.ok(before < 15, 'caught in the middle');
  await page.click('[data-act=step]');
  await until('the step', async () => (await tracks(page)) === before + 1);
  await page.waitForTimeout(200);
  assert.equal(await tracks(page), before + 1, 'one track and no more');
  await page.click('[data-act=play]');
  await cameBack(page);
});

test('control: cancel in the middle, then start again', async ({ open, site }) => {
  const page = await open(site);
  await refloatAndCancel(page, 'Rotate blindly');
  assert.equal(await page.locator('#station-decrypt.reached').count(), 0, 'nothing came back');
  assert.equal(await page.locator('.problem').count(), 0, 'cancelling is not an error');
  assert.match(await page.locator('#live').innerText(), /Cancelled/);
  await refloat(page);
});

test('control: cancel while keys are made', async ({ open, site }) => {
  const page = await open(site);
  await refloatAndCancel(page, 'track');
  assert.equal(await finished(page), 0);
  await refloat(page);
});

test('control: replay moves through the stations by itself', async ({ open, site }) => {
  const page = await open(site);
  await refloat(page);
  await page.selectOption('[data-input=speed]', '4');
  await page.click('[data-act=replay]');
  await page.locator('#station-encrypt[aria-selected=true]').waitFor();
  await page.locator('#station-slots_to_coeffs[aria-selected=true]').waitFor();
  await page.click('[data-act=play]');
  const at = await page.locator('[role=option][aria-selected=true]').getAttribute('id');
  await page.waitForTimeout(3000);
  assert.equal(await page.locator('[role=option][aria-selected=true]').getAttribute('id'), at, 'pause holds');
});

test('control: one selection in all views', async ({ open, site }) => {
  const page = await open(site);
  await refloat(page);
  // Chosen in the waterfall, then in the flame chart.
  await page.locator('#figure-tide [data-act="station:2"]').click();
  await page.locator('#station-slots_to_coeffs[aria-selected=true]').waitFor();
  assert.equal(await page.locator('#story-title').innerText(), 'Slots to coefficients');
  assert.match(await page.locator('#figure-precision figcaption').innerText(), /“Slots to coefficients”/);
  await page.locator('#costs summary').click();
  await page.locator('#figure-flame [data-act="station:5"] rect').click();
  await page.locator('#station-blind_rotate[aria-selected=true]').waitFor();
  assert.match(await page.locator('#figure-tide figcaption').innerText(), /“Rotate blindly”/);
  assert.match(await page.locator('#figure-tree figcaption').innerText(), /15 of 15 tracks/);
});

test('control: the address names the moment, and back goes back', async ({ open, site }) => {
  const page = await open(site, { hash: '#where=page&set=toy11' });
  assert.equal(await page.locator('[data-input=set-page]').inputValue(), 'toy11');
  await refloat(page);
  await station(page, 'blind_rotate');
  await until('the address', () => page.url().includes('stage=blind_rotate&part=15'));
  await station(page, 'exhaust');
  await until('the address', () => page.url().includes('stage=exhaust'));
  await page.goBack();
  await page.locator('#station-blind_rotate[aria-selected=true]').waitFor();
  await page.evaluate(() => { location.hash = '#stage=product_tree&part=2'; });
  await page.getByText('after 2 of 4 product levels').first().waitFor();
});

test('control: a crashed worker is an error with a way out', async ({ open, site }) => {
  const page = await open(site, { prepare: keepWorkers });
  await refloat(page);
  await page.evaluate(() => {
    const worker = globalThis.workers.at(-1);
    worker.terminate();
    worker.dispatchEvent(new ErrorEvent('error', { message: 'unreachable executed' }));
  });
  await page.click('[data-act=refloat]');
  const problem = page.locator('.problem');
  await problem.waitFor();
  assert.match(await problem.innerText(), /stopped in the middle/);
  await problem.getByRole('button', { name: /Load afresh/ }).click();
  await problem.waitFor({ state: 'detached' });
  await cameBack(page, { since: 1 });
  assert.equal(await page.evaluate(() => globalThis.workers.length), 2, 'a fresh worker');
});
