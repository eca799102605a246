// What all pages share: a first screen with a sentence, a drawing and a button; one menu; a recorded run until there is another one;
// little script.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LOOKS, opened, PHONE, sound, turn } from '../lib/looks.mjs';
import { demoDist } from '../lib/paths.mjs';
import { test, until } from '../lib/test.mjs';

/** Every page's drawing on the first screen, the part of it that comes from a run, and the button. */
const PAGES = [
  { name: 'index', drawing: '#gauge svg', button: '[data-act=refloat]', seen: '.gauge-water', recorded: '.gauge-text' },
  { name: 'gates', drawing: '.gates-circuit', button: '[data-act=add]', seen: '.gates-gate.lit', recorded: '.gates-recorded' },
  { name: 'comb', drawing: '.conv-comb', button: '[data-act=run]', seen: '.conv-dots circle', recorded: '.recorded' },
  { name: 'digits', drawing: '.digits-circle', button: '[data-act=run]', seen: '.digits-dots circle', recorded: '.recorded' },
  { name: 'exact', drawing: '#exact-digits svg', button: '[data-act=run]', seen: '#exact-stages button:enabled', recorded: '.recorded' },
  { name: 'patients', drawing: '.patients-way', button: '[data-act=run]', seen: '.patients-line', recorded: '.patients-recorded', served: true },
  { name: 'triage', drawing: '.triage-triangle', button: '[data-act=run]', seen: '.triage-cell.won', recorded: '.recorded', served: true },
  { name: 'methods', drawing: '#methods-crossing svg', button: '[data-act="kind:1"]', seen: '.methods-at', recorded: '.recorded' },
];

/** How much of a drawing must be on the first screen, as a share of its height. */
const ENOUGH = 0.6;
/** Most bytes of script that a first screen asks for, with what its worker asks for. */
const SCRIPT = 270_000;

for (const { name, drawing, button, seen, recorded, served } of PAGES) {
  test(`shell: the first screen of ${name}, in both sizes and themes`, async ({ open, site, serve }) => {
    const scripts = new Set();
    const asked = (request) => /\.js$/.test(new URL(request.url()).pathname) && scripts.add(basename(request.url()));
    const url = `${served ? (await serve()).url : site}${name}.html`;
    const page = await open(url, { ...opened(LOOKS[0]), prepare: (p) => p.on('request', asked) });
    for (const look of LOOKS) {
      const { width, height } = look.viewport;
      await turn(page, look);
      assert.equal(await page.evaluate(() => scrollY), 0, 'another size scrolls nothing');
      await page.goto(url);
      await page.locator(`${button}:enabled`).waitFor();
      await page.locator(seen).first().waitFor();
      assert.match(await page.locator(recorded).first().innerText(), /recorded/i);
      assert.equal(await page.evaluate(() => scrollY), 0, 'nothing has scrolled');
      for (const [what, share] of [['h1', 1], ['.lead', 1], [button, 1], [drawing, ENOUGH]]) {
        const box = await page.locator(what).first().boundingBox();
        assert.ok(box && box.y >= 0 && box.y + box.height * share <= height, `${what} on the first screen, ${width} px: ${JSON.stringify(box)}`);
      }
      const menu = page.getByRole('navigation', { name: 'Pages' });
      assert.equal(await menu.getByRole('link').count(), PAGES.length);
      const here = await menu.locator('[aria-current=page]').boundingBox();
      assert.ok(here && here.x >= 0 && here.x + here.width <= width && here.y < 120, `the menu is in sight: ${JSON.stringify(here)}`);
      await sound(page);
    }
    const script = [...scripts].reduce((sum, file) => sum + statSync(join(demoDist, 'assets', file)).size, 0);
    assert.ok(script > 0 && script < SCRIPT, `${script} bytes of script in ${[...scripts].join(', ')}`);
  });
}

test('shell: a page is a press away from every other', async ({ open, site }) => {
  const page = await open(`${site}gates.html`, { ready: false, viewport: { width: 390, height: 844 }, hasTouch: true });
  for (const [words, path] of [['Digits', 'digits'], ['Pictures', 'index'], ['Patients', 'patients'], ['Gates', 'gates']]) {
    await page.getByRole('navigation').getByRole('link', { name: words }).click();
    await page.waitForURL(`**/${path}.html`);
    assert.equal(await page.locator('nav [aria-current=page]').innerText(), words);
  }
});

for (const [name, javaScriptEnabled] of [['index', true], ['gates', true], ['patients', true], ['digits', false]]) {
  test(`shell: the words of all pages are a press away, and an address leads to them: ${name}${javaScriptEnabled ? '' : ', without scripts'}`, async ({ open, site }) => {
    const page = await open(`${site}${name}.html`, { ...opened(PHONE), javaScriptEnabled });
    const words = page.locator('#words');
    const inWindow = async () => { const box = await words.boundingBox(); return (await words.isVisible()) && box !== null && box.y >= 0 && box.y < PHONE.viewport.height / 2; };
    assert.equal(await words.isVisible(), false);
    await page.getByRole('link', { name: 'Words', exact: true }).click();
    await until('the words, where they can be read', inWindow);
    await page.goto('about:blank');
    await page.goto(`${site}${name}.html#words`);
    await until('the words, once the page is there', inWindow);
    if (!javaScriptEnabled) return;
    await page.waitForTimeout(1000);
    assert.ok(await inWindow(), 'and still');
    assert.equal(new URL(page.url()).hash, '#words');
    await sound(page);
  });
}

test('shell: the page for what is missing', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(`${url}there/is/nothing`, { ...opened(LOOKS[0]), expectLostRequests: true });
  await page.locator('#path', { hasText: '/there/is/nothing' }).waitFor();
  assert.equal(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').count(), PAGES.length);
  for (const look of LOOKS) {
    await turn(page, look);
    await sound(page);
  }
});
