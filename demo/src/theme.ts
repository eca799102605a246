const KEPT = 'refloat-theme';

/** Switches from light to dark or back, until the tab is closed. */
export function otherTheme(): void {
  const root = document.documentElement.dataset;
  const dark = root['theme'] ? root['theme'] === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root['theme'] = dark ? 'light' : 'dark';
  try {
    sessionStorage.setItem(KEPT, root['theme']);
  } catch {
    // Where nothing may be stored, the choice ends with the page.
  }
}

/** Applies what was chosen on this page or another one in this tab. */
export function keptTheme(): void {
  try {
    const kept = sessionStorage.getItem(KEPT);
    if (kept) document.documentElement.dataset['theme'] = kept;
  } catch {
    // As above.
  }
}
