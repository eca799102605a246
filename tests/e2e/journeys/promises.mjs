// What the page says while it waits is true at every moment, and stands where it can be seen.
import assert from 'node:assert/strict';
import { DESK, PHONE, opened } from '../lib/looks.mjs';
import { test, until } from '../lib/test.mjs';
import { clickWhen, drawn, problemText, refloat, refloatAndCancel, station, table } from '../lib/page.mjs';
import { slowStages } from '../lib/slow.mjs';

const SIZES = [opened(DESK), { ...opened(PHONE), hasTouch: true }];

/** What hero, tide, tree and strip show now; runs in the page. */
function look() {
  const text = (selector) => document.querySelector(selector)?.textContent.trim() ?? '';
  const box = (selector) => document.querySelector(selector)?.getBoundingClientRect();
  const selected = document.querySelector('[role=option][aria-selected=true]');
  const [boat, mark] = [box('#gauge .boat-hull'), box('#gauge .staff-mark')];
  const [floats, column] = [box('#figure-tide .boat-hull'), box('#figure-tide .column-here')];
  return {
    station: selected?.id.replace('station-', ''),
    underway: selected?.classList.contains('underway') ?? false,
    label: text('.progress-label'),
    gauge: text('.gauge-text'),
    aground: document.querySelector('#gauge .heeled') !== null,
    // In the hero, the hull lies at the height that the staff shows; in the chart, it is above the selected column.
    onTheWater: boat !== undefined && mark !== undefined && boat.top < mark.top + mark.height / 2 && mark.top + mark.height / 2 < boat.bottom,
    overColumn: floats !== undefined && column !== undefined && column.left < floats.left && floats.right < column.right,
    tide: text('#figure-tide figcaption'),
    precision: text('#figure-precision figcaption'),
    tree: text('#figure-tree figcaption'),
  };
}

const shown = (page) => page.evaluate(look);

