/** Longest text from a server that is shown. */
const SHOWN = 500;

/**
 * Text from a server in a form that is safe to show: whatever could steer a terminal or reorder a line (control and format characters, line
 * ends, halves of surrogate pairs) becomes a space, and text that is too long is cut.
 */
export function plain(text: string, longest: number = SHOWN): string {
  // Cut first, so that the rest need not be examined.
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** JSON from a server, with every string made `plain`. */
export function parsed(text: string): unknown {
  return JSON.parse(text, (_name, value: unknown) => (typeof value === 'string' ? plain(value, 4096) : value));
}

/** The members of a value that ought to be an object; none if it is not. */
export function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
