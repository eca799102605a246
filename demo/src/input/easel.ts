import { colourOn } from '../theme.js';
import type { Grid } from './source.js';

/** Size of the easel in pixels: as wide as the widest grid; narrower grids use its middle. */
export const EASEL: Grid = { width: 128, height: 64 };
/** Radius of the brush in pixels. */
const BRUSH = 4;
/** Samples of a drawn curve. */
export const CURVE_SAMPLES = 256;

/** What the reader has painted and drawn so far; kept when tabs change. */
export class Easel {
  readonly luma = new Float64Array(EASEL.width * EASEL.height);
  readonly curve = Float64Array.from({ length: CURVE_SAMPLES }, (_, i) => 0.8 * Math.sin((2 * Math.PI * i) / CURVE_SAMPLES));

  constructor(private readonly changed: (kind: 'draw' | 'curve') => void) {
    this.clear();
  }

  /** Empties the painting: a calm sea. */
  clear(): void {
    const horizon = Math.round(0.62 * EASEL.height) * EASEL.width;
    this.luma.fill(-0.35, 0, horizon).fill(-0.75, horizon);
  }

  /** Takes over a prepared curve, clipped to [-1, 1]. */
  setCurve(at: (t: number) => number): void {
    for (let i = 0; i < CURVE_SAMPLES; i++) this.curve[i] = Math.max(-1, Math.min(1, at(i / (CURVE_SAMPLES - 1))));
  }

  /** Lets the reader paint on a canvas, which shows the middle of the easel, as much of it as the canvas is wide. */
  attachPainting(canvas: HTMLCanvasElement): void {
    this.paint(canvas);
    drag(canvas, (x, y, fromX, fromY) => {
      const { width, height } = canvas;
      const steps = Math.max(1, Math.ceil(Math.hypot((x - fromX) * width, (y - fromY) * height)));
      for (let s = 0; s <= steps; s++) this.dab(before(canvas) + (fromX + ((x - fromX) * s) / steps) * width, (fromY + ((y - fromY) * s) / steps) * height);
      this.paint(canvas);
      this.changed('draw');
    });
  }

  /** Lets the reader draw a curve on a canvas. */
  attachCurve(canvas: HTMLCanvasElement): void {
    this.plot(canvas);
    drag(canvas, (x, y, fromX, fromY) => {
      const a = Math.round(Math.min(x, fromX) * (CURVE_SAMPLES - 1));
      const b = Math.round(Math.max(x, fromX) * (CURVE_SAMPLES - 1));
      for (let i = Math.max(0, a); i <= Math.min(CURVE_SAMPLES - 1, b); i++) {
        const t = b === a ? 1 : (i / (CURVE_SAMPLES - 1) - fromX) / (x - fromX);
        this.curve[i] = Math.max(-1, Math.min(1, 1.1 - 2.2 * (fromY + (y - fromY) * Math.max(0, Math.min(1, t)))));
      }
      this.plot(canvas);
      this.changed('curve');
    });
  }

  private dab(x: number, y: number): void {
    for (let v = Math.floor(y - BRUSH - 1); v <= y + BRUSH + 1; v++) {
      for (let u = Math.floor(x - BRUSH - 1); u <= x + BRUSH + 1; u++) {
        if (u < 0 || v < 0 || u >= EASEL.width || v >= EASEL.height) continue;
        const cover = Math.max(0, Math.min(1, BRUSH + 0.5 - Math.hypot(u + 0.5 - x, v + 0.5 - y)));
        const at = v * EASEL.width + u;
        this.luma[at] = Math.max(this.luma[at] ?? -1, -1 + 1.96 * cover);
      }
    }
  }

  private paint(canvas: HTMLCanvasElement): void {
    const context = canvas.getContext('2d');
    if (!context) return;
    const image = context.createImageData(EASEL.width, EASEL.height);
    this.luma.forEach((v, i) => {
      const grey = Math.round(127.5 * (1 + v));
      image.data.set([grey, grey, grey, 255], 4 * i);
    });
    context.putImageData(image, -before(canvas), 0);
  }

  private plot(canvas: HTMLCanvasElement): void {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    const context = canvas.getContext('2d');
    if (!context) return;
    context.scale(ratio, ratio);
    const { clientWidth: w, clientHeight: h } = canvas;
    context.strokeStyle = colourOn(canvas, '--grid');
    for (const v of [-1, 0, 1]) {
      context.beginPath();
      context.moveTo(0, h / 2 - (v * h) / 2.2);
      context.lineTo(w, h / 2 - (v * h) / 2.2);
      context.stroke();
    }
    context.strokeStyle = colourOn(canvas, '--low');
    context.lineWidth = 2.5;
    context.lineJoin = 'round';
    context.beginPath();
    this.curve.forEach((v, i) => context.lineTo((i / (CURVE_SAMPLES - 1)) * w, h / 2 - (v * h) / 2.2));
    context.stroke();
  }
}

/** Columns of the easel to the left of what a canvas shows. */
function before(canvas: HTMLCanvasElement): number {
  return (EASEL.width - canvas.width) / 2;
}

/** Calls `move` with positions in [0, 1] while the pointer is down. */
function drag(canvas: HTMLCanvasElement, move: (x: number, y: number, fromX: number, fromY: number) => void): void {
  let last: [number, number] | undefined;
  const at = (e: PointerEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)), Math.max(0, Math.min(1, (e.clientY - box.top) / box.height))];
  };
  canvas.onpointerdown = (e) => {
    canvas.setPointerCapture(e.pointerId);
    last = at(e);
    move(...last, ...last);
  };
  canvas.onpointermove = (e) => {
    if (!last) return;
    const next = at(e);
    move(...next, ...last);
    last = next;
  };
  canvas.onpointerup = canvas.onpointercancel = () => {
    last = undefined;
  };
}
