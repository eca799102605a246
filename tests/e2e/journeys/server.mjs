// The journey through the real server.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, until } from '../lib/test.mjs';
import { cameBack, difference, pixels, problemText, refloat, refloatAndCancel, station, table } from '../lib/page.mjs';

/** Chooses the server and a set. */
async function choose(page, set) {
  await page.locator('input[value=server]:enabled').waitFor();
  await page.check('input[value=server]');
  await page.selectOption('[data-input=set-server]', set);
}

/** Records what the page sends. */
function record(page) {
  const sent = { chunks: [], bytes: 0, paths: new Set() };
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/v1/')) return;
    sent.paths.add(`${request.method()} ${pathname.replace(/[0-9a-f-]{20,}/g, ':id').replace(/\/\d+$/, '/:n')}`);
    if (request.method() === 'PUT') sent.chunks.push(Number(pathname.split('/').at(-1)));
    sent.bytes += request.postDataBuffer()?.length ?? 0;
  });
  return sent;
}

test('server: the complete voyage with a toy set', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(url);
  const sent = record(page);
  await choose(page, 'toy10');
  await refloat(page);
  const precision = await table(page, 'precision');
  assert.ok(Number(precision['Decrypt'][0]) >= 10, `worst slot: ${precision['Decrypt']}`);
  assert.equal(precision['Rotate blindly'][0], '–', 'nobody looks into the server');
  assert.ok(difference(await pixels(page, 'shown.before'), await pixels(page, 'shown.after')).largest <= 2);
  await station(page, 'product_tree');
  assert.equal(await page.locator('#figure-tree .node.lit').count(), 31, 'all 16 leaves and 15 products are lit');
  assert.match(await page.locator('#figure-lens').innerText(), /happened on the server/);
  const flame = await table(page, 'flame');
  assert.equal(Object.keys(flame).length, 6, 'six stages were timed');
  for (const path of sent.paths) {
    assert.match(path, /^(GET|HEAD|POST|PUT) \/v1\/(params|keys(\/:id(\/chunks\/:n|\/commit)?)?|jobs(\/:id(\/events|\/result)?)?)$/, 'only the routes for public keys and jobs');
  }
});

test('server: page and server side by side', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(url);
  assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), true, 'the server isolates the page');
  await refloat(page);
  await choose(page, 'toy10');
  await refloat(page);
  const flame = Object.keys(await table(page, 'flame'));
  assert.equal(flame.filter((f) => f.startsWith('In this page')).length, 6);
  assert.equal(flame.filter((f) => f.startsWith('On the server')).length, 6);
  await page.getByRole('button', { name: 'Run in this page' }).click();
  await station(page, 'blind_rotate');
  assert.equal(await page.locator('canvas[data-canvas="shown.lens"]').count(), 1);
  await page.getByRole('button', { name: 'Run on the server' }).click();
  await until('no lens', async () => (await page.locator('canvas[data-canvas="shown.lens"]').count()) === 0);
});

test('server: squared there and refloated again', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(url);
  await choose(page, 'toy10');
  await refloat(page);
  await page.click('[data-act=again]');
  await page.locator('#figure-again canvas[data-canvas="again.after"]').waitFor();
  assert.ok(difference(await pixels(page, 'again.expected'), await pixels(page, 'again.after')).largest <= 3);
  assert.equal(await problemText(page), '');
});

test('server: a second voyage uploads no keys, and keys can be deleted', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(url, { expectLostRequests: true });
  const sent = record(page);
  await choose(page, 'toy10');
  await refloat(page);
  const chunks = sent.chunks.length;
  assert.ok(chunks > 10, `${chunks} chunks`);
  await refloat(page);
  assert.equal(sent.chunks.length, chunks, 'the keys were there');
  await page.click('[data-act=delete-keys]');
  await page.locator('#live', { hasText: 'deleted from the server' }).waitFor();
  assert.ok(sent.paths.has('DELETE /v1/keys/:id'));
});

test('server: cancel the upload, then go on where it stopped', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(url, { expectLostRequests: true });
  const sent = record(page);
  await choose(page, 'toy10');
  await refloatAndCancel(page, 'track 8');
  const first = new Set(sent.chunks);
  assert.ok(first.size > 5, `${first.size} chunks before`);
  sent.chunks.length = 0;
  await refloat(page);
  const repeated = sent.chunks.filter((c) => first.has(c));
  assert.ok(repeated.length <= 2, `chunks sent twice: ${repeated}`);
  assert.ok(sent.chunks.length > 3, 'the rest was sent');
});

