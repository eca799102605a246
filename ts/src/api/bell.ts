/** Wakes those that wait for news. */
export class Bell {
  #wake: () => void = () => undefined;
  #news = new Promise<void>((resolve) => (this.#wake = resolve));

  /** Wakes everyone who waits now. */
  ring(): void {
    this.#wake();
    this.#news = new Promise((resolve) => (this.#wake = resolve));
  }

  /** Resolves when the bell is next rung. */
  next(): Promise<void> {
    return this.#news;
  }
}
