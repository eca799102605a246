// Reads the one kind of PNG this project draws: 8-bit grey, not interlaced.
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';

/** {width, height, pixels}: one byte a pixel, row by row. */
export function readGreyPng(path) {
  const bytes = readFileSync(path);
  const data = [];
  let header;
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') header = body;
    if (type === 'IDAT') data.push(body);
    at += length + 12;
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (header[8] !== 8 || header[9] !== 0 || header[12] !== 0) {
    throw new Error(`${path}: expected 8-bit grey without interlacing`);
  }
  return { width, height, pixels: unfilter(inflateSync(Buffer.concat(data)), width, height) };
}

function unfilter(raw, width, height) {
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (width + 1)];
    for (let x = 0; x < width; x++) {
      const left = x ? pixels[y * width + x - 1] : 0;
      const up = y ? pixels[(y - 1) * width + x] : 0;
      const corner = x && y ? pixels[(y - 1) * width + x - 1] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      pixels[y * width + x] = raw[y * (width + 1) + 1 + x] + guess;
    }
  }
  return pixels;
}

function paeth(left, up, corner) {
  const guess = left + up - corner;
  const [dl, du, dc] = [left, up, corner].map((value) => Math.abs(guess - value));
  return dl <= du && dl <= dc ? left : du <= dc ? up : corner;
}

/** The picture at `size` x `size` by averaging equal blocks, as values in [-1, 1]. */
export function toValues({ width, height, pixels }, size) {
  const [bw, bh] = [width / size, height / size];
  if (!Number.isInteger(bw) || !Number.isInteger(bh)) {
    throw new Error(`a ${width} x ${height} picture has no equal blocks at ${size} x ${size}`);
  }
  return Float64Array.from({ length: size * size }, (_, i) => {
    const [x0, y0] = [(i % size) * bw, Math.floor(i / size) * bh];
    let sum = 0;
    for (let y = y0; y < y0 + bh; y++) for (let x = x0; x < x0 + bw; x++) sum += pixels[y * width + x];
    return (sum / (bw * bh) / 255) * 2 - 1;
  });
}
