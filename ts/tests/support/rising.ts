import { expect } from 'vitest';

/** Checks that every event has a fraction, that fractions never fall, and that only the last event has 1. */
export function rising(events: readonly { readonly kind: string }[]): void {
  const fractions = events.map((event) => ('fraction' in event ? (event.fraction as number) : NaN));
  expect(fractions.length).toBeGreaterThan(1);
  for (const [i, fraction] of fractions.entries()) {
    expect(fraction, `event ${i}`).toBeGreaterThanOrEqual(fractions[i - 1] ?? 0);
    if (i < fractions.length - 1) expect(fraction, `event ${i}`).toBeLessThan(1);
  }
  expect(fractions.at(-1)).toBe(1);
}
