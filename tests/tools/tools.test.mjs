// Tests of what the commands rely on to be right: counting, freshness, reading the picture.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { countTests } from './lib/count.mjs';
import { sizeProblem } from '../packaging/sizes.mjs';
import { root } from './lib/paths.mjs';
import { readGreyPng, toValues } from './lib/png.mjs';
import { run } from './lib/run.mjs';
import { freePort, isFree, notReady } from './lib/server.mjs';
import { fingerprint } from './lib/stamp.mjs';

function scratch(context) {
  const folder = mkdtempSync(join(tmpdir(), 'refloat-tools-'));
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('the counts of every runner are read', () => {
  const cases = [
    ['test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n', [5, 0, 1]],
    ['test result: FAILED. 2 passed; 3 failed; 0 ignored\ntest result: ok. 4 passed; 0 failed; 0 ignored\n', [6, 3, 0]],
    ['      Tests  12 passed (12)\n', [12, 0, 0]],
    ['      Tests  1 failed | 11 passed | 2 skipped (14)\n', [11, 1, 2]],
    ['\u001b[2m      Tests \u001b[22m \u001b[32m11 passed\u001b[39m | 2 skipped (13)\n', [11, 0, 2]],
    ['# tests 8\n# pass 5\n# fail 1\n# cancelled 0\n# skipped 2\n', [5, 1, 2]],
    ['ℹ pass 3\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\n', [3, 0, 0]],
    ['4 passed, 1 failed\n', [4, 1, 0]],
    ['packaging: 4 passed, 0 failed, 1 skipped\n', [4, 0, 1]],
    ['nothing was said about tests\n', [0, 0, 0]],
  ];
  for (const [output, [passed, failed, skipped]] of cases) {
    assert.deepEqual(countTests(output), { passed, failed, skipped }, output);
  }
});

test('a fingerprint depends on names and contents, not on times', (context) => {
  const folder = scratch(context);
  const write = (name, text) => writeFileSync(join(folder, name), text);
  const print = () => fingerprint([folder, join(folder, 'absent')]);
  write('a', 'one');
  write('b', 'two');
  const first = print();
  utimesSync(join(folder, 'a'), 1, 1);
  assert.equal(print(), first);
  write('a', 'One');
  assert.notEqual(print(), first);
  write('a', 'one');
  assert.equal(print(), first);
  rmSync(join(folder, 'b'));
  assert.notEqual(print(), first);
});

test('every filter of a PNG is undone', (context) => {
  const path = join(scratch(context), 'picture.png');
  const [width, height] = [7, 5];
  const pixels = Uint8Array.from({ length: width * height }, (_, i) => (i * 89 + (i >> 2) * 31) & 255);
  const at = (x, y) => (x < 0 || y < 0 ? 0 : pixels[y * width + x]);
  // The five filters of the PNG specification, section 9, one a row.
  const guesses = [
    () => 0,
    (x, y) => at(x - 1, y),
    (x, y) => at(x, y - 1),
    (x, y) => (at(x - 1, y) + at(x, y - 1)) >> 1,
    (x, y) => {
      const around = [at(x - 1, y), at(x, y - 1), at(x - 1, y - 1)];
      const p = around[0] + around[1] - around[2];
      const distances = around.map((value) => Math.abs(p - value));
      return around[distances.indexOf(Math.min(...distances))];
    },
  ];
  const rows = [];
  for (let y = 0; y < height; y++) {
    rows.push(y, ...Array.from({ length: width }, (_, x) => (at(x, y) - guesses[y](x, y)) & 255));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const chunk = (type, data) => {
    const out = Buffer.alloc(data.length + 12);
    out.writeUInt32BE(data.length, 0);
    out.write(type, 4, 'latin1');
    data.copy(out, 8);
    out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
    return out;
  };
  const compressed = deflateSync(Buffer.from(rows));
  const cut = compressed.length >> 1; // image data may come in several chunks
  writeFileSync(
    path,
    Buffer.concat([
      Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
      chunk('IHDR', header),
      chunk('IDAT', compressed.subarray(0, cut)),
      chunk('IDAT', compressed.subarray(cut)),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
  assert.deepEqual(readGreyPng(path), { width, height, pixels });
});

test('the bundled picture becomes values in [-1, 1]', () => {
  const values = toValues(readGreyPng(join(root, 'demo', 'public', 'boat.png')), 64);
  assert.equal(values.length, 4096);
  assert.ok(values.every((value) => value >= -1 && value <= 1));
  assert.ok(Math.max(...values) - Math.min(...values) > 1, 'a picture has contrast');
  assert.deepEqual([...toValues({ width: 2, height: 2, pixels: [0, 255, 255, 0] }, 1)], [0]);
  assert.throws(() => toValues({ width: 3, height: 2, pixels: [] }, 2), /no equal blocks/);
});

test('a child tells its output and how it ended', async () => {
  const lines = [];
  const script = 'console.log("one"); process.stderr.write("two\\rthree"); process.exit(3)';
  const onLine = (line) => {
    lines.push(line);
    return line === 'two';
  };
  const { code, output } = await run(process.execPath, ['-e', script], { onLine });
  assert.equal(code, 3);
  assert.deepEqual(lines.sort(), ['one', 'three', 'two']);
  assert.deepEqual(output.trim().split('\n').sort(), ['one', 'three']);
  assert.equal((await run('no-such-program', [])).code, -1);
});

test('a child that hangs is stopped together with its own children', async () => {
  const nested = `require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'inherit' })`;
  // Without the group the grandchild would hold the pipe open, and this would never end.
  const { code, output } = await run(process.execPath, ['-e', nested], { limit: 500 });
  assert.equal(code, -1);
  assert.match(output, /longer than 0.5 s/);
});

test('a port in use is not taken for a free one', async (context) => {
  const port = await freePort();
  assert.ok(await isFree(port));
  const server = createServer().listen(port, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  assert.ok(!(await isFree(port)));
});

test('a server that is not ready is quoted', async (context) => {
  const why = '2 bytes are free on the disk of the data folder, storage.min_free_bytes is 3';
  let ready = false;
  const server = createHttpServer((_, response) => {
    response.writeHead(ready ? 200 : 503).end(ready ? 'ready' : JSON.stringify({ detail: why }));
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  assert.equal(await notReady(url), `/readyz answers 503: {"detail":"${why}"}`);
  ready = true;
  assert.equal(await notReady(url), undefined);
  assert.match(await notReady(`http://127.0.0.1:${await freePort()}`), /does not answer: .*ECONNREFUSED/);
});

test('an artefact may shrink, and grow by less than 5 % of its committed size', () => {
  for (const bytes of [1, 900, 1000, 1050]) assert.equal(sizeProblem('x', bytes, 1000, 2000), undefined, String(bytes));
  assert.match(sizeProblem('x', 1051, 1000, 2000), /5\.1 % more than the 1000/);
  assert.match(sizeProblem('x', 2001, 2000, 2000), /over its limit of 2000/);
});
