// The second page: an adder on encrypted bits, and one gate closely, with the toy set.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from '../lib/harness.mjs';
import { staticHost } from '../lib/host.mjs';
import { openDemo } from '../lib/page.mjs';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

for (const [colorScheme, width] of [['light', 1280], ['dark', 360]]) {
  test(`gates: adds in the tab and shows one bootstrapping, ${colorScheme}, ${width} px`, async (context) => {
    const host = await staticHost(context);
    const page = await openDemo(context, `${host}gates.html?set=toy-bool`, { ready: false, colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' });
    await page.locator('.gates-gate').first().waitFor();
    assert.equal(await page.locator('.gates-gate').count(), 16);
    assert.equal(await page.locator('.gates-gate.lit').count(), 0, 'nothing was computed yet');
    // 200 becomes 201, 77 becomes 79.
    await page.getByRole('button', { name: 'bit 0 of a' }).click();
    await page.getByRole('button', { name: 'bit 1 of b' }).click();
    await page.click('[data-act=add]');
    await page.locator('#sum').waitFor();
    assert.equal(await page.locator('#sum').innerText(), '280');
    assert.equal(await page.locator('.gates-gate.lit').count(), 16);
    assert.match(await page.locator('#gates-adder').innerText(), /INSECURE/);

    for (const [gate, x, y, wanted] of [['nand', 1, 0, 1], ['and', 1, 0, 0], ['xor', 1, 1, 0]]) {
      await page.selectOption('select[name=gate]', gate);
      for (const [name, bit] of [['x', x], ['y', y]]) {
        const operand = page.getByRole('button', { name: `operand ${name}` });
        if ((await operand.getAttribute('aria-pressed')) !== String(bit === 1)) await operand.click();
      }
      await page.click('[data-act=look]');
      await page.locator('#close-result', { hasText: 'decrypts to' }).waitFor();
      assert.equal(await page.locator('#close-result').innerText(), `decrypts to ${wanted}`, gate);
      const [before, accumulator, after] = await page.locator('.gates-figures figcaption').allInnerTexts();
      assert.match(before, /after rounding/);
      assert.match(accumulator, /256 coefficients/);
      const phase = Number(/(-?0\.\d+) of a turn/.exec(after)?.[1]);
      assert.ok(Math.abs(phase - (wanted ? 0.125 : -0.125)) < 0.06, `${gate}: the result lies at ${phase}`);
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} px too wide`);
    await page.evaluate(axeSource);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    assert.deepEqual(found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}`)), []);
  });
}
