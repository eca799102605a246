// Exact numbers: a picture of integers, its digits, the polynomial that takes the low one off, and the result.
import assert from 'node:assert/strict';
import { PHONE, opened, soundInBoth } from '../lib/looks.mjs';
import { begin as beginOn, cameBack } from '../lib/runs.mjs';
import { asksFirst, tellsOfUnpacking } from '../lib/sending.mjs';
import { test } from '../lib/test.mjs';

const begin = (site, options) => beginOn(site, 'exact.html', options);

/** How many low digits are not 0, and the colours of the message's pixels. */
const rasters = (page) =>
  page.locator('.exact-digits').evaluate((svg) => ({
    low: svg.querySelectorAll('.exact-up, .exact-down').length,
    greys: [...svg.querySelectorAll('rect[fill]')].map((rect) => rect.getAttribute('fill')).join(),
  }));

test('exact: digits, the polynomial and the result', async ({ open, site }) => {
  const { height } = PHONE.viewport;
  const page = await begin({ open, site }, opened(PHONE));
  // The first screen: a sentence, the button, and the drawing, which is not empty.
  for (const selector of ['.lead', '[data-act=run]', '.exact-digits']) {
    const box = await page.locator(selector).boundingBox();
    assert.ok(box.y >= 0 && box.y + Math.min(box.height, 120) <= height, `${selector} at ${box.y} of ${height} px`);
  }
  // A recorded run, said to be one, with both digits in the slots.
  await page.locator('.recorded', { hasText: 'A recorded run' }).waitFor();
  const first = await rasters(page);
  assert.ok(first.low > 600, `${first.low} low digits`);
  assert.match(await page.locator('#outcome').innerText(), /All 1,024 integers came back/);
  assert.deepEqual(await page.locator('.exact-pair .hint').allInnerTexts(), ['What was encrypted', 'Refreshed, then decrypted with its key']);
  await page.click('[data-act="at:0"]');
  // Levels that the first stage needs do not count as levels for products.
  assert.match(await page.locator('#told').innerText(), /exhausted: no level is left for products, only the 3 of the next stage/);
  const levels = await page.locator('.conv-stages small').allInnerTexts();
  assert.match(levels[0], /^no level for products, 3 for the first stage of a bootstrapping\n/);
  assert.match(levels[5], /^2 levels for products, 3 for the first stage of a bootstrapping\n/);
  // Those inside say what their levels are for, too.
  for (const before of [1, 2]) assert.match(levels[before], /^no level until the modulus is raised\n/);
  assert.match(levels[3], /^9 levels for later stages, 5 left in the end\n/);
  const before = await rasters(page);
  assert.equal(before.low, 0);
  assert.ok(before.greys === first.greys && new Set(before.greys.split('),')).size > 20, 'a picture');
  await page.locator('#left', { hasText: 'all become p y' }).waitFor();

  await page.locator('[data-act=run]').focus();
  await page.keyboard.press('Enter');
  await page.locator('.recorded').waitFor({ state: 'detached' });
  await cameBack(page);
  assert.match(await page.locator('#outcome').innerText(), /All 1,024 integers came back exactly as they were\. .* every one of them is right modulo 65537/);
  assert.match(await page.locator('main').innerText(), /insecure demonstration parameters/);
  assert.deepEqual(await page.locator('.exact-pair .hint').allInnerTexts(), ['What you encrypted', 'Refreshed, then decrypted with your key']);
  const pair = await page.locator('.exact-pair svg').evaluateAll((all) => all.map((svg) => svg.getBoundingClientRect()).map(({ top, width }) => ({ top, width })));
  assert.deepEqual(pair[1], pair[0], 'side by side, on a phone too');
  assert.ok(pair[0].width > 150, `${pair[0].width} px wide`);

  // Every stage: where the low digits are, and where the picture is.
  const stages = [];
  for (let i = 0; i <= 5; i += 1) {
    await page.locator(`[data-act="at:${i}"]`).focus();
    await page.keyboard.press('Enter');
    const { low, greys } = await rasters(page);
    stages.push({ low: low > 0, picture: greys === before.greys });
  }
  const seen = (low, picture) => ({ low, picture });
  assert.deepEqual(stages, [seen(false, true), seen(false, false), seen(true, false), seen(true, false), seen(true, true), seen(false, true)]);
  // A stage without digits of its own keeps the comb of the last stage that has some.
  const often = page.locator('#figure-comb h3');
  assert.equal(await often.innerText(), 'How often each low digit occurs after “Coefficients to slots”');
  await page.click('[data-act="at:4"]');
  assert.match(await page.locator('#told').innerText(), /one small digit in every pixel/);
  const far = Number(/none beyond ±(\d+)/.exec(await page.locator('#figure-comb figcaption').innerText())[1]);
  assert.ok(far >= 3 && far <= 15, `digits to ${far}`);
  // The slot that is followed has the same numbers as in the table.
  await page.locator('[data-input=slot]').fill('7');
  const [slot, message, digit] = /slot (\d+): message (\d+), low digit (−?\d+)/.exec(await page.locator('#followed').innerText()).slice(1);
  await page.click('[data-act="table:digits"]');
  assert.deepEqual(await page.locator('#figure-digits tbody tr').nth(7).locator('th, td').allInnerTexts(), [slot, message, digit]);
  await page.click('[data-act="table:digits"]');

  // Power by power: with one missing, the result is any digits.
  await page.locator('[data-input=terms]').fill('30');
  const left = await page.locator('#left').innerText();
  const [all, gone] = [Number(/of (\d+) numbers/.exec(left)[1]), Number(/, (\d+) becomes? p y/.exec(left)[1])];
  assert.ok(all === 31 * 8 && gone < all / 4, left);
  await page.locator('[data-input=terms]').fill('31');
  assert.match(await page.locator('#left').innerText(), /All 31 powers, up to x⁶¹: .* all become p y, low digit 0 and y untouched/);

  await soundInBoth(page, 'exact');
});

