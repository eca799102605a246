import { JOURNEY } from '../stages.js';
import { slotValues } from '../input/source.js';
import { chosenPreset, shownVoyage, type State } from '../store.js';
import { colourOn, isDark } from '../theme.js';
import { specimenAt, type Moment, type Voyage } from '../voyage.js';
import { gathered, planeAt, seenAt, unitOf, type Seen } from './shown-values.js';
import { followed } from './slot.js';

/** Is the voyage's input a sequence rather than a picture? */
export function isCurve(voyage: Voyage): boolean {
  return voyage.drawn === 'curve';
}

/** Values divided by the largest absolute value. */
function stretched(values: Float64Array): Float64Array {
  const most = values.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-30);
  return values.map((x) => x / most);
}

/** Draws every canvas in the page from the state. */
export function paint(root: ParentNode, state: State): void {
  const voyage = shownVoyage(state);
  for (const canvas of root.querySelectorAll<HTMLCanvasElement>('canvas[data-canvas]')) {
    const kind = canvas.dataset['canvas'] ?? '';
    if (kind === 'input') {
      const grid = { width: Number(canvas.dataset['w']), height: Number(canvas.dataset['h']) };
      const preset = chosenPreset(state);
      const bits = preset?.mode === 'bits';
      paintGrid(canvas, { values: slotValues(state.input, preset, grid), bits }, grid.width, grid.height, state.input.kind, undefined, state.input.used);
      continue;
    }
    const [who, what] = kind.split('.');
    const subject = who === 'again' ? state.again[state.shown] : who === 'broken' ? state.broken?.voyage : voyage;
    if (!subject) continue;
    const kindOf = isCurve(subject) ? 'curve' : 'boat';
    if (what === 'circle') paintCircle(canvas, subject, state);
    else if (what === 'bytes') {
      const specimen = specimenAt(subject, JOURNEY[state.at.station]);
      if (specimen) paintBytes(canvas, specimen.sample);
    } else {
      const seen = pictureOf(subject, what ?? '', state);
      if (!seen) continue;
      if (what === 'error' && kindOf === 'curve') paintCurve(canvas, { values: stretched(seen.values) }, subject.used ?? seen.values.length);
      else if (what === 'error') paintError(canvas, seen.values, subject.width, subject.height);
      else paintGrid(canvas, seen, subject.width, subject.height, kindOf, what === 'pick' ? followed(state, subject) : what === 'lens' ? state.slot : undefined, subject.used);
    }
  }
}

function pictureOf(voyage: Voyage, what: string, state: State): Seen | undefined {
  const bits = voyage.preset.mode === 'bits';
  switch (what) {
    case 'lens':
      return seenAt(voyage, state.at);
    case 'pick':
    case 'before':
      return { values: voyage.input, bits };
    case 'expected':
      return { values: voyage.expected, bits };
    case 'after':
      return voyage.result && { values: voyage.result.slots, bits };
    case 'error':
      return voyage.result && { values: voyage.result.slots.map((x, i) => x - (voyage.expected[i] ?? 0)) };
    default:
      return undefined;
  }
}

function paintGrid(canvas: HTMLCanvasElement, seen: Seen, w: number, h: number, kind: string, slot?: number, used?: number): void {
  if (kind === 'curve' || kind === 'numbers') {
    paintCurve(canvas, seen, used ?? w * h, slot);
    return;
  }
  canvas.classList.add('pixels');
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext('2d');
  if (!context) return;
  const image = context.createImageData(w, h);
  // Views hold at most 1024 points, so each stands for the slots up to the next one.
  const stride = seen.indices && seen.indices.length > 1 ? (w * h) / seen.indices.length : 1;
  for (let i = 0; i < w * h; i++) {
    const value = seen.values[seen.indices ? Math.floor(i / stride) : i] ?? 0;
    const light = seen.bits ? 2 * value - 1 : value;
    const grey = Math.round(127.5 * (1 + Math.max(-1, Math.min(1, light))));
    image.data.set([grey, grey, grey, 255], 4 * i);
  }
  if (slot !== undefined && slot < w * h) image.data.set([230, 159, 0, 255], 4 * slot);
  context.putImageData(image, 0, 0);
}

