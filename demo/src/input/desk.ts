import { chosenPreset, type State, type Store } from '../store.js';
import { Easel, EASEL } from './easel.js';
import { BadNumbers, fromCurve, fromNumbers, parseNumbers } from './numbers.js';
import { bundled, fromFile, fromPainting, NotAPicture } from './picture.js';
import { gridFor, type InputKind, type InputSource } from './source.js';

/** Stands for the bundled picture until it has been loaded. */
export const waiting: InputSource = { kind: 'boat', label: 'the sailing boat', values: (g) => new Float64Array(g.width * g.height) };

const SHAPES: Record<string, (t: number) => number> = {
  sine: (t) => 0.85 * Math.sin(4 * Math.PI * t),
  ramp: (t) => 1.8 * t - 0.9,
  steps: (t) => [-0.8, 0.2, -0.3, 0.9, 0.5, -0.6, 0, 0.7][Math.min(7, Math.floor(8 * t))] ?? 0,
};

/** Where the reader prepares what goes into the slots: picture, drawing, curve or numbers. */
export class Desk {
  private boat = waiting;
  private readonly easel: Easel;
  /** The easel's width when it was last drawn. */
  private shown: number | undefined;

  constructor(
    private readonly store: Store,
    /** The open tab. */
    public tab: InputKind,
  ) {
    this.easel = new Easel((kind) => this.use(kind === 'draw' ? this.painting() : fromCurve(this.easel.curve)));
  }

  /** Loads the bundled picture and opens the tab. */
  async load(): Promise<void> {
    this.boat = await bundled();
    if (this.store.state.input === waiting) this.open(this.tab);
  }

  /** Opens a tab and takes what is prepared there. */
  open(kind: InputKind): void {
    this.tab = kind;
    if (kind === 'boat') this.use(this.store.state.input.kind === 'file' ? this.store.state.input : this.boat);
    if (kind === 'draw') this.use(this.painting());
    if (kind === 'curve') this.use(fromCurve(this.easel.curve));
    if (kind === 'numbers') this.takeNumbers(document.querySelector<HTMLTextAreaElement>('textarea[data-input=numbers]')?.value ?? '');
    this.store.update((s) => {
      s.said = '';
    });
  }

  /** Back to the bundled picture. */
  useBoat(): void {
    this.use(this.boat);
  }

  /** Takes a file the reader chose or dropped. */
  async takeFile(file: File | undefined): Promise<void> {
    if (!file) return;
    try {
      const source = await fromFile(file);
      this.tab = 'boat';
      this.store.update((s) => {
        s.input = source;
        settled(s);
        s.said = `${source.label} is ready to be encrypted.`;
      });
    } catch (error) {
      if (!(error instanceof NotAPicture)) throw error;
      this.store.update((s) => {
        s.problem = { beside: 'input', title: 'That file is not a picture', detail: error.message };
        s.said = error.message;
      });
    }
  }

  /** Takes the numbers that the reader has typed so far; while there are none, a few of the page's own. */
  takeNumbers(text: string): void {
    const grid = gridFor(chosenPreset(this.store.state)?.slots ?? 512);
    try {
      this.use(fromNumbers(text.trim() === '' ? Float64Array.from([0.5, -0.25, 1]) : parseNumbers(text, grid.width * grid.height)));
    } catch (error) {
      if (!(error instanceof BadNumbers)) throw error;
      this.store.update((s) => {
        s.unreadable = true;
        s.problem = { beside: 'input', title: 'These numbers cannot be encrypted yet', detail: error.message };
      });
    }
  }

  /** Takes a prepared curve: sine, ramp, steps, or a row of the picture. */
  setCurve(shape: string): void {
    const row = this.boat.values({ width: 32, height: 16 });
    this.easel.setCurve(SHAPES[shape] ?? ((t) => row[8 * 32 + Math.min(31, Math.floor(32 * t))] ?? 0));
    this.attach(true);
    this.use(fromCurve(this.easel.curve));
  }

  /** Empties the painting. */
  clearEasel(): void {
    this.easel.clear();
    this.attach(true);
    this.use(this.painting());
  }

  /** Lets the reader draw on the canvases that are in the page; `again` also redraws known canvases. */
  attach(again = false): void {
    const painting = document.querySelector<HTMLCanvasElement>('canvas[data-easel]');
    // A change of shape has emptied the canvas.
    if (painting && (again || !painting.onpointerdown || painting.width !== this.shown)) this.easel.attachPainting(painting);
    this.shown = painting?.width;
    const curve = document.querySelector<HTMLCanvasElement>('canvas[data-curve]');
    if (curve && (again || !curve.onpointerdown)) this.easel.attachCurve(curve);
  }

  private painting(): InputSource {
    return fromPainting(this.easel.luma, EASEL);
  }

  private use(source: InputSource): void {
    this.store.update((s) => {
      s.input = source;
      settled(s);
    });
  }
}

/** There is an input that can be encrypted: messages about an earlier one no longer hold. */
function settled(state: State): void {
  if (state.problem?.beside === 'input') delete state.problem;
  delete state.unreadable;
}
