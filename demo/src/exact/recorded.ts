import type { IntegerStageId, IntegerView, StageExit } from 'refloat';
import type { State } from './state.js';

/** What the page shows of a run. */
export type Shown = Pick<State, 'input' | 'inputLogQ' | 'views' | 'exits' | 'output' | 'square'>;

/** A real run as JSON, shown until the reader makes one: arrays of integers in base64, low digits a byte each. */
export interface RecordedRun {
  /** What made it. */
  readonly made: string;
  readonly inputLogQ: number;
  readonly exits: readonly StageExit<IntegerStageId>[];
  readonly views: readonly { readonly stage: IntegerView['stage']; readonly place: IntegerView['place']; readonly atMs: number; readonly low: string; readonly high: string }[];
  readonly input: string;
  readonly output: string;
  readonly square: string;
}

/** Restores the arrays. */
export function decode(run: RecordedRun): Shown {
  return {
    input: words(run.input),
    inputLogQ: run.inputLogQ,
    exits: run.exits,
    views: run.views.map(({ low, high, ...view }) => ({ kind: 'view', ...view, low: Int32Array.from(new Int8Array(fromBase64(low))), high: words(high) })),
    output: words(run.output),
    square: words(run.square),
  };
}

/** Makes a run storable. */
export function encode(made: string, { input, inputLogQ, exits, views, output, square }: Shown): RecordedRun {
  const packed = (values: Uint32Array | undefined): string => toBase64(Uint32Array.from(values ?? []).buffer);
  return {
    made,
    inputLogQ,
    exits,
    views: views.flatMap((view) => view ?? []).map(({ stage, place, atMs, low, high }) => ({ stage, place, atMs: Math.round(atMs), low: toBase64(Int8Array.from(low).buffer), high: packed(high) })),
    input: packed(input),
    output: packed(output),
    square: packed(square),
  };
}

function words(text: string): Uint32Array {
  return new Uint32Array(fromBase64(text));
}

function toBase64(buffer: ArrayBuffer): string {
  let text = '';
  for (const byte of new Uint8Array(buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}

function fromBase64(text: string): ArrayBuffer {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
}
