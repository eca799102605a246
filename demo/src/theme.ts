const KEPT = 'refloat-theme';

/** Whether the page is dark: by choice, or else by the reader's preference. */
export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

/** The present value of a colour of the style sheet, for a canvas. `light-dark()` becomes one colour only where a property uses it. */
export function colourOn(canvas: HTMLCanvasElement, name: string): string {
  canvas.style.color = `var(${name})`;
  const { color } = getComputedStyle(canvas);
  canvas.style.removeProperty('color');
  return color;
}

/** Switches from light to dark or back, until the tab is closed. */
export function otherTheme(): void {
  const root = document.documentElement.dataset;
  root['theme'] = isDark() ? 'light' : 'dark';
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
