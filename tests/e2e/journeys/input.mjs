// What can be entered: files, drops, drawings, curves, numbers; and what cannot.
import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { test, until } from '../lib/test.mjs';
import { difference, pixels, problemText, refloat, station, table } from '../lib/page.mjs';

/** A grey PNG of vertical stripes, made here. */
function stripes(width, height, every) {
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = Math.floor(x / every) % 2 ? 230 : 25;
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    let crc = ~0;
    for (const b of body) {
      crc ^= b;
      for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(~crc >>> 0, body.length + 4);
    return out;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

async function drop(page, name, type, bytes) {
  const transfer = await page.evaluateHandle(
    ([n, t, data]) => {
      const d = new DataTransfer();
      d.items.add(new File([Uint8Array.from(data)], n, { type: t }));
      return d;
    },
    [name, type, [...bytes]],
  );
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
}

test('input: a wrong file is refused in words, and the page goes on', async ({ open, site }) => {
  const page = await open(site);
  await drop(page, 'notes.txt', 'text/plain', Buffer.from('not a picture'));
  await page.locator('.problem').waitFor();
  assert.match(await problemText(page), /“notes\.txt”.*not a picture/s);
  await page.locator('input[type=file]').setInputFiles({ name: 'broken.png', mimeType: 'image/png', buffer: stripes(64, 64, 8).subarray(0, 40) });
  await page.getByText('“broken.png”').first().waitFor();
  await page.click('[data-act=close-problem]');
  // The page is redrawn with its next frame.
  await page.locator('.problem').waitFor({ state: 'detached' });
  await refloat(page);
});

test('input: a dropped picture makes the voyage', async ({ open, site }) => {
  const page = await open(site);
  await drop(page, 'stripes.png', 'image/png', stripes(256, 128, 16));
  await page.getByText('grey levels of “stripes.png”').waitFor();
  await refloat(page);
  const after = await pixels(page, 'shown.after');
  const expected = Array.from({ length: 512 }, (_, i) => (Math.floor((i % 32) / 2) % 2 ? 230 : 25));
  assert.ok(difference(after, expected).largest <= 2, 'the stripes came back');
  await page.getByRole('button', { name: 'Back to the boat' }).click();
  await page.getByText('grey levels of the sailing boat').waitFor();
});

test('input: a chosen file, by the button', async ({ open, site }) => {
  const page = await open(site);
  await page.locator('input[type=file]').setInputFiles({ name: 'tall.png', mimeType: 'image/png', buffer: stripes(60, 200, 30) });
  await page.getByText('“tall.png”').first().waitFor();
  const input = await pixels(page, 'input');
  assert.ok(Math.abs(input[0] - 25) <= 1 && Math.abs(input[31] - 230) <= 1, `edges: ${input[0]}, ${input[31]}`);
});

test('input: a drawing', async ({ open, site }) => {
  const page = await open(site);
  await page.getByRole('tab', { name: 'Draw' }).click();
  const easel = page.locator('canvas[data-easel]');
  const box = await easel.boundingBox();
  await page.mouse.move(box.x + box.width * 0.2, box.y + box.height * 0.5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height * 0.5, { steps: 6 });
  await page.mouse.up();
  await refloat(page);
  const before = await pixels(page, 'shown.before');
  assert.ok(before[8 * 32 + 16] > 180, `a white stroke in the middle: ${before[8 * 32 + 16]}`);
  assert.ok(before[2 * 32 + 16] < 120, 'and none above it');
  assert.ok(difference(before, await pixels(page, 'shown.after')).largest <= 2);
});

test('input: the easel has the shape of the set, so that all of a drawing is used', async ({ open, site }) => {
  const page = await open(site);
  await page.getByRole('tab', { name: 'Draw' }).click();
  const easel = page.locator('canvas[data-easel]');
  const stroke = async (across, down) => {
    const box = await easel.boundingBox();
    await page.mouse.move(box.x + box.width * across, box.y + box.height * down);
    await page.mouse.down();
    await page.mouse.up();
  };
  const light = () => easel.evaluate((el) => {
    const { data } = el.getContext('2d').getImageData(0, 0, el.width, el.height);
    return data.filter((v, i) => i % 4 === 0 && v > 200).length;
  });
  const { width, height } = await easel.boundingBox();
  assert.ok(Math.abs(width - 2 * height) < 2, `twice as wide as high: ${width} by ${height}`);
  for (const [across, down] of [[0.016, 0.03], [0.984, 0.97], [0.5, 0.5]]) await stroke(across, down);
  const all = await light();
  // A square set takes the middle, where one of the three is; what is beside it is not lost.
  await page.selectOption('[data-input=set-page]', 'toy11');
  await until('a square', async () => Math.abs((await easel.boundingBox()).width - (await easel.boundingBox()).height) < 2);
  const middle = await light();
  assert.ok(middle > 0 && middle < all / 2, `${middle} of ${all}`);
  await page.selectOption('[data-input=set-page]', 'toy10');
  await until('as before', async () => (await light()) === all);
  await refloat(page);
  const before = await pixels(page, 'shown.before');
  for (const [x, y] of [[0, 0], [31, 15]]) assert.ok(before[y * 32 + x] > 180, `the corner ${x}, ${y}: ${before[y * 32 + x]}`);
});

test('input: a curve, drawn as a curve', async ({ open, site }) => {
  const page = await open(site);
  await page.getByRole('tab', { name: 'Curve' }).click();
  await page.getByRole('button', { name: 'Ramp' }).click();
  await refloat(page);
  const rows = await table(page, 'lens');
  assert.ok(Math.abs(Number(rows['0'][1].replace('−', '-')) + 0.9) < 0.002, `first slot: ${rows['0']}`);
  const slope = Number(rows['63'][1].replace('−', '-')) - Number(rows['0'][1].replace('−', '-'));
  assert.ok(Math.abs(slope - (1.8 * 63) / 511) < 0.004, `slope: ${slope}`);
});

test('input: numbers, and numbers that are none', async ({ open, site }) => {
  const page = await open(site);
  await page.getByRole('tab', { name: 'Numbers' }).click();
  const area = page.locator('textarea');
  await area.fill('0.5 pear');
  await page.getByText('“pear” (number 2) is not a number').waitFor();
  await area.fill('0.5 7');
  await page.getByText('7 (number 2) is outside').waitFor();
  await area.fill('0.5, -0.25, 0.125');
  await page.locator('.problem').waitFor({ state: 'detached' });
  await refloat(page);
  await station(page, 'decrypt');
  const rows = await table(page, 'lens');
  [0.5, -0.25, 0.125, 0].forEach((x, i) => assert.ok(Math.abs(Number(rows[String(i)][1].replace('−', '-')) - x) < 0.002, `slot ${i}: ${rows[String(i)]}`));
  // Three numbers are three bars over the whole width, not three dots at its edge: a third each.
  const columns = await page.locator('canvas[data-canvas="shown.after"]').evaluate((canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const middles = [1, 3, 5].map((sixth) => Math.round((sixth * width) / 6));
    const coloured = (x, y) => data[4 * (y * width + x) + 2] > data[4 * (y * width + x)] + 40 && data[4 * (y * width + x) + 3] > 200;
    return middles.map((x) => Array.from({ length: height }, (_, y) => coloured(x, y)).filter(Boolean).length / height);
  });
  assert.ok(columns.every((share, i) => Math.abs(share - 0.44 * [0.5, 0.25, 0.125][i]) < 0.03), `bars: ${columns}`);
});