test('promises: a stage under way is shown with the water it began with', async ({ open, site }) => {
  const page = await open(site, { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  const paused = clickWhen(page, 'Rotate blindly', '[data-act=play]');
  await page.click('[data-act=refloat]');
  await paused;
  await page.getByText('Bootstrapping (paused)').waitFor();
  // A track that was being rotated when the pause came is finished first.
  await until('a track', async () => Number((await page.locator('.part').innerText()).split('/')[0]) > 0 || page.click('[data-act=step]').then(() => false));
  await drawn(page);
  const depth = Number((await table(page, 'tide'))['Write phases'][1]);
  const now = await shown(page);
  assert.equal(now.station, 'blind_rotate');
  assert.ok(now.underway && now.onTheWater && now.overColumn && !now.aground, JSON.stringify(now));
  assert.match(now.gauge, new RegExp(`^${Math.round(depth)} bits of modulus\\. “Rotate blindly” is under way, \\d+ of 15 tracks done\\.$`));
  assert.ok(now.tide.includes(`began at level 6 of 6, with a modulus of ${depth.toFixed(1)} bits`), now.tide);
  assert.match(now.precision, /“Rotate blindly” is under way.*So far the worst slot is right to \d/);
  assert.match(now.tree, /^\d+ of 15 tracks have been rotated blindly; the others are under way or wait/);
  assert.deepEqual((await table(page, 'tide'))['Rotate blindly'], ['under way', '–', '–'], 'the end of the stage is not known yet');

  // From here on, every frame is recorded.
  await page.evaluate(() => {
    globalThis.frames_seen = [];
    new MutationObserver(() => {
      globalThis.frames_seen.push(`${document.querySelector('.gauge-text')?.textContent} | ${document.querySelector('#figure-tide figcaption')?.textContent}`);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.click('[data-act=play]');
  await page.locator('[data-act=refloat]:enabled').waitFor();
  const frames = await page.evaluate(() => globalThis.frames_seen);
  assert.ok(frames.length > 3, `${frames.length} frames`);
  for (const frame of frames) assert.doesNotMatch(frame, /No ciphertext yet|has not been reached/);
});

/** Notes with every frame what the page says of the stage under way: its name, the bits of modulus in the gauge, and those that the tide began with. */
function watchWater(page) {
  return page.evaluate(() => {
    globalThis.water_seen = [];
    new MutationObserver(() => {
      const under = document.querySelector('.stations .underway');
      if (!under) return;
      const text = (selector) => document.querySelector(selector)?.textContent ?? '';
      globalThis.water_seen.push({
        stage: under.id.replace('station-', ''),
        gauge: /^(\d+) bits of modulus/.exec(text('.gauge-text'))?.[1],
        tide: /began at level \d+ of \d+, with a modulus of ([\d.]+) bits/.exec(text('#figure-tide figcaption'))?.[1],
      });
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
}

/** Stations with their titles and, at each, the level and the modulus that it left, as the chart has them after a run. */
async function left(page) {
  const names = await page.locator('.stations [role=option]').evaluateAll((all) => all.map((one) => one.id.replace('station-', '')));
  return Object.entries(await table(page, 'tide')).map(([title, [level, bits]], i) => ({ name: names[i], title, level, bits }));
}

/** Checks that the page showed every stage of the run while it was under way, with the water it began with and with its parts done. */
function everyStage(stations, seen) {
  for (const { stage, done, ...now } of seen) {
    const i = stations.findIndex(({ name }) => name === stage);
    const [{ title }, { level, bits }] = [stations[i], stations[i - 1]];
    const parts = { blind_rotate: `, ${done} of 15 tracks done`, product_tree: `, ${done} of 4 product levels done` }[stage] ?? '';
    const what = `“${title}” is under way${parts}.`;
    const wrong = `${stage}, ${done} parts: ${JSON.stringify(now)}`;
    assert.ok(now.station === stage && now.underway && now.label === title, wrong);
    assert.ok(now.gauge.startsWith(`${Math.round(Number(bits))} bits of modulus. ${what}`), wrong);
    assert.ok(now.tide.startsWith(`${what} It began at level ${level} of 6, with a modulus of ${bits} bits.`), wrong);
    assert.ok(now.overColumn, wrong);
  }
  // The page encrypts, exhausts and decrypts itself; all other stations are stages of the run.
  assert.deepEqual([...new Set(seen.map(({ stage }) => stage))], stations.slice(2, -1).map(({ name }) => name), 'every stage was seen');
}

for (const size of [DESK, PHONE]) {
  test(`promises: whatever stage is under way, its water is that of its entry, ${size.viewport.width} px`, async ({ open, site }) => {
    const page = await open(site, { ...opened(size), ready: true, prepare: (p) => slowStages(p, look) });
    // Keys are made first, so that every frame of the second run belongs to a stage.
    await refloat(page);
    await watchWater(page);
    await page.evaluate(() => { globalThis.underWay = []; });
    await refloat(page);
    const stations = await left(page);
    everyStage(stations, await page.evaluate(() => globalThis.underWay));
    for (const { stage, gauge, tide: began } of await page.evaluate(() => globalThis.water_seen)) {
      const before = stations[stations.findIndex(({ name }) => name === stage) - 1];
      assert.equal(began, before.bits, `${stage} began with what “${before.title}” left`);
      assert.ok(Math.abs(Number(gauge) - Number(before.bits)) < 0.6, `${stage}: ${gauge} bits in the gauge, ${before.bits} in the chart`);
    }
  });
}

test('promises: whatever stage is under way on a server, the page shows it', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(url, { reducedMotion: 'reduce', prepare: (p) => slowStages(p, look) });
  await page.locator('input[value=server]:enabled').waitFor();
  await page.check('input[value=server]');
  await page.selectOption('[data-input=set-server]', 'toy10');
  await refloat(page);
  everyStage(await left(page), await page.evaluate(() => globalThis.underWay));
});

test('promises: cancelled in the middle, the boat stays where it was', async ({ open, site }) => {
  const page = await open(site, { reducedMotion: 'reduce' });
  await refloatAndCancel(page, 'Rotate blindly');
  await drawn(page);
  const now = await shown(page);
  assert.match(now.gauge, /bits of modulus\. Cancelled in “Rotate blindly”/);
  assert.ok(now.onTheWater && !now.aground, JSON.stringify(now));
});

/** Notes the centres of all dots of the circle, as they are drawn. */
function watchDots(page) {
  return page.addInitScript(() => {
    globalThis.dots = [];
    const { arc, clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...args) {
      if (this.canvas.dataset.canvas === 'shown.circle') globalThis.dots = [];
      return clearRect.apply(this, args);
    };
    CanvasRenderingContext2D.prototype.arc = function (x, y, r, ...rest) {
      if (this.canvas.dataset.canvas === 'shown.circle') globalThis.dots.push({ x, y, r, side: this.canvas.clientWidth });
      return arc.call(this, x, y, r, ...rest);
    };
  });
}

for (const [what, fill] of [
  ['the boat', undefined],
  // Numbers of one sign: there is no arc to enlarge, however small the angle between them.
  ['light numbers', Array.from({ length: 512 }, (_, i) => (0.2 + (0.8 * i) / 511).toFixed(4)).join(' ')],
]) {
  test(`promises: no point of the circle leaves its drawing, ${what}`, async ({ open, site }) => {
    const page = await open(site, { prepare: watchDots });
    if (fill) {
      await page.getByRole('tab', { name: 'Numbers' }).click();
      await page.locator('textarea').fill(fill);
    }
    await refloat(page);
    for (const name of ['encrypt', 'slots_to_coeffs', 'encapsulate', 'blind_rotate', 'product_tree', 'conjugate', 'decrypt']) {
      await station(page, name);
      // The slot on the far right is singled out, and must be in sight.
      await page.locator('[data-input=slot]').fill(fill ? '511' : '250');
      await drawn(page);
      const dots = await page.evaluate(() => globalThis.dots);
      assert.ok(dots.length > 512, `${dots.length} dots at ${name}`);
      const outside = dots.filter(({ x, y, r, side }) => Math.min(x, y) - r < 0 || Math.max(x, y) + r > side);
      assert.deepEqual(outside, [], `outside the drawing at ${name}`);
      if (name !== 'conjugate') continue;
      const points = dots.filter(({ r }) => r < 3);
      assert.ok(points.every(({ y, side }) => Math.abs(y - side / 2) < 2), 'the width is kept, the height is gone');
      assert.ok(points.every(({ x, side }) => Math.abs(x - side / 2) < 0.41 * side * 1.02), 'messages lie between −1 and 1, which is the circle');
      assert.match(await page.locator('#story [aria-current=step]').innerText(), /cancels the height/);
    }
  });
}

/** The page, while a server bootstraps and has said how long it will take. */
async function bootstrapping(open, url) {
  const page = await open(url, { expectLostRequests: true });
  await page.locator('input[value=server]:enabled').waitFor();
  await page.check('input[value=server]');
  await page.selectOption('[data-input=set-server]', 'ship13');
  await page.click('[data-act=refloat]');
  await page.click('[data-act=confirm]');
  await page.getByText(/about .* left/).waitFor({ timeout: 120_000 });
  return page;
}

test('promises: with the server gone, no time is promised, and the page says that it tries again', async ({ open, serve }) => {
  const { url, stop } = await serve();
  const page = await bootstrapping(open, url);
  // Records every text of the progress once the server is gone.
  await page.evaluate(() => {
    globalThis.said = [];
    const look = () => {
      const text = document.querySelector('.running')?.textContent.replace(/\s+/g, ' ').trim();
      if (text && globalThis.said.at(-1) !== text) globalThis.said.push(text);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await stop('SIGKILL');
  await page.locator('.problem').waitFor({ timeout: 60_000 });
  const said = await page.evaluate(() => globalThis.said);
  const lost = said.findIndex((text) => text.includes('does not answer: trying again'));
  assert.ok(lost >= 0, `it says that it tries again: ${said}`);
  for (const text of said.slice(lost)) assert.doesNotMatch(text, /about .* left/);
  assert.doesNotMatch(await page.locator('#controls').innerText(), /\bleft\b/, 'and none is promised afterwards');
});

test('promises: with a server that falls silent, no time is promised', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await bootstrapping(open, url);
  // The server takes connections but never answers again.
  await page.route('**/v1/keys/*/chunks/*', () => undefined);
  await page.getByText(/Nothing has arrived at the server for \d+ s/).waitFor({ timeout: 60_000 });
  assert.doesNotMatch(await page.locator('.running').innerText(), /about .* left/);
  await page.click('[data-act=cancel]');
  await page.locator('[data-act=refloat]:enabled').waitFor();
});

/** Checks that the message is wholly inside the window, and not under the bar that stays in sight. */
async function inSight(page) {
  const problem = page.locator('.problem');
  await problem.waitFor();
  const lies = () =>
    problem.evaluate((el) => {
      const box = el.getBoundingClientRect();
      const strip = document.querySelector('.strip')?.getBoundingClientRect();
      const covered = strip && strip.top < box.bottom && box.top < strip.bottom;
      return { top: box.top, bottom: box.bottom, height: window.innerHeight, covered: covered ?? false };
    });
  await until('the message in the window', async () => {
    const { top, bottom, height, covered } = await lies();
    return top >= 0 && bottom <= height && !covered;
  });
  assert.equal(await problem.getAttribute('role'), 'alert');
}

const focused = (page) => page.evaluate(() => document.activeElement?.closest('.problem') !== null);

for (const options of SIZES) {
  test(`promises: messages stand in the window, ${options.viewport.width} px`, async ({ open, serve }) => {
    const { url, stop } = await serve();
    const page = await open(url, { ...options, ready: true, expectLostRequests: true });

    // A bad picture: beside the picture, with the focus.
    await page.locator('input[type=file]').setInputFiles({ name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
    await inSight(page);
    assert.ok(await focused(page), 'focus');
    assert.equal(await page.locator('#input-panel .problem').count(), 1, 'beside the picture');
    assert.match(await problemText(page), /Choose a PNG, JPEG, WebP or GIF file/);
    await page.click('[data-act=close-problem]');
    await page.locator('.problem').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-act')), 'refloat', 'closing does not lose the focus');

    // Bad numbers: beside the numbers, and the reader types on.
    await page.getByRole('tab', { name: 'Numbers' }).click();
    await page.locator('textarea').pressSequentially('0.5 pear');
    await inSight(page);
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA', 'typing goes on');
    assert.equal(await page.locator('#input-panel .problem').count(), 1, 'beside the numbers');
    await page.locator('textarea').fill('0.5');
    await page.locator('.problem').waitFor({ state: 'detached' });

    // The server is gone: beside the button, in the page's own words.
    await page.locator('input[value=server]:enabled').waitFor();
    await page.check('input[value=server]');
    await page.selectOption('[data-input=set-server]', 'toy10');
    await refloat(page);
    await stop('SIGKILL');
    await page.click('[data-act=refloat]');
    await page.locator('.problem').waitFor({ timeout: 60_000 });
    await inSight(page);
    assert.ok(await focused(page), 'focus');
    assert.match(await problemText(page), /The server does not answer\s+Start it again.*press “Go on”/s);
    await page.click('[data-act=close-problem]');

    // The same beside the button that squares, and beside the one that deletes keys.
    await page.click('[data-act=again]');
    await page.locator('#again .problem').waitFor({ timeout: 60_000 });
    await inSight(page);
    await page.click('[data-act=close-problem]');
    await page.click('[data-act=delete-keys]');
    await page.locator('.foot .problem').waitFor({ timeout: 60_000 });
    await inSight(page);
    assert.match(await problemText(page), /press “Try again”/);
  });
}
