// The page of digits: first a recorded run, then one in the tab, with its circle, its clouds and its result.
import assert from 'node:assert/strict';
import { PHONE, opened, soundInBoth } from '../lib/looks.mjs';
import { begin as beginOn } from '../lib/runs.mjs';
import { test } from '../lib/test.mjs';

async function begin(site, options) {
  const page = await beginOn(site, 'digits.html', options);
  await page.locator('.digits-dots circle').first().waitFor();
  return page;
}

/** Presses the button and waits for a result that is not the recorded one. */
async function read(page) {
  // The previous run stays until there is something to show of this one.
  await page.evaluate(() => {
    const look = () => { window.emptied ||= !document.querySelector('.digits-dots circle'); };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
  });
  await page.click('[data-act=run]');
  await page.locator('[data-act=cancel]').waitFor();
  await page.locator('[data-act=run]:enabled').waitFor({ timeout: 120_000 });
  assert.deepEqual(await page.locator('.problem').allInnerTexts(), []);
  assert.equal(await page.locator('.recorded').count(), 0);
  assert.ok(!(await page.evaluate(() => window.emptied)), 'the circle is never empty');
  return page.locator('#outcome').innerText();
}

/** The digits in the boxes, the highest first. */
const boxes = (page) => page.locator('.digits-box b').allInnerTexts();

/** How far the dots of the circle are from its centre, and which of the `base` rays each is on. */
const dots = (page, base) =>
  page.locator('.digits-circle').evaluate((svg, t) => {
    const ring = svg.querySelector('.digits-ring');
    const [cx, cy, r] = ['cx', 'cy', 'r'].map((name) => Number(ring.getAttribute(name)));
    return [...svg.querySelectorAll('.digits-dots circle')].map((dot) => {
      const [x, y] = /translate\(([-\d.]+)px, ?([-\d.]+)px\)/.exec(dot.getAttribute('style')).slice(1).map(Number);
      const turn = (Math.atan2(x - cx, cy - y) / (2 * Math.PI)) * t;
      return { share: Math.hypot(x - cx, y - cy) / r, off: Math.abs(turn - Math.round(turn)), ray: ((Math.round(turn) % t) + t) % t };
    });
  }, base);

/** The first screen has the drawing and the button. */
async function firstScreen(page, height) {
  for (const what of ['[data-act=run]', '.digits-circle']) {
    const box = await page.locator(what).first().boundingBox();
    assert.ok(box && box.y >= 0 && box.y + Math.min(box.height, 120) <= height, `${what} on the first screen: ${JSON.stringify(box)}`);
  }
}

test('digits: three decimal digits come off', async ({ open, site }) => {
  const page = await begin({ open, site }, opened(PHONE));
  await firstScreen(page, PHONE.viewport.height);
  assert.match(await page.locator('.recorded').innerText(), /recorded run/);
  assert.match(await page.locator('#outcome').innerText(), /2,718 came back as 718\. 96 of 96 slots round to the exact remainder/);

  await page.fill('[data-input=number]', '-987,415');
  assert.match(await read(page), /−987,415 came back as 585\. 512 of 512 slots round to the exact remainder/);
  assert.deepEqual(await boxes(page), ['5', '8', '5']);

  // Every step, by the keyboard: wound up on a spiral, then on the circle, and the digits one after the other.
  await page.locator('[data-act="at:0"]').focus();
  await page.keyboard.press('Enter');
  assert.deepEqual(await boxes(page), ['·', '·', '·']);
  const wound = await dots(page, 10);
  assert.equal(wound.length, 512);
  assert.ok(new Set(wound.map(({ share }) => Math.round(share * 50))).size > 10, 'many turns');
  assert.ok(wound.every(({ off, share }) => off < 0.03 / Math.max(share, 0.1)), 'on ten rays');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const on = await dots(page, 10);
  assert.ok(on.every(({ share, off }) => Math.abs(share - 1) < 0.01 && off < 0.02), 'on ten points of the circle');
  assert.deepEqual(on.map(({ ray }) => ray), wound.map(({ ray }) => ray), 'where they were wound to');
  await page.getByRole('button', { name: 'Next step' }).first().click();
  assert.deepEqual(await boxes(page), ['·', '·', '5']);
  const caption = page.locator('#figure-lens figcaption');
  const times = async () => Number(/: ([\d,]+) times less/.exec(await caption.innerText())?.[1].replace(',', '') ?? NaN);
  // Errors along the circle grow with the number, so the first table removes much of them from one as large as this.
  assert.ok((await times()) > 2, `the first table takes off ${await times()} times`);
  await page.click('[data-act="at:5"]');
  assert.deepEqual(await boxes(page), ['·', '8', '5']);
  await page.click('[data-act="at:8"]');
  assert.deepEqual(await boxes(page), ['5', '8', '5']);
  assert.ok((await times()) > 5, `the last table takes off ${await times()} times`);
  await page.click('[data-act="at:5"]');

  // Another slot, by its slider, and the tables behind the drawings.
  await page.locator('[data-input=slot]').fill('7');
  assert.match(await page.locator('.digits-follow output').innerText(), /^7: /);
  for (const figure of ['circle', 'lens', 'result']) {
    await page.click(`[data-act="table:${figure}"]`);
    assert.ok((await page.locator(`#figure-${figure} tbody tr`).count()) >= 10, figure);
    await page.click(`[data-act="table:${figure}"]`);
  }
  const inside = await page.locator('.digits-circle, .digits-cloud').evaluateAll((all) =>
    all.every((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('circle')].every((dot) => {
        const box = dot.getBoundingClientRect();
        return box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
      });
    }),
  );
  assert.ok(inside, 'every dot lies inside its drawing');
  const smallest = await page.evaluate(() => {
    const sizes = [...document.querySelectorAll('main *')].filter((el) => [...el.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) && !el.closest('sub, sup, svg')).map((el) => Number.parseFloat(getComputedStyle(el).fontSize));
    return Math.min(...sizes);
  });
  assert.ok(smallest >= 13, `text of ${smallest} px`);
  await soundInBoth(page, 'digits');
});

