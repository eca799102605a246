/** The line of the window at which text is read, measured from the top: a little below the middle, where the next step comes up. */
const LINE = 0.62;
/** Milliseconds after which a glide counts as ended, wherever it has got to. */
const GLIDE_MS = 1500;

/**
 * A story whose text scrolls in steps beside a drawing that stays. The step at a certain line of the window is the one that is drawn. A
 * step chosen otherwise, by a button, a key or a run, is scrolled to that line while the story is being read. Steps are the elements with
 * `data-scroll-step` in the element with the given id. Where the style sheet shows one step at a time there is nothing to scroll.
 */
export class ScrollSteps {
  readonly #observer = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: `-${100 * LINE}% 0px -${100 - 100 * LINE}% 0px` });
  /** The step that is drawn, the one last seen at the line, and the one that a glide is on its way to. */
  #drawn: number | undefined;
  #read: number | undefined;
  #awaited: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the reader has pressed anything yet. User activation is not asked, since a script of a debugger or a test counts as such. */
  #pressed = false;

  /** `choose` is called with the step that the reader has scrolled to. */
  constructor(
    private readonly id: string,
    private readonly choose: (step: number) => void,
  ) {
    for (const kind of ['pointerdown', 'keydown', 'click']) addEventListener(kind, () => (this.#pressed = true), { capture: true, once: true });
    // Runs once the page is drawn in its new size, and before the observer mistakes what moved for the reader's scrolling.
    addEventListener('resize', () => requestAnimationFrame(() => this.#keep()));
  }

  /** To be called after every drawing, with the step that is drawn. */
  show(step: number): void {
    // Observing an element again changes nothing.
    for (const one of this.#steps()) this.#observer.observe(one);
    if (step === this.#drawn) return;
    this.#drawn = step;
    // The observer never hears of what a drawing moves away and back within one frame.
    requestAnimationFrame(() => requestAnimationFrame(() => this.#settle()));
    // What the observer saw may be older than the page's last move.
    const read = this.#atLine();
    if (read === undefined || read === step || this.#awaited === step) return;
    // A page that has just opened does not move by itself until the reader has pressed something.
    if (this.#pressed) this.#glide(step);
    else this.#arrived();
  }

  /** Brings a step to the middle of the window, unless the reader has gone on to what is below the story. */
  reveal(step: number): void {
    const story = document.getElementById(this.id)?.getBoundingClientRect();
    if (story && story.bottom > innerHeight * LINE) this.#glide(step);
  }

  /** Scrolls back to the drawn step, if it was being read and a resize of the window has moved it away from the line. */
  #keep(): void {
    // While a page is loading, its story may pass the line without anybody reading it.
    if (scrollY === 0) return;
    if (this.#drawn !== undefined && this.#read !== undefined && this.#atLine() !== this.#drawn) this.#glide(this.#drawn);
  }

  /** Scrolls a step to the middle of the window, and ignores the steps on the way. */
  #glide(step: number): void {
    const steps = this.#steps();
    if (steps.filter((one) => one.offsetParent).length < 2) return;
    this.#awaited = step;
    steps[step]?.scrollIntoView({ block: 'center' });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#arrived(), GLIDE_MS);
  }

  /** Draws the step that is being read, if another one was drawn and no glide is under way. */
  #settle(): void {
    if (this.#awaited === undefined && this.#read === this.#atLine()) this.#arrived();
  }

  #arrived(): void {
    clearTimeout(this.#timer);
    this.#awaited = undefined;
    if (this.#read === undefined || this.#read === this.#drawn) return;
    this.#drawn = this.#read;
    this.choose(this.#read);
  }

  #seen(entries: readonly IntersectionObserverEntry[]): void {
    const steps = this.#steps();
    for (const { target, isIntersecting } of entries) {
      const step = steps.indexOf(target as HTMLElement);
      if (isIntersecting) this.#read = step;
      else if (this.#read === step) this.#read = undefined;
    }
    if (this.#awaited === undefined || this.#awaited === this.#read) this.#arrived();
  }

  /** The step at the line, if the story is there. */
  #atLine(): number | undefined {
    const line = innerHeight * LINE;
    const at = this.#steps().findIndex((step) => {
      const { top, bottom } = step.getBoundingClientRect();
      return top <= line && bottom > line;
    });
    return at < 0 ? undefined : at;
  }

  #steps(): HTMLElement[] {
    return [...(document.getElementById(this.id)?.querySelectorAll<HTMLElement>('[data-scroll-step]') ?? [])];
  }
}
