import type { Grid, InputKind, InputSource } from './source.js';

/** Largest file accepted, in bytes: larger than any photograph, and small enough to be safe. */
const MAX_FILE_BYTES = 40e6;
/** Largest side kept after decoding, in pixels. */
const MAX_SIDE = 1024;

/** A file that is not a picture, with a sentence that says so. */
export class NotAPicture extends Error {}

/** Reads a picture the reader chose. */
export async function fromFile(file: File): Promise<InputSource> {
  if (file.size > MAX_FILE_BYTES) {
    throw new NotAPicture(`“${file.name}” is ${(file.size / 1e6).toFixed(0)} MB; the page takes pictures up to 40 MB. Choose a smaller one.`);
  }
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new NotAPicture(
      `“${file.name}” ${file.type ? `(${file.type}) ` : ''}is not a picture this browser can read. Choose a PNG, JPEG, WebP or GIF file.`,
    );
  }
  try {
    return fromBitmap(bitmap, bitmap.width, bitmap.height, 'file', `“${file.name}”`);
  } finally {
    bitmap.close();
  }
}

/** Loads the picture that comes with the page. */
export async function bundled(): Promise<InputSource> {
  const image = new Image();
  image.src = new URL('boat.png', document.baseURI).href;
  await image.decode();
  return fromBitmap(image, image.naturalWidth, image.naturalHeight, 'boat', 'the sailing boat');
}

function fromBitmap(source: CanvasImageSource, width: number, height: number, kind: InputKind, label: string): InputSource {
  const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
  const w = Math.max(1, Math.round(width * scale));
  const h = Math.max(1, Math.round(height * scale));
  const canvas = document.createElement('canvas');
  canvas.width = w;
  canvas.height = h;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) throw new NotAPicture('This browser gives the page no canvas to read pictures with.');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, w, h);
  context.drawImage(source, 0, 0, w, h);
  const rgba = context.getImageData(0, 0, w, h).data;
  const luma = new Float64Array(w * h);
  for (let i = 0; i < luma.length; i++) {
    luma[i] = (0.2126 * (rgba[4 * i] ?? 0) + 0.7152 * (rgba[4 * i + 1] ?? 0) + 0.0722 * (rgba[4 * i + 2] ?? 0)) / 127.5 - 1;
  }
  const known = new Map<number, Float64Array>();
  return {
    kind,
    label,
    values: (grid) => {
      const key = grid.width * 65536 + grid.height;
      const values = known.get(key) ?? resample(luma, w, h, grid);
      known.set(key, values);
      return values.slice();
    },
  };
}

/** Area-averages the largest centred crop of the grid's proportions. */
export function resample(luma: Float64Array, w: number, h: number, grid: Grid): Float64Array {
  const side = Math.min(w / grid.width, h / grid.height);
  const x0 = (w - side * grid.width) / 2;
  const y0 = (h - side * grid.height) / 2;
  const out = new Float64Array(grid.width * grid.height);
  for (let j = 0; j < grid.height; j++) {
    for (let i = 0; i < grid.width; i++) {
      out[j * grid.width + i] = average(luma, w, h, x0 + i * side, y0 + j * side, side);
    }
  }
  return out;
}

function average(luma: Float64Array, w: number, h: number, x: number, y: number, side: number): number {
  let sum = 0;
  let area = 0;
  for (let v = Math.floor(y); v < Math.min(h, Math.ceil(y + side)); v++) {
    const dy = Math.min(v + 1, y + side) - Math.max(v, y);
    for (let u = Math.floor(x); u < Math.min(w, Math.ceil(x + side)); u++) {
      const a = dy * (Math.min(u + 1, x + side) - Math.max(u, x));
      if (a <= 0) continue;
      sum += a * (luma[Math.max(0, v) * w + Math.max(0, u)] ?? 0);
      area += a;
    }
  }
  return area > 0 ? Math.max(-1, Math.min(1, sum / area)) : 0;
}

/** A picture the reader painted: grey levels in [-1, 1]. */
export function fromPainting(luma: Float64Array, { width, height }: Grid): InputSource {
  const copy = luma.slice();
  return { kind: 'draw', label: 'your drawing', values: (grid) => resample(copy, width, height, grid) };
}
