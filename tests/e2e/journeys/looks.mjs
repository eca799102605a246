// Screenshots in both themes at three widths, for people to look at.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test, until } from '../lib/test.mjs';
import { shots } from '../lib/paths.mjs';
import { refloat, station } from '../lib/page.mjs';

/** Bytes that a picture of an empty page stays below. */
const BLANK = 10_000;

for (const colorScheme of ['light', 'dark']) {
  for (const width of [360, 768, 1280]) {
    test(`looks: ${colorScheme}, ${width} px`, async ({ open, site }) => {
      mkdirSync(shots, { recursive: true });
      const page = await open(site, { colorScheme, viewport: { width, height: width < 600 ? 740 : 860 }, reducedMotion: 'reduce' });
      const shoot = async (name, fullPage) => {
        const path = join(shots, `${name}-${colorScheme}-${width}.png`);
        // A loaded machine may hand over a frame from before the page was drawn anew.
        await until(`${path} shows something`, async () => {
          await page.screenshot({ path, fullPage });
          return statSync(path).size > BLANK;
        });
      };
      await shoot('first', false);
      await refloat(page);
      await shoot('whole', true);
      for (const name of ['encrypt', 'blind_rotate', 'product_tree']) {
        await station(page, name);
        await page.locator('#story [aria-current]').scrollIntoViewIfNeeded();
        await shoot(name, false);
      }
    });
  }
}
