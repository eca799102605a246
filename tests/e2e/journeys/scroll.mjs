// Stories whose text scrolls in steps beside a fixed drawing: it shows the step being read, and choosing a step scrolls to its text.
import assert from 'node:assert/strict';
import { DESK, PHONE, opened, turn } from '../lib/looks.mjs';
import { drawn, violations } from '../lib/page.mjs';
import { test, until } from '../lib/test.mjs';

/** For each page: its story, what stays beside it, the button for a step, what marks the drawn step, and the attribute that tells which. */
const STORIES = {
  index: { story: '#story', stays: '#view-slot', press: (i) => `.stations [data-act="station:${i}"]`, chosen: '.stations [aria-selected=true]', attribute: 'data-act', ready: '[data-act=refloat]:enabled', steps: 9 },
  comb: { story: '#conv-story', stays: '.scroll-stays', press: (i) => `#conv-stages [data-act="at:${i}"]`, chosen: '#conv-stages [aria-pressed=true]', attribute: 'data-act', ready: '[data-act=run]:enabled', steps: 5 },
};

/** The marked step, the drawn one, and the one a little below the middle of the window. */
function where(page, { story, chosen, attribute }) {
  return page.evaluate(
    ([story, chosen, attribute]) => {
      const steps = [...document.querySelectorAll(`${story} [data-scroll-step]`)];
      const line = innerHeight * 0.62;
      return {
        marked: steps.findIndex((step) => step.getAttribute('aria-current') === 'step'),
        drawn: Number(document.querySelector(chosen)?.getAttribute(attribute).split(':')[1]),
        read: steps.findIndex((step) => step.getBoundingClientRect().top <= line && step.getBoundingClientRect().bottom > line),
        seen: steps.filter((step) => step.offsetParent).length,
      };
    },
    [story, chosen, attribute],
  );
}

const at = (name, page, one, step) =>
  until(`step ${step} of ${name} is read, marked and drawn`, async () => {
    const { marked, drawn, read } = await where(page, one);
    return marked === step && drawn === step && read === step;
  });

for (const [name, one] of Object.entries(STORIES)) {
  for (const [colorScheme, reducedMotion] of [['light', 'no-preference'], ['dark', 'reduce']]) {
    test(`scroll: the steps of ${name}, ${colorScheme}, motion: ${reducedMotion}`, async ({ open, site }) => {
      const page = await open(`${site}${name}.html`, { ready: false, colorScheme, reducedMotion, viewport: { width: 1280, height: 800 } });
      await page.locator(one.ready).waitFor();
      await page.locator(`${one.story} [data-scroll-step]`).nth(one.steps - 1).waitFor();
      await page.mouse.move(300, 500);
      for (let step = 0; step < one.steps; step++) {
        // Down with the wheel, until the next step is being read.
        await until(`step ${step} of ${name} comes up`, async () => {
          const { read } = await where(page, one);
          if (read >= step) return true;
          await page.mouse.wheel(0, 120);
          await drawn(page);
          return false;
        });
        await at(name, page, one, step);
        if (step === 0) continue;
        const box = await page.locator(one.stays).boundingBox();
        assert.ok(box.y >= 0 && box.y + box.height <= 800, `the drawing stays in the window: ${JSON.stringify(box)}`);
      }
      // A step chosen in another way is scrolled to where it can be read.
      await page.click(one.press(1));
      await at(name, page, one, 1);
      await page.locator(one.press(3)).focus();
      await page.keyboard.press(name === 'index' ? 'End' : 'Enter');
      await at(name, page, one, name === 'index' ? one.steps - 1 : 3);
      assert.deepEqual(await violations(page), []);
    });
  }

  test(`scroll: one step at a time of ${name} on a phone`, async ({ open, site }) => {
    const page = await open(`${site}${name}.html`, { ready: false, reducedMotion: 'reduce', viewport: { width: 390, height: 844 }, hasTouch: true });
    await page.locator(one.ready).waitFor();
    await page.locator(one.press(2)).click();
    await until('the step that was pressed', async () => (await where(page, one)).marked === 2);
    assert.equal((await where(page, one)).seen, 1);
    const before = await page.evaluate(() => scrollY);
    await page.locator(one.press(3)).click();
    await until('the next', async () => (await where(page, one)).marked === 3);
    assert.equal(await page.evaluate(() => scrollY), before, 'nothing scrolls by itself');
  });

  test(`scroll: another size of the window leaves the step of ${name} as it is`, async ({ open, site }) => {
    const page = await open(`${site}${name}.html`, opened(PHONE));
    await page.locator(one.ready).waitFor();
    const chosen = Math.min(5, one.steps - 1);
    await page.locator(one.press(chosen)).click();
    await until('the step that was pressed', async () => (await where(page, one)).marked === chosen);
    await page.locator(`${one.story} [aria-current=step]`).evaluate((step) => step.scrollIntoView({ block: 'center' }));
    await at(name, page, one, chosen);
    // The page notices a frame later.
    await drawn(page);
    for (const look of [DESK, { ...DESK, viewport: { width: 1100, height: 700 } }, PHONE, DESK]) {
      await turn(page, look);
      await drawn(page);
      const { marked, drawn: shown } = await where(page, one);
      assert.deepEqual([marked, shown], [chosen, chosen], `at ${look.viewport.width} px`);
    }
    await at(name, page, one, chosen);
  });
}

