// Break it: a message too large, a wrong key, a flipped bit, a key of few bits, no noise, and the result of each.
import assert from 'node:assert/strict';
import { PHONE, opened, soundInBoth } from '../lib/looks.mjs';
import { cameBack, difference, finished, pixels, table, violations } from '../lib/page.mjs';
import { test } from '../lib/test.mjs';

/** Sets a slider or list of the section. */
const set = (page, what, value) => page.locator(`#break [data-input=${what}]`).fill(String(value));

/** Breaks the ciphertext, and returns what the page says about that. */
async function breakIt(page) {
  const since = await finished(page);
  await page.locator('[data-act=break]:enabled').click();
  await cameBack(page, { since });
  return page.locator('#break-outcome').innerText();
}

test('breaking: all there is to break', async ({ open, site }) => {
  test.setTimeout(300_000);
  const page = await open(site, { ...opened(PHONE), ready: true });
  // A single copy is within what the method is for. The reader need not guess, and the page does not guess for them.
  await set(page, 'doublings', 0);
  assert.match(await breakIt(page), /^What came: the picture as it was\./);
  await page.selectOption('#break [data-input=guess]', 'right');
  assert.match(await breakIt(page), /You expected the picture as it was; that is what came\..*sine of the angle, 10\.2 at most: as good as the angle itself/);
  assert.ok(difference(await pixels(page, 'broken.before'), await pixels(page, 'broken.after')).largest <= 2);

  // With eight copies the sine bends.
  await set(page, 'doublings', 3);
  assert.match(await breakIt(page), /You expected the picture as it was; a picture that is wrong came\..*bent at \d\.\d\./);
  const rows = Object.entries(await table(page, 'broken')).map((row) => row.flat().map((cell) => Number(cell.replace('−', '-'))));
  assert.equal(rows.length, 64);
  // The remaining modulus is 2^6 times the scale: a full turn of the sine.
  const turn = 64 / (2 * Math.PI);
  for (const [slot, sum, out] of rows) assert.ok(Math.abs(out - turn * Math.sin(sum / turn)) < 0.02, `slot ${slot}: ${sum} became ${out}`);
  assert.ok(rows.some(([, sum, out]) => Math.abs(sum - out) > 0.3), 'it is bent');
  const outside = await page.locator('.break-bend').evaluate((svg) => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('circle, line, polyline, text')].map((mark) => mark.getBoundingClientRect()).filter((box) => box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2).length;
  });
  assert.equal(outside, 0, 'marks outside the drawing');

  // With sixty-four copies, sums go beyond half a turn.
  await set(page, 'doublings', 6);
  assert.match(await breakIt(page), /beyond half a turn, where nobody can tell them from others/);

  // A wrong key: refused by its identifier, and noise if that is ignored.
  await page.locator('#break input[value=key]').check();
  await page.selectOption('#break [data-input=guess]', 'noise');
  assert.match(await breakIt(page), /You expected noise; that is what came\./);
  assert.match(await page.locator('.break-refusal').innerText(), /is encrypted under key [0-9a-f]{32}, but the key of this key set is [0-9a-f]{32}/);
  assert.ok(difference(await pixels(page, 'broken.before'), await pixels(page, 'broken.after')).mean > 40);
  assert.deepEqual(await violations(page), []);

  // A flipped bit anywhere: found by the digest, and noise if the digest is made to fit.
  await page.locator('#break input[value=bit]').check();
  for (const where of [0, 99]) {
    await set(page, 'where', where);
    assert.match(await breakIt(page), /You expected noise; that is what came\..*One value that is off is off in every coefficient/);
    assert.match(await page.locator('.break-refusal').innerText(), /carries digest .*, and its bytes give .*damaged on the way/);
    assert.ok(difference(await pixels(page, 'broken.before'), await pixels(page, 'broken.after')).mean > 40);
  }
  // A key of few bits, and a ciphertext without noise: a stranger reads the picture.
  await page.selectOption('#break [data-input=guess]', 'right');
  await page.locator('#break input[value=guess]').check();
  await set(page, 'keyBits', 4);
  const [, tried] = /You expected the picture as it was; that is what came\..*key (\d+) of 16 had that name/.exec(await breakIt(page));
  assert.ok(tried >= 1 && tried <= 16);
  assert.ok(difference(await pixels(page, 'broken.before'), await pixels(page, 'broken.after')).largest <= 2);
  await page.locator('#break input[value=noise]').check();
  const said = await breakIt(page);
  assert.match(said, /You expected the picture as it was; that is what came\..*The ciphertext is \(v b \+ m, v a\)/);
  assert.ok(difference(await pixels(page, 'broken.before'), await pixels(page, 'broken.after')).largest <= 2);
  const [, digits, exponent] = /the same division came to errors up to ([\d.]+)(?: ?[·×] ?10([⁻⁰-⁹¹²³]+))?/.exec(said) ?? [];
  assert.ok(Number(digits) > 0 && !/⁻/.test(exponent ?? ''), said);
  await soundInBoth(page, 'breaking');
});

test('breaking: cancelled while keys are made', async ({ open, site }) => {
  const page = await open(site, { reducedMotion: 'reduce' });
  await page.locator('[data-act=break]:enabled').click();
  await page.locator('#break [data-act=cancel]').click();
  await page.locator('[data-act=break]:enabled').waitFor();
  assert.equal(await page.locator('#figure-broken').count(), 0);
  assert.equal(await page.locator('.problem').count(), 0);
});
