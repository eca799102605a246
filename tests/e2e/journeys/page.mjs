// The journey inside the page: real wasm, a plain static host, no server.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test, until } from '../lib/test.mjs';
import { demoDist, shots } from '../lib/paths.mjs';
import { difference, drawn, fingerprint, pixels, refloat, station, table } from '../lib/page.mjs';

const STATIONS = ['encrypt', 'exhaust', 'slots_to_coeffs', 'encapsulate', 'encode_phase', 'blind_rotate', 'product_tree', 'conjugate', 'decrypt'];

test('page: text, picture and controls are there before the library', async ({ open, site }) => {
  let let_go;
  const held = new Promise((resolve) => { let_go = resolve; });
  const page = await open(site, {
    ready: false,
    prepare: (p) => p.route('**/*.wasm', async (route) => { await held; await route.continue(); }),
  });
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('canvas[data-canvas=input]').waitFor();
  assert.equal(await page.locator('[data-act=refloat]').isDisabled(), true);
  assert.ok((await page.locator('.action').innerText()).includes('Loading'));
  let_go();
  await page.locator('[data-act=refloat]:enabled').waitFor();
});

test('page: a recorded voyage is shown first, also without scripts, and says so', async ({ open, site }) => {
  const url = site;
  const still = await open(url, { ready: false, javaScriptEnabled: false });
  assert.match(await still.locator('#figure-tide figcaption').innerText(), /level 2 of 6/);
  assert.match(await still.locator('main').innerText(), /A recorded voyage of the sailing boat/);
  assert.ok((await still.locator('#figure-tree .node.lit').count()) > 20);
  const page = await open(url);
  await page.getByText('A recorded voyage').first().waitFor();
  await station(page, 'blind_rotate');
  await page.locator('canvas[data-canvas="shown.lens"]').waitFor();
  assert.equal(await page.locator('[data-act=again]').isDisabled(), true, 'a recording cannot be computed on');
  await refloat(page);
  assert.equal(await page.getByText('A recorded voyage').count(), 0);
});

test('page: the complete voyage of the boat, and every station of it', async ({ open, site }) => {
  const page = await open(site);
  await refloat(page);

  const precision = await table(page, 'precision');
  const [worst, rms] = precision['Decrypt'].map(Number);
  assert.ok(worst >= 10 && worst < 20, `worst slot after the voyage: ${worst} bits`);
  assert.ok(rms >= worst && rms < 22, `rms after the voyage: ${rms} bits`);
  assert.ok(Number(precision['Encrypt'][0]) > 14, 'a fresh encryption is more precise than that');
  assert.ok(Number(precision['Rotate blindly'][0]) > 10, 'the tracks are');

  const tide = await table(page, 'tide');
  const bits = STATIONS.map((_, i) => Number(Object.values(tide)[i][1]));
  assert.ok(bits[0] > bits[1] && bits[1] > bits[2], `the water falls: ${bits}`);
  assert.ok(bits[4] > 2 * bits[0], `and rises: ${bits}`);
  assert.equal(bits[8], bits[0], 'to where it was');

  const seen = new Map();
  for (const name of STATIONS) {
    await station(page, name);
    const has = await page.locator('canvas[data-canvas="shown.lens"]').count();
    // The phases are public plaintexts: there is nothing to decrypt.
    assert.equal(has, name === 'encode_phase' ? 0 : 1, `lens at ${name}`);
    if (has) seen.set(name, await pixels(page, 'shown.lens'));
    assert.ok(!/NaN|undefined|Infinity/.test(await page.locator('main').innerText()), `text at ${name}`);
  }
  const input = seen.get('encrypt');
  for (const name of ['exhaust', 'slots_to_coeffs', 'encapsulate', 'product_tree', 'conjugate', 'decrypt']) {
    const d = difference(input, seen.get(name));
    assert.ok(d.largest <= 2, `the picture is in the ciphertext at ${name}: off by ${d.largest} grey levels`);
  }
  assert.ok(difference(input, seen.get('blind_rotate')).mean > 40, 'a single track shows no picture');

  await station(page, 'blind_rotate');
  const track = new Set();
  for (let i = 0; i < 4; i++) {
    track.add(await fingerprint(page, 'shown.lens'));
    await page.click('[data-act=back]');
    await drawn(page);
  }
  assert.equal(track.size, 4, 'every track has its own slots');
  assert.match(await page.locator('#badge').innerText(), /insecure/i);
  assert.match(await page.locator('#badge').innerText(), /ship13/);
});

test('page: the ciphertext looks like noise from outside', async ({ open, site }) => {
  const page = await open(site);
  await refloat(page);
  await station(page, 'encrypt');
  const grey = await pixels(page, 'shown.bytes');
  const counts = new Array(16).fill(0);
  for (const g of grey) counts[g >> 4] += 1;
  const expected = grey.length / 16;
  // Chi-squared with 15 degrees of freedom: 60 is beyond one in a million. Packed residues are not
  // quite uniform bytes, so this is about structure, not about randomness.
  const chi = counts.reduce((sum, c) => sum + (c - expected) ** 2 / expected, 0);
  assert.ok(chi < 60, `byte histogram: chi squared ${chi.toFixed(1)}`);
});

