import './styles/base.css';
import './styles/layout.css';
import './styles/hero.css';
// Not every page uses all of these, but what all pages import stays in one sheet, in this order.
import './styles/strip.css';
import './styles/figures.css';
import './styles/costs.css';
import './styles/slot.css';
import './styles/scroll-steps.css';
import './styles/narrow.css';
import { RefloatError } from 'refloat/client';
import { backToAnchor } from './anchored.js';
import { pressByKeys } from './arrows.js';
import { again, gone, type Retrying } from './contact.js';
import { sentence } from './format.js';
import { whenHiddenLong } from './hidden.js';
import { morph, type Html } from './html.js';
import { revealMessages } from './reveal.js';
import { ScrollSteps } from './scroll-steps.js';
import { isLarge, type Sent } from './sending.js';
import { keptTheme, otherTheme } from './theme.js';

/** Milliseconds after which a page is shown without the run that it opens with. */
const OPENING_MS = 4000;

/** The state that every page with a run has. */
export interface Shown {
  /** What keeps the page busy, if anything. */
  busy: string | undefined;
  paused: boolean;
  /** What went wrong, as a sentence. */
  problem: string | undefined;
  /** Figures shown as tables. */
  readonly tables: Set<string>;
}

/** The state of a page that also makes keys. */
export interface Making extends Shown {
  /** Bytes of keys, or steps of the computation with them: done and total. */
  progress: readonly [number, number];
  /** Whether the reader is being asked if keys of that size may be sent. */
  confirming: boolean;
  /** The next attempt of a request that a server did not answer. */
  retrying: Retrying | undefined;
}

/** The state before anything has been asked of a page. */
export function idle(): { busy: undefined; paused: boolean; problem: undefined; progress: readonly [number, number]; confirming: boolean; retrying: undefined; tables: Set<string> } {
  return { busy: undefined, paused: false, problem: undefined, progress: [0, 0], confirming: false, retrying: undefined, tables: new Set() };
}

/** Something that holds memory until it is freed. */
export interface Freed {
  free(): void;
}

/** A run whose events are watched, and which can be paused between two stages. */
export interface Watched<T, E> extends AsyncIterable<E>, PromiseLike<T> {
  pause(): void;
  resume(): void;
  step(): Promise<unknown>;
}

/** What a page does in response to the reader; everything is redrawn afterwards. */
export interface Doings {
  /** Buttons, by the first word of `data-act`; further words are passed as arguments. */
  readonly acts?: Readonly<Record<string, (first: string, second: string) => void>>;
  /** Sliders and text, by the first word of `data-input`. */
  readonly inputs?: Readonly<Record<string, (value: string, which: string) => void>>;
  /** Lists to choose from, likewise. */
  readonly choices?: Readonly<Record<string, (value: string) => void>>;
  /** The run that a button begins: at once, or, if it first sends large keys of a set, when the reader has agreed. */
  readonly run?: { readonly begin: () => void; readonly sends?: () => Sent | undefined };
  /** The story that scrolls beside a drawing: its element, the step that is drawn, and what to do when the reader has scrolled to one. */
  readonly story?: { readonly id: string; readonly drawn: () => number; readonly choose: (step: number) => void };
  /** Frees keys, when the page has been hidden for long and is not busy. */
  readonly letGo?: () => void;
}

/** What the pages with a run share: their regions, one long task at a time, its buttons, and how problems are told. */
export class Shell<S extends Shown & Partial<Pick<Making, 'confirming' | 'retrying'>>> {
  #stop = new AbortController();
  /** What each region was last given. */
  readonly #drawn = new Map<string, string>();
  #follow: () => void = () => undefined;
  #run: Omit<Watched<unknown, unknown>, keyof PromiseLike<unknown>> | undefined;

  /** `regions` maps ids of elements to their markup, for a given width. */
  constructor(
    private readonly state: S,
    private readonly regions: Readonly<Record<string, (width: number) => Html>>,
  ) {}

