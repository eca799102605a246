// Moving through the steps of a run with the arrow keys, on the pages that list them.
import assert from 'node:assert/strict';
import { DESK, opened } from '../lib/looks.mjs';
import { test, until } from '../lib/test.mjs';

const PAGES = { comb: '#conv-stages', digits: '.digits-steps', exact: '#exact-stages' };

for (const [name, list] of Object.entries(PAGES)) {
  test(`steps: the arrow keys press those of ${name}`, async ({ open, site }) => {
    const page = await open(`${site}${name}.html`, opened(DESK));
    const steps = page.locator(`${list} button:enabled`);
    await steps.first().waitFor();
    const last = (await steps.count()) - 1;
    assert.ok(last >= 4, `${last + 1} steps`);
    const at = (place, key) =>
      until(`${key} leads to step ${place}`, () =>
        page.evaluate(
          ([list, place]) => {
            const all = [...document.querySelectorAll(`${list} button:enabled`)];
            return all[place] === document.activeElement && all.every((one, i) => (one.getAttribute('aria-pressed') === 'true') === (i === place));
          },
          [list, place],
        ),
      );
    await steps.first().focus();
    for (const [key, place] of [['ArrowRight', 1], ['ArrowDown', 2], ['ArrowLeft', 1], ['ArrowUp', 0], ['ArrowLeft', 0], ['End', last], ['ArrowRight', last], ['Home', 0]]) {
      await page.keyboard.press(key);
      await at(place, key);
    }
  });
}
