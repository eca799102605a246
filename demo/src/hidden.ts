/** Milliseconds that a page may be hidden before it frees its keys. */
const HIDDEN_MS = 10 * 60 * 1000;

/**
 * Calls `letGo` when nobody has looked at the page for ten minutes, and every ten minutes from then on, since the page may be busy the
 * first time. Keys need not stay in memory so long: the next use makes new ones.
 */
export function whenHiddenLong(letGo: () => void): void {
  let waiting: ReturnType<typeof setInterval> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearInterval(waiting);
    if (document.hidden) waiting = setInterval(letGo, HIDDEN_MS);
  });
}
