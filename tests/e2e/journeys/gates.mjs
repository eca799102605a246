// Gates, with the toy sets: an adder on encrypted bits, a closer look at one gate, circuits to build, functions to draw.
import assert from 'node:assert/strict';
import { PHONE, opened, soundInBoth } from '../lib/looks.mjs';
import { test, until } from '../lib/test.mjs';

/** What the builder says of an adder's outputs: the sum bits, and the last carry. */
const sum = (a, b) => ['g1', 'g3', 'g5', 'g7', 'g8'].map((name, bit) => `${name} = ${((a + b) >> bit) & 1}`).join(', ');

/** Counts the different shapes that the accumulator of the single gate is drawn in from now on; runs in the page. */
function countTurns() {
  const shapes = new Set();
  window.turning?.disconnect();
  window.turned = 0;
  window.turning = new MutationObserver(() => {
    const points = document.querySelector('#gates-close .gates-line')?.getAttribute('points');
    if (points) window.turned = shapes.add(points).size;
  });
  window.turning.observe(document.getElementById('gates-close'), { subtree: true, childList: true, attributes: true });
}

/** Presses the button for the table of a figure, takes its rows, and presses it again. */
async function rowsOf(page, figure) {
  const button = page.locator(`[data-act="table:${figure}"]`);
  await button.click();
  const rows = await page.locator(`#figure-${figure} tbody tr`).evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)));
  await button.click();
  return rows;
}

test('gates: adds in the tab and shows one bootstrapping', async ({ open, site }) => {
  const page = await open(`${site}gates.html?set=toy-bool`, opened(PHONE));
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
    await page.evaluate(countTurns);
    await page.click('[data-act=look]');
    await page.locator('#close-result', { hasText: 'decrypts to' }).waitFor();
    assert.equal(await page.locator('#close-result').innerText(), `decrypts to ${wanted}`, gate);
    assert.ok((await page.evaluate(() => window.turned)) > 3, 'the accumulator turns while the gate is computed');
    const [before, accumulator, after] = await page.locator('.gates-figures figcaption').allInnerTexts();
    assert.match(before, /after rounding/);
    assert.match(accumulator, /256 coefficients/);
    const phase = Number(/(-?0\.\d+) of a turn/.exec(after)?.[1]);
    assert.ok(Math.abs(phase - (wanted ? 0.125 : -0.125)) < 0.06, `${gate}: the result lies at ${phase}`);
  }
  // A circuit that the reader builds: the full adder with an AND of its results, and 1, 1, 0 for its inputs.
  const builder = page.locator('#gates-builder');
  for (const [name, bit] of [['a', 1], ['b', 1], ['c', 0]]) {
    const input = builder.getByRole('button', { name: `${name} =` });
    if ((await input.getAttribute('aria-pressed')) !== String(bit === 1)) await input.click();
  }
  await builder.getByRole('button', { name: 'Add a gate' }).click();
  await builder.getByRole('combobox', { name: 'Gate g3' }).selectOption('oryn');
  await builder.getByRole('combobox', { name: 'Operand 1 of g3' }).selectOption({ label: 'g2' });
  await builder.getByRole('combobox', { name: 'Operand 2 of g3' }).selectOption({ label: 'a' });
  await builder.getByRole('button', { name: 'Encrypt and evaluate' }).click();
  await page.locator('#outputs').waitFor();
  // The sum is 0 and the carry 1; g3, carry or not a, is 1: the one output besides the sum.
  assert.equal(await page.locator('#outputs').innerText(), 'g1 = 0, g3 = 1');
  const rows = await builder.locator('.gates-row').allInnerTexts();
  assert.ok(rows.every((row) => /\d ms/.test(row)), `times: ${rows}`);
  assert.match(await builder.locator('.gates-dial').nth(1).getAttribute('aria-label'), /g1, phase after: -?0\.\d+ of a turn/);
  await builder.getByRole('combobox', { name: 'Start from' }).selectOption('Adder of two 4-bit numbers');
  await builder.getByRole('button', { name: 'Encrypt and evaluate' }).click();
  await page.locator('#outputs').waitFor();
  // a, c, d, f, g are set: 13 and 6.
  assert.equal(await page.locator('#outputs').innerText(), sum(13, 6));
  await builder.getByRole('button', { name: 'Remove g8' }).click();
  assert.equal(await builder.locator('.gates-row').count(), 7);

  // A function drawn with the keyboard, and with strokes over the bars.
  const f = page.locator('#gates-draw');
  await f.getByRole('slider', { name: 'f of 0' }).focus();
  for (const key of ['End', 'ArrowDown', 'ArrowRight', 'Home', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
  assert.equal(await f.getByRole('slider', { name: 'f of 0' }).getAttribute('aria-valuenow'), '6');
  assert.equal(await f.getByRole('slider', { name: 'f of 1' }).getAttribute('aria-valuenow'), '2');
  await f.locator('[data-chart]').scrollIntoViewIfNeeded();
  const box = await f.locator('[data-chart]').boundingBox();
  const at = (bar, value) => [box.x + ((bar + 0.5) * box.width) / 8, box.y + box.height * (1 - (value + 0.5) / 8)];
  await page.mouse.move(...at(3, 1));
  await page.mouse.down();
  await page.mouse.move(...at(7, 5), { steps: 4 });
  await page.mouse.up();
  const drawn = await f.getByRole('slider', { name: /^f of/ }).evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute('aria-valuenow'))));
  assert.deepEqual([drawn.slice(0, 2), drawn.slice(3)], [[6, 2], [1, 2, 3, 4, 5]]);
  await f.locator('input[name=x]').fill('6');
  await f.getByRole('button', { name: 'Encrypt x and look up' }).click();
  await page.locator('#looked-up').waitFor();
  await f.getByRole('button', { name: 'Look the result up again' }).click();
  await page.locator('#looked-up', { hasText: '6 → 4 → 2' }).waitFor();
  await f.getByRole('combobox', { name: 'Integers' }).selectOption('16');
  assert.equal(await f.getByRole('slider', { name: /^f of/ }).count(), 16);
  await f.getByRole('combobox', { name: 'Start from' }).selectOption('the other way round');
  await f.getByRole('button', { name: 'Encrypt x and look up' }).click();
  await page.locator('#looked-up', { hasText: '6 → 9' }).waitFor();

  // The tables hold what is drawn: 201 + 79 bit by bit, the phases of the last gate, the gates of the circuit, the phases of the look-up.
  const bits = await rowsOf(page, 'adder');
  assert.deepEqual(bits.map((row) => row.at(-1)), Array.from('000110001'), '280, the lowest bit first');
  const phases = await rowsOf(page, 'bootstrap');
  assert.ok(phases.length > 8 && phases.every(([, turns]) => Math.abs(Number(turns.replace('−', '-'))) <= 0.5), `phases: ${phases}`);
  assert.deepEqual((await rowsOf(page, 'wiring')).map(([gate]) => gate), ['g1', 'g2', 'g3', 'g4', 'g5', 'g6', 'g7']);
  // 9 of 16 lies at 9/32 of a turn.
  const [what, turns] = (await rowsOf(page, 'look-up')).at(-1);
  assert.ok(what === 'Result' && Math.abs(Number(turns) - 9 / 32) < 1 / 64, `${what}: ${turns}`);

  await soundInBoth(page, 'gates');
});

