import type { Voyage } from './voyage.js';

/** Recorded voyages that the build may carry. */
const FILES = import.meta.glob<{ default: unknown }>('./recorded/*.json');

/** Loads the recorded voyage shown before the reader has made one; `undefined` if the build has none. */
export async function loadRecorded(): Promise<Voyage | undefined> {
  const load = FILES['./recorded/toy10.json'];
  return load ? decode((await load()).default as RecordedVoyage) : undefined;
}

/** A voyage as JSON: typed arrays become base64 of 32-bit floats. */
export interface RecordedVoyage {
  readonly [key: string]: unknown;
}

/** Restores typed arrays. */
export function decode(recorded: RecordedVoyage): Voyage {
  return revive(recorded) as Voyage;
}

/** Makes a voyage storable. */
export function encode(voyage: Voyage): RecordedVoyage {
  return JSON.parse(
    JSON.stringify(voyage, (_key, value: unknown) => {
      if (value instanceof Float64Array) return { $f32: toBase64(new Uint8Array(Float32Array.from(value).buffer)) };
      if (value instanceof Uint32Array) return { $u32: toBase64(new Uint8Array(value.slice().buffer)) };
      if (value instanceof Uint8Array) return { $u8: toBase64(value) };
      if (typeof value === 'number' && !Number.isInteger(value)) return Number(value.toPrecision(6));
      return value;
    }),
  ) as RecordedVoyage;
}

function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== 'object' || value === null) return value;
  const { $f32, $u32, $u8 } = value as Record<string, unknown>;
  if (typeof $f32 === 'string') return Float64Array.from(new Float32Array(fromBase64($f32).buffer));
  if (typeof $u32 === 'string') return new Uint32Array(fromBase64($u32).buffer);
  if (typeof $u8 === 'string') return fromBase64($u8);
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, revive(v)]));
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (const b of bytes) text += String.fromCharCode(b);
  return btoa(text);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
