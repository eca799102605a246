// Keyboard alone, reduced motion, screen readers, axe, narrow screens.
import assert from 'node:assert/strict';
import { test, until } from '../lib/test.mjs';
import { LOOKS, opened, turn } from '../lib/looks.mjs';
import { cameBack, drawn, finished, refloat, station, violations } from '../lib/page.mjs';

test('access: axe finds nothing, in both sizes and themes', async ({ open, site }) => {
  const page = await open(site, { ...opened(LOOKS[0]), ready: true });
  const judge = async (what) => {
    for (const look of LOOKS) {
      await turn(page, look);
      assert.deepEqual(await violations(page), [], `${what}, ${look.name}`);
    }
  };
  await refloat(page);
  for (const name of ['blind_rotate', 'decrypt']) {
    await station(page, name);
    await judge(name);
  }
  for (const part of ['costs', 'notes']) await page.locator(`#${part} summary`).click();
  await judge('unfolded');
  for (const figure of ['tide', 'lens', 'keys']) await page.click(`[data-act="table:${figure}"]`);
  for (const tab of ['Draw', 'Curve', 'Numbers']) {
    await page.getByRole('tab', { name: tab }).click();
    await judge(`${tab}, tables`);
  }
});

test('access: a tour with the keyboard alone', async ({ open, site }) => {
  const page = await open(site);
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute('data-act') || document.activeElement?.getAttribute('name') || document.activeElement?.className || document.activeElement?.tagName);
  const tabTo = async (what, limit = 40) => {
    for (let i = 0; i < limit; i++) {
      if ((await focused()) === what) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`${what} is not reached by Tab; at ${await focused()}`);
  };
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'skip', 'the skip link comes first');
  await tabTo('tab-boat');
  await page.keyboard.press('ArrowRight');
  await until('the next tab', async () => (await focused()) === 'tab-draw');
  await page.keyboard.press('ArrowLeft');
  await until('the first tab', async () => (await focused()) === 'tab-boat');
  await tabTo('refloat');
  await page.keyboard.press('Enter');
  await cameBack(page);

  await tabTo('station-decrypt', 60);
  await page.keyboard.press('Home');
  await until('the first station', async () => (await focused()) === 'station-encrypt');
  await page.keyboard.press('ArrowRight');
  await until('the second station', async () => (await focused()) === 'station-exhaust');
  assert.equal(await page.locator('#story-title').innerText(), 'Exhaust');
  await page.keyboard.press(' ');
  await page.locator('#station-slots_to_coeffs[aria-selected=true]').waitFor();
  await page.keyboard.press(' ');
  await page.keyboard.press('End');
  await until('the last station', async () => (await focused()) === 'station-decrypt');
  assert.equal(await page.locator('[role=option][tabindex="0"]').count(), 1, 'one stop for the whole list');

  await tabTo('table:tide', 60);
  await page.keyboard.press('Enter');
  await page.locator('#figure-tide table').waitFor();
  assert.equal(await focused(), 'table:tide', 'focus stays where it was');
});

test('access: Escape cancels', async ({ open, site }) => {
  const page = await open(site);
  await page.click('[data-act=refloat]');
  await page.locator('[data-act=cancel]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('[data-act=refloat]:enabled').waitFor();
  assert.equal(await finished(page), 0);
});

test('access: reduced motion means cuts', async ({ open, site }) => {
  const page = await open(site, { reducedMotion: 'reduce' });
  await refloat(page);
  const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((e) => {
    const s = getComputedStyle(e);
    return s.transitionDuration.split(',').some((d) => parseFloat(d) > 0) || s.animationName !== 'none';
  }).length);
  assert.equal(moving, 0, 'elements with transitions or animations');
});

test('access: the live region says each station once', async ({ open, site }) => {
  const page = await open(site);
  await refloat(page);
  await page.evaluate(() => {
    globalThis.said = [];
    new MutationObserver(() => globalThis.said.push(document.getElementById('live').textContent)).observe(document.getElementById('live'), { childList: true, characterData: true, subtree: true });
  });
  await station(page, 'exhaust');
  await station(page, 'encode_phase');
  await until('two messages', () => page.evaluate(() => globalThis.said.length >= 2));
  const said = await page.evaluate(() => globalThis.said);
  assert.equal(said.length, 2, said.join(' | '));
  assert.match(said[0], /^Exhaust\. After “Exhaust”: level 1 of 6/);
});

test('access: nothing is wider than the screen, and a finger hits what can be pressed', async ({ open, site }) => {
  const height = 800;
  const page = await open(site, { viewport: { width: 360, height }, hasTouch: true });
  await refloat(page);
  const small = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, [role=option], .file, .place label')]
      .filter((e) => e.offsetParent !== null)
      .map((e) => ({ what: e.id || e.getAttribute('data-act') || e.className, box: e.getBoundingClientRect() }))
      // Nine stations share the width of the narrowest phone, so that none of them is out of sight; they are 54 high.
      .filter(({ box }) => box.height < 43.5 || box.width < 36)
      .map(({ what, box }) => `${what}: ${Math.round(box.width)} × ${Math.round(box.height)}`),
  );
  assert.deepEqual(small, [], 'touch targets');
  for (const width of [360, 768, 1280, 1440]) {
    await page.setViewportSize({ width, height });
    await drawn(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width} px`);
  }
});
