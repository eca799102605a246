const BYTE_UNITS = ['bytes', 'kB', 'MB', 'GB'] as const;

/** 1.4 GB, 42.3 MB, 32 bytes: decimal units, three significant digits. */
export function bytes(n: number): string {
  let unit = 0;
  let value = n;
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? String(Math.round(value)) : value.toPrecision(3)} ${BYTE_UNITS[unit] ?? ''}`;
}

/** 340 ms, 1.24 s, 2 min 5 s. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${ms < 10 ? ms.toFixed(1) : String(Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 9995 ? 2 : 1)} s`;
  const s = Math.round(ms / 1000);
  return `${Math.floor(s / 60)} min ${s % 60} s`;
}

/** A number with the given decimals, with a true minus sign; an en dash for no number. */
export function decimal(x: number | undefined, digits = 1): string {
  if (x === undefined || !Number.isFinite(x)) return '–';
  const text = x.toFixed(digits);
  // A number that rounds to zero has no sign.
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}

/** 12,345. */
export function count(n: number): string {
  return Math.round(n).toLocaleString('en');
}

/** "1 level", "2 levels". */
export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : noun.endsWith('ch') ? 'es' : 's'}`;
}

/** Scientific notation as 1.3 × 10⁻⁴. */
export function scientific(x: number | undefined): string {
  if (x === undefined || !Number.isFinite(x)) return '–';
  if (x === 0) return '0';
  const exponent = Math.floor(Math.log10(Math.abs(x)));
  if (exponent >= -2 && exponent < 4) return x.toPrecision(2).replace('-', '−');
  const digits = String(exponent).replace(/[-\d]/g, (c) => (c === '-' ? '⁻' : ('⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(c)] ?? c)));
  // The spaces are non-breaking.
  return `${(x / 10 ** exponent).toFixed(1).replace('-', '−')}\u00a0×\u00a010${digits}`;
}

/** An error's message as a sentence; one that begins with an address keeps its first letter as it is. */
export function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const start = /^\w+:\/\//.test(text) ? text.charAt(0) : text.charAt(0).toUpperCase();
  return `${start}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