test('digits: fractions are rounded, and a drawn table is looked up in', async ({ open, site }) => {
  const page = await begin({ open, site });
  await page.selectOption('[data-input=reading]', 'fraction');
  // The integer is only an example; a fraction is typed.
  await page.fill('[data-input=number]', '31.4159');
  const rounded = Number(/off by ([\d.]+) steps/.exec(await read(page))?.[1] ?? NaN);
  assert.ok(rounded > 1.4 && rounded < 1.95, `a deviation of ${rounded} points`);
  // Digits of a rounded number are marked as such, and not called final before the last of them is read.
  const rough = page.locator('.digits-rough');
  assert.match(await rough.innerText(), /^Final: \d+\/32 \+ \d+\/1024 = 0\.4/);
  await page.click('[data-act="at:2"]');
  assert.match(await rough.innerText(), /^Not final: 31\.4159 is rounded/);
  assert.match((await boxes(page))[1], /^≈\d+$/);
  assert.match(await page.locator('#figure-result figcaption').innerText(), /The input had no level for products, 2 for the first stage of a bootstrapping\. The result has/);
  await page.selectOption('[data-input=reading]', 'table');
  await page.locator('[data-input="table:3"]').fill('2');
  await page.fill('[data-input=number]', '2.45');
  const outcome = await read(page);
  assert.match(outcome, /2\.4500 came back as 2\./);
  const right = Number(/(\d+) of 512 slots have the table/.exec(outcome)?.[1] ?? NaN);
  assert.ok(right > 470, `${right} of 512`);
  assert.ok(!/NaN|undefined|Infinity/.test(await page.locator('main').innerText()));
});

test('digits: what is not a number is refused, a run is cancelled, and the next one goes on', async ({ open, site }) => {
  const page = await begin({ open, site }, { viewport: { width: 390, height: 844 } });
  for (const [text, words] of [['', 'is not a number'], ['many', 'is not a number'], ['0.5', 'is not an integer'], ['2000000', 'too large']]) {
    await page.fill('[data-input=number]', text);
    await page.click('[data-act=run]');
    const problem = page.locator('.problem', { hasText: words });
    await problem.waitFor();
    assert.ok(await problem.evaluate((el) => el.getBoundingClientRect().bottom <= innerHeight && el.getBoundingClientRect().top >= 0), 'inside the window');
  }
  await page.fill('[data-input=number]', '60');
  await page.selectOption('[data-input=reading]', 'hour');
  await page.click('[data-act=run]');
  await page.click('[data-act=cancel]');
  await page.locator('[data-act=run]:enabled').waitFor();
  assert.equal(await page.locator('.problem').count(), 0);
  // The previous result stays.
  assert.match(await page.locator('.recorded').innerText(), /recorded run/);
  assert.match(await read(page), /60 came back as 12\. 512 of 512/);
});