test('server: gone in the middle of an upload, back, and on', async ({ open, serve }) => {
  const { url, port, data, stop } = await serve();
  const page = await open(url, { expectLostRequests: true });
  await choose(page, 'toy10');
  const reached = page.getByText(/track (4|5|6|7|8|9)/).first().waitFor();
  await page.click('[data-act=refloat]');
  await reached;
  await stop('SIGKILL');
  await page.locator('.problem').waitFor({ timeout: 60_000 });
  assert.match(await problemText(page), /does not answer/);
  await serve({ port, data });
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.locator('.problem').waitFor({ state: 'detached' });
  await cameBack(page);
  const [worst] = (await table(page, 'precision'))['Decrypt'];
  assert.ok(Number(worst) >= 10, `worst slot: ${worst} bits`);
});

test('server: a piece of the keys that its disk has damaged is sent again', async ({ open, serve }) => {
  const { url, port, data, stop } = await serve();
  const page = await open(url, { expectLostRequests: true });
  const sent = record(page);
  await choose(page, 'toy10');
  await refloat(page);
  const chunks = sent.chunks.length;
  await stop('SIGKILL');
  const folder = join(data, 'keys');
  const pieces = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
  const spoilt = pieces.map((e) => join(e.parentPath, e.name)).find((path) => readFileSync(path).length > 100_000);
  const bytes = readFileSync(spoilt);
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(spoilt, bytes);
  await serve({ port, data });
  await refloat(page);
  assert.equal(sent.chunks.length, chunks + 1, 'one piece was sent again');
  assert.ok(Number((await table(page, 'precision'))['Decrypt'][0]) >= 10);
});

test('server: gone after the keys, said in words; the page still works', async ({ open, serve }) => {
  const { url, stop } = await serve();
  const page = await open(url, { expectLostRequests: true });
  await choose(page, 'toy10');
  await refloat(page);
  await stop('SIGKILL');
  await page.click('[data-act=refloat]');
  await page.locator('.problem').waitFor({ timeout: 60_000 });
  assert.match(await problemText(page), /does not answer.*still in this page/s);
  await page.click('[data-act=close-problem]');
  await page.check('input[value=page]');
  await refloat(page);
});

test('server: full size, 128 bits', async ({ open, serve }) => {
  test.skip(process.env.REFLOAT_E2E_SHIP13 !== '1', 'set REFLOAT_E2E_SHIP13=1');
  test.setTimeout(900_000);
  const { url } = await serve();
  const page = await open(url);
  await choose(page, 'ship13');
  await page.click('[data-act=refloat]');
  assert.match(await page.locator('.confirm').innerText(), /1\.5\d GB of evaluation keys/);
  await page.click('[data-act=confirm]');
  await cameBack(page, { limit: 540_000 });
  const worst = Number((await table(page, 'precision'))['Decrypt'][0]);
  assert.ok(worst >= 5.0, `worst of 4096 slots: ${worst} bits`);
  assert.match(await page.locator('#badge').innerText(), /128-bit security/);
  await page.click('[data-act=again]');
  await page.locator('#figure-again canvas[data-canvas="again.after"]').waitFor({ timeout: 240_000 });
});

test('server: pages go by their names, and a path that leads nowhere says so', async ({ open, serve }) => {
  const { url } = await serve();
  const page = await open(url, { expectLostRequests: true, hash: 'digits', ready: false, reducedMotion: 'reduce' });
  await page.locator('.digits-dots circle').first().waitFor();
  assert.equal(await page.locator('nav [aria-current=page]').innerText(), 'Digits');

  const links = page.locator('nav[aria-label=Pages] a');
  const menu = await links.evaluateAll((found) => found.map((link) => [link.innerText, link.getAttribute('href').slice(2, -'.html'.length)]));
  assert.ok(menu.length >= 8, `the menu has ${menu.length} pages`);
  for (const [words, name] of menu) {
    for (const path of [`${name}.html`, name]) {
      const sent = await page.request.get(url + path);
      assert.ok(sent.ok(), `${path}: ${sent.status()}`);
      assert.ok((await sent.text()).includes(`aria-current="page">${words}</a>`), `${path} is the page ${words}`);
    }
  }

  const answer = await page.goto(`${url}no/such/page`);
  assert.equal(answer.status(), 404);
  assert.equal(await page.locator('h1').innerText(), 'No such page');
  await page.locator('#path', { hasText: '/no/such/page' }).waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Gates' }).click();
  await page.locator('.gates-gate.lit').first().waitFor();
});
