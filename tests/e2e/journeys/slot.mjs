// One slot followed through a real run, and the focus for readers without a pointer.
import assert from 'node:assert/strict';
import { test, until } from '../lib/test.mjs';
import { cameBack, refloat, station, table } from '../lib/page.mjs';

const number = (text) => Number(text.replace('−', '-'));

for (const [colorScheme, width, height] of [['light', 1280, 800], ['dark', 390, 844]]) {
  test(`slot: its number at every station is that of the decryption, ${colorScheme}, ${width} px`, async ({ open, site }) => {
    const page = await open(site, { colorScheme, viewport: { width, height }, reducedMotion: 'reduce' });
    await refloat(page);
    // One of the first slots, which the lens lists in its table.
    await page.locator('canvas[data-canvas="shown.pick"]').focus();
    const chosen = async () => Number(await page.locator('canvas[data-canvas="shown.pick"]').getAttribute('aria-valuenow'));
    for (let left = 20; (await chosen()) > 40 && left > 0; left--) {
      const before = await chosen();
      await page.keyboard.press('ArrowUp');
      await until('a row up', async () => (await chosen()) < before);
    }
    const before = await chosen();
    await page.keyboard.press('ArrowRight');
    await until('the next column', async () => (await chosen()) === before + 1);
    const slot = String(before + 1);

    for (const name of ['encrypt', 'exhaust', 'slots_to_coeffs', 'encapsulate', 'encode_phase', 'blind_rotate', 'product_tree', 'conjugate', 'decrypt']) {
      await station(page, name);
      const step = page.locator(`[data-step=${name}]`);
      assert.equal(await step.getAttribute('aria-pressed'), 'true', name);
      const shown = await step.locator('b').innerText();
      if (shown.startsWith('∠')) assert.ok(['encode_phase', 'blind_rotate'].includes(name) && Math.abs(number(shown.slice(2))) <= 0.5, `${name}: ${shown}`);
      else assert.equal(shown, (await table(page, 'lens'))[slot][1], name);
      assert.ok(!/NaN|undefined|Infinity/.test(await page.locator('#figure-slot').innerText()), name);
      const outside = await page.locator('.slot-scene').evaluate((svg) => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('circle, path, line, rect, text')].map((mark) => mark.getBoundingClientRect()).filter((box) => box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2).length;
      });
      assert.equal(outside, 0, `marks outside the drawing of ${name}`);
    }
    // All angles of the blind rotation, one by one, as they add up.
    await station(page, 'blind_rotate');
    assert.equal(await page.locator('.slot-term').count(), 16, 'b and fifteen tracks');
    // Another angle in every track, in the row of neighbours as in words.
    const angles = new Set();
    for (let left = 15; left > 0; left--) {
      const row = page.locator(`.slot-row.${left % 2 ? 'even' : 'odd'}`);
      await row.waitFor();
      assert.equal(await row.locator('circle').count(), 13);
      const drawn = await row.locator('line:not(.past)').evaluate((line) => {
        const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map((name) => Number(line.getAttribute(name)));
        return Math.atan2(y1 - y2, x2 - x1) / (2 * Math.PI);
      });
      const turns = number((await page.locator('[data-step=blind_rotate] b').innerText()).slice(2));
      assert.ok(Math.abs(drawn - turns - Math.round(drawn - turns)) < 0.01, `track ${left}: ${drawn} is drawn, ${turns} is written`);
      angles.add(turns);
      if (left === 1) break;
      await page.click('[data-act=back]');
      await until('one track fewer', async () => (await page.locator('.slot-term').count()) === left);
    }
    assert.ok(angles.size > 10, `angles: ${[...angles]}`);
    await page.getByRole('button', { name: /Decrypt/ }).first().click();
    await page.locator('#station-decrypt[aria-selected=true]').waitFor();
  });
}

test('slot: a press on the picture chooses, and who refloats by keyboard keeps the focus', async ({ open, site }) => {
  const page = await open(site, { reducedMotion: 'reduce' });
  const picture = page.locator('canvas[data-canvas="shown.pick"]');
  await picture.scrollIntoViewIfNeeded();
  const box = await picture.boundingBox();
  await page.mouse.click(box.x + box.width * (3.5 / 32), box.y + box.height * (2.5 / 16));
  await until('the slot', async () => (await picture.getAttribute('aria-valuenow')) === String(2 * 32 + 3));

  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-act'));
  await page.locator('[data-act=refloat]').focus();
  await page.keyboard.press('Enter');
  await until('the focus on cancelling', async () => (await focused()) === 'cancel');
  await cameBack(page);
  await until('the focus back', async () => (await focused()) === 'refloat');
  // The link in the outcome leads to the first station of the story.
  await page.getByRole('link', { name: 'See the voyage' }).click();
  await page.locator('#station-encrypt[aria-selected=true]').waitFor();
  await until('the voyage in sight', () => page.locator('#figure-slot').evaluate((el) => el.getBoundingClientRect().top < innerHeight));
});