test('page: squared and refloated again', async ({ open, site }) => {
  const page = await open(site);
  await refloat(page);
  await page.click('[data-act=again]');
  await page.locator('#figure-again canvas[data-canvas="again.after"]').waitFor();
  const d = difference(await pixels(page, 'again.expected'), await pixels(page, 'again.after'));
  assert.ok(d.largest <= 3, `the square came back: off by ${d.largest} grey levels`);
  const figures = await table(page, 'again');
  const worst = Number(figures['Worst slot, bits'][0]);
  assert.ok(worst > 8 && worst < 16, `worst slot of the square: ${worst} bits`);
});

test('page: toy11, with 1024 slots', async ({ open, site }) => {
  const page = await open(site);
  await page.selectOption('[data-input=set-page]', 'toy11');
  await refloat(page);
  const d = difference(await pixels(page, 'shown.before'), await pixels(page, 'shown.after'));
  assert.ok(d.largest <= 2, `off by ${d.largest} grey levels`);
  assert.equal((await pixels(page, 'shown.after')).length, 1024);
});

/** Chooses full size, and perhaps another of its sets. */
async function fullSize(page, set) {
  await page.check('input[value=page-full]');
  if (set) await page.selectOption('[data-input=set-page]', set);
}

/** Bytes of a figure such as "192 MB". */
const megabytes = (text) => Number(/^([\d.]+) MB$/.exec(text)?.[1]);

test('page: full size in the page, keys made on the way, in little memory', async ({ open, site }) => {
  const page = await open(site);
  await fullSize(page);
  await refloat(page, { limit: 170_000 });
  const worst = Number((await table(page, 'precision'))['Decrypt'][0]);
  assert.ok(worst >= 5.0 && worst < 12, `worst of 4096 slots: ${worst} bits`);
  assert.match(await page.locator('#badge').innerText(), /128-bit security/);
  assert.equal((await pixels(page, 'shown.after')).length, 4096);
  assert.equal(await page.locator('#figure-flame .flame-tick').count(), 31, 'a tick for every track');
  const threads = await page.evaluate(() => Math.min(navigator.hardwareConcurrency, 4));
  const [, memory] = Object.entries(await table(page, 'result')).find(([name]) => name === `Memory, ${threads} wasm instance${threads > 1 ? 's' : ''}`);
  assert.ok(megabytes(memory[0]) < 300, `wasm memory of ${threads} threads: ${memory}`);
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, 'full-size.png'), fullPage: true });
});

test('page: full size in bits, cancelled between two tracks and begun again', async ({ open, site }) => {
  test.setTimeout(300_000);
  const page = await open(site, { hash: '#where=page&set=ship13-bits' });
  assert.equal(await page.locator('input[value=page-full]').isChecked(), true);
  await page.click('[data-act=refloat]');
  await until('the third track', async () => /^[3-9] of 31$/.test((await page.locator('.progress-figure').allInnerTexts()).join('')), 120_000);
  await page.click('[data-act=cancel]');
  await page.locator('[data-act=refloat]:enabled').waitFor();
  assert.match(await page.locator('.action').innerText(), /Cancelled/);
  await refloat(page, { limit: 120_000 });
  assert.match(await page.locator('#figure-result figcaption').innerText(), /All 4,096 bits came back right/);
  assert.deepEqual([...new Set(await pixels(page, 'shown.before'))].sort((a, b) => a - b), [0, 255]);
});

test('page: says that no server answers, and works without', async ({ open, site }) => {
  const page = await open(site);
  await page.getByText('No server answers at this address').waitFor();
  assert.equal(await page.locator('input[value=server]').isDisabled(), true);
  assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), false);
  await refloat(page);
});

test('page: scripts of all pages are under 210 kB, wasm of the first under 425 kB, of the gates under 360 kB, of the comb and of the digits under 560 kB each, compressed', async () => {
  const assets = readdirSync(join(demoDist, 'assets'));
  const size = (pattern) => assets.filter((f) => pattern.test(f)).reduce((sum, f) => sum + gzipSync(readFileSync(join(demoDist, 'assets', f)), { level: 9 }).length, 0);
  const scripts = size(/\.js$/);
  const wasm = size(/full.*\.wasm$/);
  const gates = size(/(client|gates).*\.wasm$/);
  const comb = size(/(client|conventional).*\.wasm$/);
  const digits = size(/(client|digits).*\.wasm$/);
  // The scripts of all pages and of both workers, and those loaded if there are no workers.
  assert.ok(scripts > 0 && scripts < 210_000, `scripts: ${scripts} bytes`);
  // Code that both pages and workers load is in one file.
  const glue = assets.flatMap((file) => /^(refloat_\w+)-.*\.js$/.exec(file)?.[1] ?? []);
  assert.deepEqual(glue, [...new Set(glue)]);
  assert.ok(wasm > 0 && wasm < 425_000, `wasm of the first page: ${wasm} bytes`);
  // Two modules: keys and ciphertexts of SHIP, and the page's own; the size test holds each to a budget of its own.
  assert.ok(gates > 0 && gates < 360_000, `wasm of the page of gates: ${gates} bytes`);
  assert.ok(comb > 0 && comb < 560_000, `wasm of the page of the comb: ${comb} bytes`);
  assert.ok(digits > 0 && digits < 560_000, `wasm of the page of digits: ${digits} bytes`);
});