for (const [name, one] of Object.entries(STORIES)) {
  test(`scroll: ${name} stays where it opened when its recorded run comes late`, async ({ open, site }) => {
    let release;
    const held = new Promise((done) => { release = done; });
    const prepare = (p) => p.route('**/*.json', async (route) => { await held; await route.continue(); });
    const page = await open(`${site}${name}.html`, { ...opened(DESK), prepare });
    await page.locator(one.ready).waitFor();
    // To the browser, a script that a debugger runs counts as an action of the reader.
    assert.equal(await page.evaluate(() => navigator.userActivation.hasBeenActive), true);
    release();
    await page.locator('.recorded, .gauge-text').first().waitFor();
    await drawn(page);
    assert.equal(await page.evaluate(() => scrollY), 0);
  });
}

for (const reducedMotion of ['no-preference', 'reduce']) {
  test(`scroll: what is played brings its text, and leaves a reader who scrolls alone, motion: ${reducedMotion}`, async ({ open, site }) => {
    const page = await open(`${site}index.html`, { ...opened(DESK), reducedMotion });
    const one = STORIES.index;
    await page.locator(one.ready).waitFor();
    // Scrolled to where the bar is in sight but the story is not.
    await page.evaluate(() => scrollTo({ top: document.querySelector('.strip').offsetTop - 600, behavior: 'instant' }));
    await page.selectOption('[data-input=speed]', '4');
    await page.click('[data-act=replay]');
    for (const step of [0, 1, 2]) await at('index', page, one, step);
    await page.mouse.move(300, 500);
    await until('the reader has scrolled back', async () => {
      if ((await where(page, one)).read === 0) return true;
      await page.mouse.wheel(0, -200);
      await drawn(page);
      return false;
    });
    await at('index', page, one, 0);
    await page.waitForTimeout(2500);
    await at('index', page, one, 0);
    assert.equal(await page.locator('[data-act=play]').getAttribute('aria-label'), 'Play', 'it pauses');
  });
}

test('scroll: the address follows the reader, and leads back', async ({ open, site }) => {
  const page = await open(`${site}index.html`, { ready: false, reducedMotion: 'reduce', viewport: { width: 1280, height: 800 } });
  const one = STORIES.index;
  await page.locator(one.ready).waitFor();
  await page.locator('#story [data-scroll-step]').nth(4).evaluate((step) => step.scrollIntoView({ block: 'center' }));
  await at('index', page, one, 4);
  await page.waitForURL(/stage=encode_phase/);
  await page.goto(page.url().replace('stage=encode_phase', 'stage=encapsulate'));
  await at('index', page, one, 3);
});