/** Sizes a canvas to its box in device pixels and returns a context in CSS pixels. */
function sharp(canvas: HTMLCanvasElement): { context: CanvasRenderingContext2D; w: number; h: number } | undefined {
  const ratio = window.devicePixelRatio || 1;
  const w = canvas.clientWidth;
  const h = canvas.clientHeight;
  const context = canvas.getContext('2d');
  if (!context || w === 0) return undefined;
  const width = Math.round(w * ratio);
  const height = Math.round(h * ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, w, h);
  return { context, w, h };
}

/** Width in pixels per number from which numbers are drawn as bars. */
const FEW = 6;

function paintCurve(canvas: HTMLCanvasElement, seen: Seen, slots: number, slot?: number): void {
  canvas.classList.remove('pixels');
  const at = sharp(canvas);
  if (!at) return;
  const { context, w, h } = at;
  const colour = { grid: colourOn(canvas, '--grid'), low: colourOn(canvas, '--low'), mark: colourOn(canvas, '--mark') };
  const y = (v: number): number => h / 2 - Math.max(-1.08, Math.min(1.08, v)) * h * 0.44;
  context.strokeStyle = colour.grid;
  context.lineWidth = 1;
  for (const v of [-1, 0, 1]) {
    context.beginPath();
    context.moveTo(0, Math.round(y(v)) + 0.5);
    context.lineTo(w, Math.round(y(v)) + 0.5);
    context.stroke();
  }
  const each = w / slots;
  seen.values.forEach((value, i) => {
    const index = seen.indices?.[i] ?? i;
    if (index >= slots) return;
    context.fillStyle = index === slot ? colour.mark : colour.low;
    // Few numbers are drawn as bars from zero, many as a curve.
    if (each >= FEW) context.fillRect((index + 0.2) * each, Math.min(y(0), y(value)), 0.6 * each, Math.max(2, Math.abs(y(value) - y(0))));
    else if (index === slot) context.fillRect(index * each - 2, y(value) - 3, 6, 6);
    else context.fillRect(index * each, y(value) - 1, Math.max(1.5, each), 2);
  });
}

