// Draws the bundled picture: a sailing boat at anchor, 128 x 128 grey levels. It is this project's
// own work, made from the shapes below, and carries the project's licence.
//
//   node demo/scripts/make-picture.mjs
//
// The middle 2:1 band holds the boat, so that both crops of the demo (2:1 at 32 x 16 slots, 1:1 at
// 64 x 64) are recognisable.
import { writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';

const SIZE = 128;
const SAMPLES = 4;
const HORIZON = 81;
/** Rows by which the drawing below is raised in the picture. */
const RAISE = 4;

/** Is (x, y) inside the polygon (even-odd rule)? */
function inside(polygon, x, y) {
  let hit = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i];
    const [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) hit = !hit;
  }
  return hit;
}

/** A quadratic curve from a to b bent towards c, as points. */
function bend(a, c, b, steps = 16) {
  return Array.from({ length: steps + 1 }, (_, i) => {
    const t = i / steps;
    return [0, 1].map((k) => (1 - t) ** 2 * a[k] + 2 * t * (1 - t) * c[k] + t * t * b[k]);
  });
}

const mainSail = [[66, 35], ...bend([66, 35], [92, 54], [95, 78]), [66, 80]];
const jib = [[61, 41], [61, 79], ...bend([61, 79], [48, 78], [37, 76]), ...bend([37, 76], [54, 62], [61, 41])];
const mast = [[62.4, 34], [64.2, 34], [64.2, 84], [62.4, 84]];
const hull = [[32, 82], ...bend([32, 82], [66, 86], [100, 81.5]), ...bend([100, 81.5], [94, 94], [84, 95.5]), [47, 95.5], ...bend([47, 95.5], [36, 92], [32, 82])];

function shade(x, y) {
  if (inside(mast, x, y)) return 26;
  if (inside(hull, x, y)) return y < 85.5 ? 60 : 20;
  if (inside(mainSail, x, y)) return 250 - (x - 66) * 0.7;
  if (inside(jib, x, y)) return 214 + (61 - x) * 0.5;
  if (y < HORIZON) {
    const sun = Math.hypot(x - 24, y - 49);
    if (sun < 8.5) return 255;
    // Sky: darker above; two thin clouds.
    let sky = 92 + 62 * (y / HORIZON) + 34 * Math.exp(-sun / 16);
    sky += 26 * Math.exp(-(((y - 20 - 2 * Math.sin(x / 15)) / 3) ** 2)) * (0.5 + 0.5 * Math.sin(x / 19 + 1));
    sky += 18 * Math.exp(-(((y - 61 - 1.5 * Math.sin(x / 11)) / 2) ** 2)) * (0.5 + 0.5 * Math.cos(x / 13));
    return sky;
  }
  const depth = (y - HORIZON) / (SIZE - HORIZON);
  const wave = Math.sin((x + 9 * Math.sin(y / 7)) / (5 + 9 * depth) + y * 1.9 / (1 + 2.2 * depth));
  let sea = 112 - 72 * depth + 11 * wave * (0.35 + depth);
  // The sails and the sun in the water.
  const sails = Math.exp(-(((x - 68 - 3 * Math.sin(y / 2.3)) / (17 - 6 * depth)) ** 2));
  if (y > 96) sea += 92 * sails * (1 - depth) * (0.62 + 0.38 * Math.sin(y * 1.25));
  sea += 110 * Math.exp(-(((x - 24) / 6) ** 2)) * (1 - depth) * (0.55 + 0.45 * Math.sin(y * 1.6 + 1));
  return sea;
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

const rows = Buffer.alloc(SIZE * (SIZE + 1));
for (let y = 0; y < SIZE; y++) {
  for (let x = 0; x < SIZE; x++) {
    let sum = 0;
    for (let j = 0; j < SAMPLES; j++) {
      for (let i = 0; i < SAMPLES; i++) sum += Math.min(255, Math.max(0, shade(x + (i + 0.5) / SAMPLES, y + RAISE + (j + 0.5) / SAMPLES)));
    }
    rows[y * (SIZE + 1) + 1 + x] = Math.round(sum / SAMPLES ** 2);
  }
}
const header = Buffer.alloc(13);
header.writeUInt32BE(SIZE, 0);
header.writeUInt32BE(SIZE, 4);
header.set([8, 0, 0, 0, 0], 8);
const png = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  chunk('IHDR', header),
  chunk('tEXt', Buffer.from('Copyright\0The refloat authors, MIT OR Apache-2.0', 'latin1')),
  chunk('IDAT', deflateSync(rows, { level: 9 })),
  chunk('IEND', Buffer.alloc(0)),
]);
writeFileSync(new URL('../public/boat.png', import.meta.url), png);
