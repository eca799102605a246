// Triage ("Who comes first?"): encrypted patients scored, compared and ranked by the real server.
import assert from 'node:assert/strict';
import { PHONE, opened, soundInBoth } from '../lib/looks.mjs';
import { table } from '../lib/page.mjs';
import { asksFirst, tellsOfUnpacking } from '../lib/sending.mjs';
import { test } from '../lib/test.mjs';

/** Asks, and reads the rows of the answer: name, rank, flag, number, the same in the clear, diagnosis. */
async function asked(page) {
  await page.locator('[data-act=run]:enabled').click();
  await page.locator('[data-act=cancel]').waitFor();
  await page.locator('[data-act=run]:enabled').waitFor({ timeout: 80_000 });
  assert.equal(await page.locator('.problem').count(), 0, (await page.locator('.problem').allInnerTexts()).join());
  assert.equal(await page.locator('.recorded').count(), 0, 'the answer is the reader’s own');
  return page.locator('#triage-result tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
}

/** Checks ranks and flags against the numbers in the clear; pairs closer than `least` may be in any order. */
function check(rows, least) {
  const [ranks, flags, numbers, clear] = [1, 2, 3, 4].map((column) => rows.map((row) => Number(row[column].replace('−', '-'))));
  rows.forEach((row, i) => {
    assert.ok(Math.abs(ranks[i] - Math.round(ranks[i])) < 0.05 && Math.abs(flags[i] - Math.round(flags[i])) < 0.05, `whole numbers: ${row}`);
    assert.equal(Math.round(flags[i]) === 1, Math.round(ranks[i]) >= rows.length - 3, `the largest three are marked: ${row}`);
    assert.ok(Math.abs(numbers[i] - clear[i]) < 1e-3, `computed as in the clear: ${row}`);
    for (const [j, other] of clear.entries()) if (clear[i] > other + least) assert.ok(ranks[i] > ranks[j] + 0.5, `${clear[i]} above ${other}`);
  });
}

test('triage: who comes first, and which cases are nearest', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(`${url}triage.html`, opened(PHONE));
  await page.locator('.recorded').waitFor();
  await page.locator('[data-act="tick:15"]').click();
  const rows = await asked(page);
  assert.equal(rows.length, 15, 'who is not ticked is not asked about');
  const said = await page.locator('#triage-set').innerText();
  const least = Number(/numbers in \[-1, 1\] are ordered rightly from ([\d.]+) apart/.exec(said)[1]);
  assert.ok(least > 0 && least < 0.2, said);
  check(rows, least);
  const outcome = await page.locator('#outcome').innerText();
  assert.ok(outcome.includes(` ${rows[0][0]}, ${rows[1][0]} and ${rows[2][0]}. `), outcome);
  assert.match(await page.locator('#figure-triangle h3').innerText(), /^105 comparisons/);
  const won = await page.locator('.triage-cell.won').count();
  const lost = await page.locator('.triage-cell.lost').count();
  assert.equal(won + lost, 105);
  const wins = await table(page, 'triangle');
  for (const [name, rank] of rows) assert.equal(wins[name][0].replace('–', '').split(' ').filter(Boolean).length, Math.round(Number(rank.replace('−', '-'))), name);

  await page.locator('[data-act="tick:15"]').click();
  await page.locator('#triage-story', { hasText: 'What is chosen now has not been asked yet' }).waitFor();
  await page.locator('[data-act="ask:nearest"]').click();
  await page.locator('.recorded').waitFor();
  assert.equal(await page.locator('h1').innerText(), 'Which cases are nearest?');
  const cases = await asked(page);
  assert.equal(cases.length, 16);
  const ofCloseness = Number(/numbers in \[0, 1\] are ordered rightly from ([\d.]+) apart/.exec(await page.locator('#triage-set').innerText())[1]);
  assert.ok(ofCloseness > 0 && ofCloseness < least, `${ofCloseness}`);
  check(cases, ofCloseness);
  const malignant = cases.filter((row) => Number(row[2]) > 0.5 && row[5] === 'malignant').length;
  assert.match(await page.locator('#outcome').innerText(), new RegExp(`${malignant} of them malignant: the vote says ${malignant > 1 ? 'malignant' : 'benign'}\\. The data have this patient as ${malignant > 1 ? '(malignant, so the vote is right|benign, so the vote is wrong)' : '(benign, so the vote is right|malignant, so the vote is wrong)'}`));

  await soundInBoth(page, 'triage');
});

test('triage: too few patients are refused, and a run can be cancelled', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(`${url}triage.html`, { ready: false, reducedMotion: 'reduce' });
  await page.locator('[data-act=run]:enabled').waitFor();
  for (let i = 3; i < 16; i++) await page.locator(`[data-act="tick:${i}"]`).click();
  await page.locator('#triage-controls', { hasText: 'tick at least 4' }).waitFor();
  assert.ok(await page.locator('[data-act=run]').isDisabled());
  await page.locator('[data-act="tick:3"]').click();
  await page.locator('[data-act=run]:enabled').click();
  await page.locator('[data-act=cancel]').click();
  await page.locator('#live', { hasText: 'Cancelled' }).waitFor({ state: 'attached' });
  await page.locator('.recorded').waitFor();
  assert.equal(await page.locator('.problem').count(), 0);
});

test('triage: large keys are sent only after the reader has agreed to their size, once', async ({ open, serve }) => {
  const { url } = await serve();
  await asksFirst(await open(`${url}triage.html?set=n15%2Bfbs16-50`, opened(PHONE)), 'triage');
});

test('triage: without a server the page shows recorded answers and says what it needs', async ({ open, site }) => {
  const page = await open(`${site}triage.html`, { ready: false });
  await page.locator('#triage-controls', { hasText: 'npm start' }).waitFor();
  await page.locator('.recorded').waitFor();
  assert.match(await page.locator('#outcome').innerText(), /The most urgent of 16 are/);
});

test('triage: while the server unpacks keys, and tells nothing, the page says so', async ({ open, serve }) => {
  const { url } = await serve();
  await tellsOfUnpacking(open, `${url}triage.html`, 'triage');
});