  /** Redraws regions: those named, or all. */
  draw(...ids: string[]): void {
    for (const id of ids.length ? ids : Object.keys(this.regions)) {
      const el = document.getElementById(id);
      const make = this.regions[id];
      if (!el || !make) continue;
      const markup = make(Math.max(280, Math.floor(el.clientWidth)));
      // A drawing of many points takes long to compare, so an unchanged one is left alone.
      if (this.#drawn.get(id) === markup.text) continue;
      this.#drawn.set(id, markup.text);
      morph(el, markup);
    }
    this.#follow();
    if (document.querySelector('[class*=recorded], .problem')) open();
  }

  /** Says something to screen readers. */
  say(text: string): void {
    const live = document.getElementById('live');
    if (live) live.textContent = text;
  }

  /** Shows what went wrong. */
  readonly failed = (error: unknown): void => {
    this.state.problem = sentence(error);
    this.draw();
  };

  /** Says that a server does not answer, while a request is repeated, and that it answers again. */
  readonly contact = (retrying: Retrying | undefined): void => {
    // Nothing more is said about what was cancelled.
    if (!this.state.busy || this.#stop.signal.aborted) return;
    Object.assign(this.state, { retrying });
    this.say(retrying ? again(retrying) : 'The server answers again.');
    this.draw();
  };

  /**
   * Does something long, one thing at a time. What `work` hands to its second argument is freed at the end. A problem is
   * shown, after `undo`; being cancelled does not count as one.
   */
  async perform(busy: NonNullable<S['busy']>, work: (signal: AbortSignal, use: <T extends Freed>(made: T) => T) => Promise<void>, undo: () => void = () => undefined): Promise<void> {
    if (this.state.busy) return;
    const used: Freed[] = [];
    const stop = (this.#stop = new AbortController());
    Object.assign(this.state, { busy, paused: false, problem: undefined, retrying: undefined });
    this.draw();
    try {
      await work(stop.signal, (made) => {
        used.push(made);
        return made;
      });
    } catch (error) {
      if (stop.signal.aborted || (error instanceof RefloatError && error.code === 'ABORTED')) this.say('Cancelled.');
      else {
        undo();
        const lost = this.state.retrying && error instanceof RefloatError && error.code === 'NETWORK';
        this.state.problem = lost ? `The server does not answer. ${gone('begin again')}` : sentence(error);
      }
    } finally {
      for (const made of used) made.free();
      this.#run = undefined;
      Object.assign(this.state, { busy: undefined, paused: false, retrying: undefined });
      this.draw();
    }
  }

  /** Watches a run to its end; the page's buttons act on it. */
  async watch<T, E>(run: Watched<T, E>, note: (event: E) => void): Promise<T> {
    this.#run = run;
    this.draw();
    const { signal } = this.#stop;
    for await (const event of run) {
      note(event);
      // After a cancellation, the events still coming are not worth a drawing each.
      if (!signal.aborted) this.draw();
    }
    return run;
  }

  /** Starts listening to the reader, and draws the page for the first time. */
  listen({ acts = {}, inputs = {}, choices = {}, run, story, letGo }: Doings): void {
    const { state } = this;
    const own: Doings['acts'] = {
      theme: otherTheme,
      run: () => {
        const set = state.busy ? undefined : run?.sends?.();
        state.confirming = set !== undefined && isLarge(set);
        if (!state.confirming) run?.begin();
      },
      confirm: () => {
        state.confirming = false;
        run?.begin();
      },
      dismiss: () => {
        state.confirming = false;
      },
      cancel: () => {
        this.#stop.abort(new RefloatError('ABORTED', 'the reader cancelled the run'));
        this.#run?.resume();
      },
      pause: () => {
        this.#run?.pause();
        state.paused = true;
      },
      resume: () => {
        this.#run?.resume();
        state.paused = false;
      },
      step: () => {
        // If the step ends the run, the run itself shows that.
        void this.#run?.step().catch(() => undefined);
        state.paused = true;
      },
      table: (id) => {
        if (!state.tables.delete(id)) state.tables.add(id);
      },
    };
    document.addEventListener('click', ({ target }) => {
      const [act = '', first = '', second = ''] = (target as Element).closest('[data-act]')?.getAttribute('data-act')?.split(':') ?? [];
      const doing = acts[act] ?? own[act];
      if (!doing) return;
      doing(first, second);
      this.draw();
    });
    document.addEventListener('input', ({ target }) => {
      if (!(target instanceof HTMLInputElement)) return;
      const [what = '', which = ''] = target.dataset['input']?.split(':') ?? [];
      if (!inputs[what]) return;
      inputs[what](target.value, which);
      this.draw();
    });
    document.addEventListener('change', ({ target }) => {
      const what = target instanceof HTMLSelectElement ? (target.dataset['input'] ?? '') : '';
      if (!choices[what]) return;
      state.confirming = false;
      choices[what]((target as HTMLSelectElement).value);
      this.draw();
    });
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && state.busy) own['cancel']?.('', '');
    });
    pressByKeys();
    if (story) {
      const scrolled = new ScrollSteps(story.id, (step) => {
        story.choose(step);
        this.draw();
      });
      this.#follow = () => scrolled.show(story.drawn());
    }
    addEventListener('resize', () => this.draw());
    whenHiddenLong(() => {
      if (state.busy) return;
      letGo?.();
      this.draw();
    });
    revealMessages('button.primary');
    // On a phone the menu is wider than the screen and scrolls.
    document.querySelector('nav [aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    keptTheme();
    this.draw();
    setTimeout(open, OPENING_MS);
  }
}

/** Shows the whole page, which opens with its heading alone until the first run is there, so that nothing moves afterwards. */
function open(): void {
  if (document.body.dataset['opening'] === undefined) return;
  delete document.body.dataset['opening'];
  requestAnimationFrame(backToAnchor);
}