test('gates: what goes wrong is said where it was asked for, and the colours chosen are kept', async ({ open, site }) => {
  const page = await open(`${site}gates.html?set=toy-none`, { ready: false, colorScheme: 'light', viewport: { width: 390, height: 800 } });
  await page.click('[data-act=look]');
  assert.match(await page.locator('#gates-close .problem').innerText(), /toy-none/);
  assert.equal(await page.locator('.problem').count(), 1, 'and nowhere else');
  await page.click('[data-act=theme]');
  await page.getByRole('navigation').getByRole('link', { name: 'Comb' }).click();
  await page.locator('#conv-controls select').waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
});

test('gates: an addition is cancelled, with the keyboard too; a gate of it is looked into; equal bits stand in one column', async ({ open, site }) => {
  const page = await open(`${site}gates.html`, { ready: false, viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  await page.locator('#sum').waitFor();
  assert.match(await page.locator('.gates-recorded').innerText(), /recorded run/);
  assert.match(await page.locator('#close-result').innerText(), /decrypts to [01], in a recorded run/);
  assert.match(await page.locator('#gates-close figcaption').nth(1).innerText(), /1,024 coefficients, one in 4 of them drawn/);
  // Every bit of the numbers stands above the bit of the sum with the same place value.
  const middles = (selector) => page.locator(selector).evaluateAll((all) => all.map((el) => { const box = el.getBoundingClientRect(); return Math.round(box.left + box.width / 2); }));
  const sums = (await middles('.gates-sum-bit')).slice(1);
  const bits = await middles('.gates-bits .gates-bit');
  assert.deepEqual([bits.slice(0, 8), bits.slice(8)], [sums, sums]);

  await page.locator('[data-act=add]').focus();
  await page.keyboard.press('Enter');
  await until('a gate', async () => (await page.locator('.gates-gate.lit').count()) > 0);
  assert.equal(await page.locator('.gates-recorded').count(), 0);
  await page.keyboard.press('Escape');
  await page.locator('[data-act=add]:enabled').waitFor();
  assert.ok((await page.locator('.gates-gate.lit').count()) < 16, 'it did not run to its end');
  assert.deepEqual(await page.locator('.problem').allInnerTexts(), []);
  assert.equal(await page.locator('#sum').count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-act')), 'add', 'the focus is where it was');

  // 200 and 77 have bit 3 in common: its carry is the majority of 1, 1 and the carry from below.
  await page.getByRole('button', { name: 'Look into the carry of bit 3' }).click();
  await page.locator('#close-result', { hasText: 'decrypts to 1' }).waitFor({ timeout: 60_000 });
  assert.equal(await page.locator('select[name=gate]').inputValue(), 'maj3');
  const operands = await page.getByRole('button', { name: /operand/ }).evaluateAll((all) => all.map((el) => el.getAttribute('aria-pressed')));
  assert.deepEqual(operands.slice(0, 2), ['true', 'true']);
});