function paintError(canvas: HTMLCanvasElement, errors: Float64Array, w: number, h: number): void {
  canvas.classList.add('pixels');
  canvas.width = w;
  canvas.height = h;
  const context = canvas.getContext('2d');
  if (!context) return;
  const image = context.createImageData(w, h);
  const most = errors.reduce((m, e) => Math.max(m, Math.abs(e)), 1e-12);
  // Too high: orange; too low: blue; exact: the neutral between them.
  const dark = isDark();
  const zero = dark ? [22, 33, 41] : [248, 250, 250];
  for (let i = 0; i < w * h; i++) {
    const e = (errors[i] ?? 0) / most;
    const towards = e > 0 ? [213, 94, 0] : dark ? [86, 180, 233] : [0, 114, 178];
    const t = Math.sqrt(Math.abs(e));
    image.data.set([...zero.map((z, k) => Math.round(z + t * ((towards[k] ?? 0) - z))), 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
}

function paintBytes(canvas: HTMLCanvasElement, sample: Uint8Array): void {
  canvas.classList.add('pixels');
  const side = 2 ** Math.floor(Math.log2(Math.sqrt(sample.length)));
  canvas.width = side;
  canvas.height = side;
  const context = canvas.getContext('2d');
  if (!context) return;
  const image = context.createImageData(side, side);
  for (let i = 0; i < side * side; i++) {
    const v = sample[i] ?? 0;
    image.data.set([v, v, v, 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
}

function paintCircle(canvas: HTMLCanvasElement, voyage: Voyage, state: State): void {
  const plane = planeAt(voyage, state.at);
  const at = sharp(canvas);
  if (!at) return;
  const { context, w, h } = at;
  const colour = { grid: colourOn(canvas, '--grid'), muted: colourOn(canvas, '--muted'), mark: colourOn(canvas, '--mark') };
  const centre = { x: w / 2, y: h / 2 };
  const unit = Math.min(w, h) * (plane ? unitOf(plane) : 0.41);
  context.strokeStyle = colour.grid;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, centre.y);
  context.lineTo(w, centre.y);
  context.moveTo(centre.x, 0);
  context.lineTo(centre.x, h);
  context.stroke();
  context.strokeStyle = colour.muted;
  context.beginPath();
  context.arc(centre.x, centre.y, unit, 0, 2 * Math.PI);
  context.stroke();
  if (!plane) return;
  const low = rgb(colourOn(canvas, '--low'));
  const high = rgb(colourOn(canvas, '--high'));
  const size = plane.points.length > 1200 ? 1.5 : 2.1;
  const shade = (slot: number): string => {
    const message = voyage.expected[slot] ?? 0;
    const t = voyage.preset.mode === 'bits' ? message : (message + 1) / 2;
    return `rgb(${low.map((c, k) => Math.round(c + t * ((high[k] ?? 0) - c))).join(' ')})`;
  };
  const dot = (x: number, y: number, r: number): void => {
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fill();
  };
  const at2 = (i: number): [number, number] => [(plane.points[2 * i] ?? 0) / plane.radius, (plane.points[2 * i + 1] ?? 0) / plane.radius];
  const points = plane.points.length / 2;
  for (let i = 0; i < points; i++) {
    const [x, y] = at2(i);
    context.fillStyle = shade(plane.indices?.[i] ?? i);
    dot(centre.x + x * unit, centre.y - y * unit, size);
  }
  const ring = (x: number, y: number): void => {
    context.strokeStyle = colour.mark;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 7, 0, 2 * Math.PI);
    context.stroke();
  };
  const slot = followed(state, voyage);
  const chosen = plane.indices ? plane.indices.indexOf(slot) : slot;
  if (chosen >= 0 && chosen < points) {
    const [x, y] = at2(chosen);
    ring(centre.x + x * unit, centre.y - y * unit);
  }
  if (plane.angles) magnify();

  /** A short arc, turned upright and enlarged in the middle of the circle. */
  function magnify(): void {
    const { middle, spread } = gathered(plane?.points ?? new Float64Array());
    if (spread > 0.9 || spread < 1e-6) return;
    let off = 1e-9;
    for (let i = 0; i < points; i++) off = Math.max(off, Math.abs(Math.hypot(...at2(i)) - 1));
    // Neither the arc nor what lies beside it may leave the circle.
    const power = Math.floor(Math.min(20, 1.45 / (spread * 1.08), 0.8 / off));
    if (power < 2) return;
    context.fillStyle = colour.muted;
    context.font = `12.5px ${getComputedStyle(canvas).fontFamily}`;
    context.textAlign = 'center';
    context.fillText(`× ${power}`, centre.x, centre.y - 16);
    const place = (i: number): [number, number] => {
      const [x, y] = at2(i);
      const along = Math.atan2(y, x) - middle;
      const turned = Math.atan2(Math.sin(along), Math.cos(along));
      const out = Math.hypot(x, y) - 1;
      // Angles grow to the left when seen from outside at the top, to the right at the bottom.
      const way = Math.sin(middle) < -0.5 || Math.cos(middle) > 0.5 ? 1 : -1;
      return [centre.x + way * turned * power * unit, centre.y - out * power * unit];
    };
    context.strokeStyle = colour.muted;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(centre.x - unit * 0.82, centre.y);
    context.lineTo(centre.x + unit * 0.82, centre.y);
    context.stroke();
    for (let i = 0; i < points; i++) {
      context.fillStyle = shade(plane?.indices?.[i] ?? i);
      dot(...place(i), size + 0.4);
    }
    if (chosen >= 0 && chosen < points) ring(...place(chosen));
  }
}

/** The three numbers of an opaque colour as a browser computes it, such as `rgb(0, 114, 178)`. */
function rgb(colour: string): number[] {
  return (colour.match(/\d+/g) ?? []).map(Number);
}

/** The slot drawn nearest to a point of the circle's canvas, in CSS pixels. */
export function slotNear(canvas: HTMLCanvasElement, voyage: Voyage, moment: Moment, x: number, y: number): number | undefined {
  const plane = planeAt(voyage, moment);
  if (!plane) return undefined;
  const unit = Math.min(canvas.clientWidth, canvas.clientHeight) * unitOf(plane);
  let best: number | undefined;
  let distance = 18 ** 2;
  for (let i = 0; i < plane.points.length / 2; i++) {
    const dx = canvas.clientWidth / 2 + ((plane.points[2 * i] ?? 0) / plane.radius) * unit - x;
    const dy = canvas.clientHeight / 2 - ((plane.points[2 * i + 1] ?? 0) / plane.radius) * unit - y;
    const d = dx * dx + dy * dy;
    if (d < distance) {
      distance = d;
      best = plane.indices?.[i] ?? i;
    }
  }
  return best;
}
