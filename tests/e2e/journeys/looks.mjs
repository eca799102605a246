// Screenshots in both themes at three widths, for people to look at.
import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from '../lib/harness.mjs';
import { staticHost } from '../lib/host.mjs';
import { shots } from '../lib/paths.mjs';
import { openDemo, refloat, station } from '../lib/page.mjs';

for (const colorScheme of ['light', 'dark']) {
  for (const width of [360, 768, 1280]) {
    test(`looks: ${colorScheme}, ${width} px`, async (context) => {
      mkdirSync(shots, { recursive: true });
      const page = await openDemo(context, await staticHost(context), { colorScheme, viewport: { width, height: width < 600 ? 740 : 860 }, reducedMotion: 'reduce' });
      const shoot = async (name, fullPage) => {
        const path = join(shots, `${name}-${colorScheme}-${width}.png`);
        await page.screenshot({ path, fullPage });
        assert.ok(statSync(path).size > 10_000, `${path} shows something`);
      };
      await shoot('first', false);
      await refloat(page);
      await shoot('whole', true);
      for (const name of ['encrypt', 'blind_rotate', 'product_tree']) {
        await station(page, name);
        await page.locator('#story').scrollIntoViewIfNeeded();
        await shoot(name, false);
      }
    });
  }
}
