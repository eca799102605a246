// Comb: a conventional bootstrapping in the tab, its comb, its polynomial and its result.
import assert from 'node:assert/strict';
import { PHONE, opened, soundInBoth } from '../lib/looks.mjs';
import { table } from '../lib/page.mjs';
import { begin as beginOn, cameBack } from '../lib/runs.mjs';
import { test, until } from '../lib/test.mjs';

const SET = 'toy-conventional10-50bit';

const begin = (site, options, set = SET) => beginOn(site, `comb.html${set && `?set=${set}`}`, options);

/** How many dots of the comb there are, and in which columns. */
const columns = (page) =>
  page.locator('.conv-comb circle').evaluateAll((circles) => {
    const teeth = [...document.querySelectorAll('.conv-comb line')].map((line) => Number(line.getAttribute('x1')));
    const nearest = (x) => teeth.reduce((best, tooth, i) => (Math.abs(tooth - x) < Math.abs(teeth[best] - x) ? i : best), 0);
    const found = circles.map((c) => nearest(Number(/translate\(([-\d.]+)px/.exec(c.getAttribute('style'))[1])));
    return { teeth: teeth.length, used: [...new Set(found)].sort((a, b) => a - b), dots: found.length };
  });

test('conventional: the comb, the polynomial and the result', async ({ open, site }) => {
  const page = await begin({ open, site }, opened(PHONE));
  assert.match(await page.locator('main').innerText(), /insecure demonstration parameters/);
  assert.equal((await columns(page)).dots, 0, 'nothing was raised yet');
  await page.locator('#figure-polynomial .conv-curve').waitFor();
  await page.click('[data-act=run]');
  await cameBack(page);
  const [worst, rms] = /right to ([\d.]+) bits in the worst of them, ([\d.]+) bits/.exec(await page.locator('#outcome').innerText()).slice(1).map(Number);
  assert.ok(worst > 12 && rms > worst && rms < 40, `${worst} and ${rms} bits`);

  // Every stage, by the keyboard.
  await page.locator('[data-act="at:1"]').focus();
  await page.keyboard.press('Enter');
  const raised = await columns(page);
  assert.ok(raised.used.length >= 5, `a comb of ${raised.used.length} teeth`);
  assert.match(await page.locator('#figure-comb figcaption').innerText(), /lie near an integer other than 0.*drawn [\d,]+ times as large/);
  await page.click('[data-act="at:2"]');
  assert.deepEqual(await columns(page), raised, 'the same integers in slots');
  await page.click('[data-act="at:3"]');
  const reduced = await columns(page);
  assert.deepEqual(reduced.used, [(raised.teeth - 1) / 2], 'one column is left, at 0');
  await page.click('[data-act="at:4"]');
  assert.deepEqual(await columns(page), reduced, 'and stays beside the slots that come of it');

  // The same stages at full size, recorded, beside those of the run.
  const stages = await page.locator('.conv-stages small').allInnerTexts();
  const full = Object.entries(await table(page, 'full-size'));
  assert.equal(full.length, stages.length);
  for (const [i, [title, [, modulus, time, , ownModulus, ownTime]]] of full.entries()) {
    assert.ok(stages[i].includes(`${ownModulus}-bit modulus`) && (i === 0 || stages[i].endsWith(ownTime)), `${title}: ${stages[i]}, and not ${ownModulus} bits, ${ownTime}`);
    assert.ok(Number(modulus) > 0 && (i === 0 || Number.parseFloat(time) > 0), `${title} at full size: ${modulus} bits, ${time}`);
  }
  assert.match(await page.locator('#figure-full-size figcaption').innerText(), /^n16 has 128-bit security\. It refreshed 32,768 slots .* is recorded: made by refloat \S+ on \d+ \w+ 20\d\d, on /s);
  assert.match(await page.locator('#conv-story [aria-current=step]').innerText(), /At full size, with n16: /);

  // The polynomial, magnified, and one whose degree is too low.
  const sentence = page.locator('#figure-polynomial figcaption');
  const fit = async () => Number.parseFloat(/right to ([\d.]+)\s×\s10/.exec(await sentence.innerText())?.[1] ?? 'NaN');
  assert.ok(Number.isFinite(await fit()));
  assert.match(await sentence.innerText(), /Degree 30, .* 8 levels|Degree 30/);
  await page.locator('[data-input=zoom]').fill('8');
  await page.locator('#figure-polynomial h3', { hasText: 'Magnified about all integers' }).waitFor();
  await page.locator('[data-input=degree]').fill('18');
  await sentence.filter({ hasText: 'it would be off by up to' }).waitFor();
  assert.match(await sentence.innerText(), /Degree 18/);

  await page.click('[data-act="table:polynomial"]');
  assert.ok((await page.locator('#figure-polynomial tbody tr').count()) >= 9);
  await page.click('[data-act="table:polynomial"]');
  await soundInBoth(page, 'comb');
});

test('conventional: m and I are dragged', async ({ open, site }) => {
  const { width } = PHONE.viewport;
  const page = await begin({ open, site }, opened(PHONE), '');
  const handle = (name) => page.getByRole('slider', { name, exact: true });
  const values = async () => [await handle('m').getAttribute('aria-valuenow'), await handle('I').getAttribute('aria-valuenow')].map(Number);
  /** The values that the page states: I, x, the polynomial's value at x, and m/q0. */
  const told = async () => {
    const text = (await page.locator('#mine-told').innerText()).replaceAll('−', '-');
    return /and I = (\S+) make x = (\S+)\. The polynomial makes (\S+) of it, .* away from m\/q₀ = ([-\d.]+):/.exec(text).slice(1).map(Number);
  };
  await page.locator('#mine-told', { hasText: 'The polynomial makes' }).waitFor();
  // It begins in the shaded part, where the set's messages are.
  const shaded = await page.locator('.conv-mine .conv-tooth').boundingBox();
  const first = await page.locator('[data-drag=m]').boundingBox();
  assert.ok(shaded.x <= first.x + first.width / 2 && first.x + first.width / 2 <= shaded.x + shaded.width, JSON.stringify([shaded, first]));
  await handle('I').focus();
  await page.keyboard.press('Home');
  await until('I at its end', async () => (await values())[1] === -7);
  for (const key of ['ArrowRight', 'ArrowUp', 'ArrowRight', 'ArrowLeft']) await page.keyboard.press(key);
  await until('I moved by two', async () => (await values())[1] === -5);
  await handle('m').focus();
  await page.keyboard.press('Home');
  for (let i = 0; i < 13; i++) await page.keyboard.press('ArrowRight');
  await until('m one above the middle', async () => (await values())[0] === 1);
  const [tooth, x, back, m] = await told();
  assert.deepEqual([m, tooth, x, back], [0.000122, -5, -4.999878, m]);
  // With the pointer: I to the other end, and m beyond its own.
  for (const [name, to] of [['I', width], ['m', 0]]) {
    const grip = page.locator(`[data-drag=${name}]`);
    await grip.scrollIntoViewIfNeeded();
    const box = await grip.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(to, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
  }
  assert.deepEqual(await values(), [-12, 7]);
  await page.mouse.move(width / 2, 10);
  assert.deepEqual(await values(), [-12, 7], 'what was let go of stays');
  const [, far, bent] = await told();
  assert.match(await page.locator('#mine-told').innerText(), /too far from m\/q₀/);
  assert.equal(far, 6.75);
  // The same for every tooth, as the table says.
  await page.click('[data-act="table:mine"]');
  const made = await page.locator('#figure-mine tbody td:last-child').allInnerTexts();
  assert.equal(made.length, 15);
  for (const text of made) assert.ok(Math.abs(Number(text.replace('−', '-')) - bent) < 1e-3, `${text}, not ${bent}`);
  await page.click('[data-act="table:mine"]');
  await soundInBoth(page, 'conventional-dragged');
});

test('conventional: few slots, and the sum that clears what is between their coefficients', async ({ open, site }) => {
  const page = await begin({ open, site }, { viewport: { width: 1280, height: 800 } }, 'toy-conventional10-sparse');
  await page.click('[data-act=run]');
  await cameBack(page);
  assert.deepEqual(await page.locator('.conv-stages b').allInnerTexts(), ['Exhausted', 'Raise the modulus', 'Sum over rotations', 'Coefficients to slots', 'Reduce modulo q₀', 'Slots to coefficients']);
  // With two harmonics: the whole promise, its words, and no choice of a degree.
  assert.match(await page.locator('#figure-result figcaption').innerText(), /promises 28\.5 bits in the worst slot, for every message with parts in \[-1, 1\]/);
  assert.match(await page.locator('#polynomial').innerText(), /sin\(2πx\) and sin\(4πx\)/);
  assert.equal(await page.locator('[data-input=degree]').count(), 0);
  await page.locator('[data-input=zoom]').fill('8');
  await page.locator('#figure-polynomial h3', { hasText: 'Magnified about all integers' }).waitFor();
  assert.match(await page.locator('#figure-polynomial figcaption').innerText(), /Degree 31.*near the integers x − round\(x\) is right to/);
  assert.deepEqual(await page.locator('.problem').allInnerTexts(), []);
  // Heights of the dots, by panel: the coefficients in between leave the axis with the first stage and lie on it after the second.
  const heights = await page.locator('.conv-sub-sum').evaluate((svg) => {
    const lines = [...svg.querySelectorAll('line')].map((line) => Number(line.getAttribute('y1')));
    const of = (kind) => [...svg.querySelectorAll(`.${kind}`)].map((c) => Number(c.getAttribute('cy')));
    return { axes: [lines[1], lines[4]], border: (lines[2] + lines[3]) / 2, own: of('conv-own'), between: of('conv-between') };
  });
  const above = (list) => list.filter((y) => y < heights.border);
  const below = (list) => list.filter((y) => y > heights.border);
  assert.equal(heights.own.length + heights.between.length, 2 * 1024, 'all coefficients, twice');
  assert.ok(above(heights.between).some((y) => Math.abs(y - heights.axes[0]) > 10), 'multiples of q0 between');
  assert.ok(below(heights.between).every((y) => Math.abs(y - heights.axes[1]) < 0.5), 'nothing between');
  assert.ok(below(heights.own).some((y) => Math.abs(y - heights.axes[1]) > 10), 'the message keeps its own');
  // In every stage, the comb shows only the message's coefficients.
  await page.click('[data-act="at:1"]');
  const raised = await columns(page);
  assert.equal(raised.dots, 128);
  for (const at of [2, 3]) {
    await page.click(`[data-act="at:${at}"]`);
    assert.deepEqual(await columns(page), raised, 'the same integers');
  }
  assert.ok(!/NaN|undefined|Infinity/.test(await page.locator('main').innerText()));
});

test('conventional: cancelled while keys are made, and begun again stage by stage', async ({ open, site }) => {
  // The set that the page opens with, whose stages last long enough to be stopped between two of them.
  const page = await begin({ open, site }, {}, '');
  await page.click('[data-act=run]');
  await page.click('[data-act=cancel]');
  await page.locator('[data-act=run]').waitFor();
  assert.equal(await page.locator('.problem').count(), 0);
  await page.selectOption('[data-input=message]', 'noise');
  await page.click('[data-act=run]');
  await page.locator('[data-act=pause]').click({ timeout: 60_000 });
  await page.locator('[data-act=resume]').waitFor();
  await page.click('[data-act=resume]');
  await cameBack(page);
  assert.match(await page.locator('.conv-set').innerText(), /toy-conventional11 /);
  assert.match(await page.locator('#figure-result figcaption').innerText(), /for every message/);
});

test('conventional: paused before its first stage, a run leaves the comb before it in sight', async ({ open, site }) => {
  const page = await begin({ open, site }, {}, '');
  await page.locator('.conv-dots circle').first().waitFor();
  // Pauses as soon as there is a run.
  await page.evaluate(
    () =>
      new Promise((paused) => {
        const observer = new MutationObserver(() => {
          const button = document.querySelector('[data-act=pause]');
          if (!button) return;
          observer.disconnect();
          button.click();
          paused();
        });
        observer.observe(document.body, { childList: true, subtree: true, attributes: true });
        document.querySelector('[data-act=run]').click();
      }),
  );
  const under = page.locator('#under');
  await under.filter({ hasText: 'Paused. The next stage is “Raise the modulus”. Until its first stage is done, the drawings show' }).waitFor();
  assert.ok((await columns(page)).dots > 0);
  assert.match(await page.locator('.recorded').innerText(), /Your own is on its way/);
  await page.click('[data-act=step]');
  await under.filter({ hasText: 'Paused. The next stage is “Coefficients to slots”.' }).waitFor();
  assert.equal(await page.locator('.recorded').count(), 0);
  assert.ok((await columns(page)).used.length >= 5, 'its own comb');
  await page.click('[data-act=resume]');
  await cameBack(page);
  // At first none of its levels is for products, and in the end all that are left are.
  const [first, raised, , , last] = await page.locator('.conv-stages small').allInnerTexts();
  assert.match(first, /^no level for products\n\d+-bit modulus\n/);
  const [, left] = /^\d+ levels for later stages, (\d+) left in the end\n\d+-bit modulus\n/.exec(raised) ?? assert.fail(raised);
  assert.match(last, new RegExp(`^${left} levels for products\\n\\d+-bit modulus\\n`));
});