test('exact: on the server, which sees neither digits nor integers, and back in the tab', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(`${url}exact.html`, { ready: false, reducedMotion: 'reduce' });
  await page.locator('[data-input=there]').waitFor();
  assert.ok((await page.locator('[data-input=there] option').allInnerTexts()).some((text) => text.includes('bgv15')));
  await page.selectOption('[data-input=there]', 'toy-bgv10');
  await page.click('[data-act=run]:enabled');
  await cameBack(page);
  assert.match(await page.locator('#outcome').innerText(), /All 1,024 integers came back exactly as they were\.$/);
  assert.equal((await page.locator('.conv-stages small').allInnerTexts()).filter((text) => text.includes('noise to the server')).length, 4);
  await page.click('[data-act="at:3"]');
  for (const region of ['#exact-digits', '#exact-comb']) assert.match(await page.locator(region).innerText(), /a server sees noise/);
  await page.click('[data-act="at:5"]');
  assert.equal((await rasters(page)).low, 0);
  await page.selectOption('[data-input=there]', '');
  await page.click('[data-act=run]:enabled');
  await cameBack(page);
  assert.match(await page.locator('#outcome').innerText(), /All 1,024 integers .* every one of them is right/);
});

test('exact: large keys are sent only after the reader has agreed to their size, once', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(`${url}exact.html`, opened(PHONE));
  await page.selectOption('[data-input=there]', 'bgv15');
  await page.locator('#exact-set', { hasText: 'MB of keys and sends them' }).waitFor();
  await asksFirst(page, 'exact');
});

test('exact: while the server unpacks keys, and tells nothing, the page says so', async ({ open, serve }) => {
  const { url } = await serve();
  await tellsOfUnpacking(open, `${url}exact.html`, 'exact', async (page) => {
    await page.selectOption('[data-input=there]', 'toy-bgv10');
    await page.locator('#exact-set', { hasText: 'toy-bgv10' }).waitFor();
  });
});

test('exact: cancelled while keys are made, then random integers stage by stage', async ({ open, site }) => {
  const page = await begin({ open, site });
  await page.click('[data-act=run]');
  await page.click('[data-act=cancel]');
  await page.locator('[data-act=run]').waitFor();
  assert.equal(await page.locator('.problem').count(), 0);
  await page.selectOption('[data-input=picture]', 'noise');
  await page.click('[data-act=run]');
  await cameBack(page);
  assert.match(await page.locator('#outcome').innerText(), /All 1,024 integers/);
  // Another picture does not belong to a run yet.
  await page.selectOption('[data-input=picture]', 'ramp');
  await page.locator('#outcome', { hasText: 'appears here' }).waitFor();
  assert.equal(await page.locator('[data-act="at:3"]:enabled').count(), 0);
  assert.equal(await page.locator('.exact-pair .hint').first().innerText(), 'To be encrypted');
  assert.equal(await page.locator('#figure-digits h3').innerText(), 'To be encrypted');
});
