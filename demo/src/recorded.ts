import type { Voyage } from './voyage.js';

/** A voyage as JSON: typed arrays are base64, of 32-bit floats, or of 16-bit fractions in views. */
export interface RecordedVoyage {
  readonly [key: string]: unknown;
}

/** Restores typed arrays. */
export function decode(recorded: RecordedVoyage): Voyage {
  return revive(recorded) as Voyage;
}

/** Makes a voyage storable. */
export function encode(voyage: Voyage): RecordedVoyage {
  return pack(voyage, (key, value) => {
    if (key === 'expected' && !(value instanceof Float64Array && value.length === voyage.input.length)) return undefined;
    if (key === 'data' && value instanceof Float64Array) {
      const most = value.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-30);
      return { $i16: toBase64(new Uint8Array(Int16Array.from(value, (x) => Math.round((x / most) * 32767)).buffer)), most };
    }
    return value;
  }) as RecordedVoyage;
}

/** JSON in which typed arrays are base64, of 32-bit floats; `change` may replace the value of a key. */
export function pack(whole: unknown, change: (key: string, value: unknown) => unknown = (_, value) => value): unknown {
  return JSON.parse(
    JSON.stringify(whole, (key, given: unknown) => {
      const value = change(key, given);
      if (value instanceof Float64Array) return { $f32: toBase64(new Uint8Array(Float32Array.from(value).buffer)) };
      if (value instanceof Uint32Array && isRange(value)) return { $range: [value[0], (value[1] ?? 0) - (value[0] ?? 0), value.length] };
      if (value instanceof Uint32Array) return { $u32: toBase64(new Uint8Array(value.slice().buffer)) };
      if (value instanceof Uint8Array) return { $u8: toBase64(value) };
      if (typeof value === 'number' && !Number.isInteger(value)) return Number(value.toPrecision(6));
      return value;
    }),
  ) as unknown;
}

/** Restores what {@link pack} made JSON of, with its typed arrays. */
export function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== 'object' || value === null) return value;
  const { $f32, $u32, $u8, $i16, $range, most } = value as Record<string, unknown>;
  if (Array.isArray($range)) {
    const [first, step, length] = $range as [number, number, number];
    return Uint32Array.from({ length }, (_, i) => first + i * step);
  }
  if (typeof $i16 === 'string') return Float64Array.from(new Int16Array(fromBase64($i16).buffer), (x) => (x / 32767) * Number(most));
  if (typeof $f32 === 'string') return Float64Array.from(new Float32Array(fromBase64($f32).buffer));
  if (typeof $u32 === 'string') return new Uint32Array(fromBase64($u32).buffer);
  if (typeof $u8 === 'string') return fromBase64($u8);
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, revive(v)]));
}

function isRange(x: Uint32Array): boolean {
  const step = (x[1] ?? 0) - (x[0] ?? 0);
  return x.length > 1 && x.every((v, i) => v === (x[0] ?? 0) + i * step);
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (const b of bytes) text += String.fromCharCode(b);
  return btoa(text);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
