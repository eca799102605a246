// The page "Which method when?": recorded figures, a slider, two charts with tables.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PHONE, opened, soundInBoth } from '../lib/looks.mjs';
import { table } from '../lib/page.mjs';
import { test } from '../lib/test.mjs';

const { crossing, survey } = JSON.parse(readFileSync(new URL('../../../demo/src/recorded/methods.json', import.meta.url), 'utf8'));

test('methods: the cheaper way changes at the crossing', async ({ open, site }) => {
  const page = await open(`${site}methods.html`, opened(PHONE));
  const outcome = page.locator('#outcome');
  for (const [i, row] of crossing.rows.entries()) {
    await page.locator(`[data-act="kind:${i}"]`).click();
    const slider = page.locator('[data-input=place]');
    await slider.fill('0');
    await outcome.filter({ hasText: '1 comparison takes' }).waitFor();
    const one = await outcome.innerText();
    assert.match(one, row.gatesFixed + row.gatesEach <= row.digitsSeconds ? /^Take gates/ : /^Take digits/);
    await slider.fill(await slider.getAttribute('max'));
    await outcome.filter({ hasText: 'Take digits' }).waitFor();
    const found = row.crossing !== null && row.crossing <= row.atOnce;
    assert.equal(await page.locator('.methods-crossing').count(), found ? 1 : 0);
  }
  const rows = await table(page, 'survey');
  assert.equal(Object.keys(rows).length, survey.rows.length);
  for (const [i, { method, params }] of survey.rows.entries()) {
    assert.equal(rows[`${i + 1}`][0], method);
    assert.equal(rows[`${i + 1}`][5], params ?? '–');
  }
  assert.ok((await page.locator('#rules tbody tr').count()) > crossing.rows.length);
  await soundInBoth(page, 'methods');
});
