/**
 * Scrolls every message into view as it appears or changes, and gives it the focus when it appears, unless the reader is typing. When a
 * message is closed, the focus it had goes to `home`.
 */
export function revealMessages(home: string): void {
  const known = new Map<HTMLElement, string>();
  let held = false;
  const look = (): void => {
    for (const box of known.keys()) if (!box.isConnected) known.delete(box);
    if (held && document.activeElement === document.body) document.querySelector<HTMLElement>(home)?.focus({ preventScroll: true });
    for (const box of document.querySelectorAll<HTMLElement>('.problem')) {
      const text = box.textContent ?? '';
      const before = known.get(box);
      if (before === text) continue;
      known.set(box, text);
      const typing = document.activeElement instanceof HTMLTextAreaElement || document.activeElement?.matches('input[type=text]');
      if (before === undefined && !typing) box.focus({ preventScroll: true });
      box.scrollIntoView({ block: 'nearest' });
    }
    held = [...known.keys()].some((box) => box.contains(document.activeElement));
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
}
