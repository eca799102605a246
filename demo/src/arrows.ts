/** How far a key moves in a list of steps. */
const MOVES: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/** The place that a key moves to from `from`, among `count` places, or nothing if the key does not move. */
export function placeBy(key: string, from: number, count: number): number | undefined {
  const by = Object.hasOwn(MOVES, key) ? MOVES[key] : undefined;
  return by === undefined ? undefined : Math.max(0, Math.min(count - 1, from + by));
}

/** Lets the arrow keys, Home and End press the enabled steps of the lists with `data-steps`. */
export function pressByKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    const list = target instanceof HTMLButtonElement && !event.altKey && !event.ctrlKey && !event.metaKey ? target.closest('[data-steps]') : null;
    const all = [...(list?.querySelectorAll<HTMLButtonElement>('button:enabled') ?? [])];
    const place = placeBy(key, all.indexOf(target as HTMLButtonElement), all.length);
    if (!list || place === undefined) return;
    event.preventDefault();
    // Focus first: what the press draws may scroll.
    all[place]?.focus();
    all[place]?.click();
  });
}
