const KEPT = 'refloat-theme';

/** Light for dark and dark for light, until the tab is closed. */
export function otherTheme(): void {
  const root = document.documentElement.dataset;
  const dark = root['theme'] ? root['theme'] === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root['theme'] = dark ? 'light' : 'dark';
  try {
    sessionStorage.setItem(KEPT, root['theme']);
  } catch {
    // Where nothing may be kept, the choice ends with the page.
  }
}

/** What was chosen on this page or another one of this tab. */
export function keptTheme(): void {
  try {
    const kept = sessionStorage.getItem(KEPT);
    if (kept) document.documentElement.dataset['theme'] = kept;
  } catch {
    // As above.
  }
}
