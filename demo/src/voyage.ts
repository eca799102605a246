import { JOURNEY, stationIndex, type Station } from './stages.js';
import type { Preset, StageCounters, StageEvent, StageId, StageView } from './types.js';

/** Where a bootstrapping ran. */
export type Place = 'page' | 'server';

/** What a ciphertext looks like from outside. */
export interface Water {
  readonly level: number;
  /** log2 of the modulus. */
  readonly logQ: number;
  /** log2 of the scale. */
  readonly logScale: number;
}

/** Errors of slots against what they should be. */
export interface Quality {
  readonly maxError: number;
  readonly rmsError: number;
  /** -log2 of the worst slot's error. */
  readonly bitsMax: number;
  /** -log2 of the root mean square error. */
  readonly bitsRms: number;
}

/** A ciphertext on this page's side: figures, a sample of its bytes, and what the key holder sees in it. */
export interface Specimen extends Water {
  /** Length on the wire. */
  readonly bytes: number;
  /** Bytes of its payload, to be drawn. */
  readonly sample: Uint8Array;
  /** Decrypted slots. */
  readonly slots: Float64Array;
  readonly quality: Quality;
}

/** One finished part of a stage: a track, a level of the tree. */
export interface PartMark {
  readonly done: number;
  readonly total: number;
  readonly atMs: number;
}

/** What was seen of one stage of the method. */
export interface StageMark {
  readonly stage: StageId;
  enterMs: number;
  exitMs?: number;
  water?: Water;
  counters?: StageCounters;
  parts: PartMark[];
  views: StageView[];
}

/** Milliseconds spent around the bootstrapping itself. */
export interface Timings {
  keygenMs?: number;
  encryptMs?: number;
  uploadMs?: number;
  decryptMs?: number;
}

/** State of a voyage. */
export type VoyageState = 'running' | 'done' | 'cancelled' | 'failed';

/** One bootstrapping as it was observed, from the reader's picture to what came back. */
export interface Voyage {
  readonly place: Place;
  readonly preset: Preset;
  /** Name of the input, for people: "the sailing boat". */
  readonly label: string;
  /** Are the slots drawn as a picture or as a sequence? */
  readonly drawn?: 'picture' | 'curve';
  /** How many slots are drawn, if the others were filled with zeros. */
  readonly used?: number;
  /** Shape in which the slots are drawn. */
  readonly width: number;
  readonly height: number;
  /** The numbers that were encrypted. */
  readonly input: Float64Array;
  /** What the result should be: the input, or its square. */
  readonly expected: Float64Array;
  /** Does the voyage square the picture before the bootstrapping? */
  readonly squared: boolean;
  /** Are the keys made during the run, track by track, and dropped? */
  readonly keysOnTheWay?: boolean;
  /** Where the figures come from, if this voyage was not made just now. */
  readonly recorded?: string;
  state: VoyageState;
  fresh?: Specimen;
  spent?: Specimen;
  readonly marks: StageMark[];
  result?: Specimen;
  readonly timings: Timings;
  /** Wasm memory of this page at the end of the run, the most it took: bytes, and the number of instances. */
  memory?: { readonly bytes: number; readonly instances: number };
  /** Machine and backend of the run. */
  readonly machine?: string;
}

/** A moment of a voyage: a station, and how many of its parts are done. */
export interface Moment {
  /** Index into JOURNEY. */
  readonly station: number;
  /** Parts done, from 1; 0 before any, or in stations without parts. */
  readonly part: number;
}

/** Adds an event of the run to what is known of the voyage. */
export function observe(voyage: Voyage, event: StageEvent): void {
  let mark = voyage.marks.find((m) => m.stage === event.stage);
  if (!mark) {
    mark = { stage: event.stage, enterMs: event.atMs, parts: [], views: [] };
    voyage.marks.push(mark);
  }
  switch (event.kind) {
    case 'enter':
      mark.enterMs = event.atMs;
      break;
    case 'progress':
      mark.parts.push({ done: event.done, total: event.total, atMs: event.atMs });
      break;
    case 'exit':
      mark.exitMs = event.atMs;
      mark.water = { level: event.level, logQ: event.logQ, logScale: event.logScale };
      mark.counters = event.counters;
      break;
    case 'view':
      mark.views.push(event);
      break;
  }
}

/** What was seen of a stage, if it has begun. */
export function markOf(voyage: Voyage, station: Station | undefined): StageMark | undefined {
  return voyage.marks.find((m) => m.stage === station);
}

/** The ciphertext after a station; `undefined` while the station has not been reached. */
export function waterAt(voyage: Voyage, station: Station): Water | undefined {
  switch (station) {
    case 'encrypt':
      return voyage.fresh;
    case 'exhaust':
      return voyage.spent;
    case 'decrypt':
      return voyage.result;
    default:
      return markOf(voyage, station)?.water;
  }
}

/** A station that has begun but not ended: the ciphertext it began with, and how far it is. */
export interface Underway {
  readonly station: Station;
  /** The ciphertext as it came into the station. */
  readonly water: Water;
  /** Parts done, and how many there are; 0 of 0 in stations without parts. */
  readonly done: number;
  readonly total: number;
}

/** The station that has begun but not ended, if any; in a voyage that was broken off, the one where that happened. */
export function underway(voyage: Voyage): Underway | undefined {
  const mark = voyage.marks.find((m) => m.exitMs === undefined);
  const before = mark && JOURNEY[stationIndex(mark.stage) - 1];
  const water = before && waterAt(voyage, before);
  if (!water) return undefined;
  return { station: mark.stage, water, done: mark.parts.at(-1)?.done ?? 0, total: partsOf(voyage.preset, mark.stage) };
}

/** What is known of the ciphertext at a station. */
export interface Standing {
  readonly water: Water;
  /** Set while the station is under way: the water is that of its beginning. */
  readonly underway?: Underway;
}

/** The ciphertext after a station, or the one that came into it while the station is under way; `undefined` before that. */
export function standingAt(voyage: Voyage, station: Station): Standing | undefined {
  const water = waterAt(voyage, station);
  if (water) return { water };
  const now = underway(voyage);
  return now?.station === station ? { water: now.water, underway: now } : undefined;
}

/** Index of the latest station that has begun, or -1. */
export function newest(voyage: Voyage): number {
  const now = underway(voyage);
  return Math.max(frontier(voyage), now ? stationIndex(now.station) : -1);
}

/** Has the station been completed? */
export function reached(voyage: Voyage, station: Station): boolean {
  return waterAt(voyage, station) !== undefined;
}

/** Precision after a station where this page can know it: worst slot and root mean square. */
export function qualityAt(voyage: Voyage, station: Station): Quality | undefined {
  if (station === 'encrypt') return voyage.fresh?.quality;
  if (station === 'exhaust') return voyage.spent?.quality;
  if (station === 'decrypt') return voyage.result?.quality;
  const views = markOf(voyage, station)?.views.filter((v) => Number.isFinite(v.bitsMax)) ?? [];
  if (views.length === 0) return undefined;
  if (station === 'blind_rotate') {
    // Every track counts: the largest of their errors, and the root mean square over all.
    const maxError = Math.max(...views.map((v) => v.maxError));
    const rmsError = Math.sqrt(views.reduce((sum, v) => sum + v.rmsError ** 2, 0) / views.length);
    return {
      maxError,
      rmsError,
      bitsMax: Math.min(...views.map((v) => v.bitsMax)),
      bitsRms: Math.min(...views.map((v) => v.bitsRms)),
    };
  }
  return views[views.length - 1];
}

/** What the precision chart knows of a station, and when it was measured. */
export interface Measured {
  readonly quality: Quality;
  /** After the station, over the parts done so far, or before it, for what came in. */
  readonly when: 'after' | 'so far' | 'before';
}

/** Precision at a station: after it or, while it is under way, for the parts done or for what came into it. */
export function measuredAt(voyage: Voyage, station: Station): Measured | undefined {
  const own = qualityAt(voyage, station);
  const now = underway(voyage);
  if (now?.station !== station) return own && { quality: own, when: 'after' };
  if (own) return { quality: own, when: 'so far' };
  const before = qualityAt(voyage, JOURNEY[stationIndex(station) - 1] ?? 'encrypt');
  return before && { quality: before, when: 'before' };
}

/** Parts of a station: tracks of the blind rotation, levels of the tree; 0 when it has none. */
export function partsOf(preset: Preset, station: Station | undefined): number {
  if (station === 'blind_rotate') return preset.tracks;
  if (station === 'product_tree') return preset.treeLevels;
  return 0;
}

/** Every moment that can be stepped through, up to where the voyage is. */
export function moments(voyage: Voyage): Moment[] {
  const out: Moment[] = [];
  const now = underway(voyage)?.station;
  JOURNEY.forEach((name, station) => {
    const parts = partsOf(voyage.preset, name);
    const done = markOf(voyage, name)?.parts ?? [];
    if (parts > 0 && done.length > 0) {
      // A server may finish several tracks at a time: one moment for each event.
      for (const part of done) out.push({ station, part: Math.min(part.done, parts) });
    } else if (now === name || reached(voyage, name)) {
      out.push({ station, part: 0 });
    }
  });
  return out;
}

/** The latest moment of a station, with all the parts that are done. */
export function lastMomentOf(voyage: Voyage, station: number): Moment {
  const name = JOURNEY[station];
  return { station, part: partsOf(voyage.preset, name) > 0 ? (markOf(voyage, name)?.parts.at(-1)?.done ?? 0) : 0 };
}

/** The latest moment of a voyage. */
export function latest(voyage: Voyage): Moment {
  const all = moments(voyage);
  return all[all.length - 1] ?? { station: 0, part: 0 };
}

/** What the key holder sees at a moment: the view of this part, or else the last one before it. */
export function viewAt(voyage: Voyage, moment: Moment): StageView | undefined {
  const name = JOURNEY[moment.station];
  const mark = markOf(voyage, name);
  if (!mark) return undefined;
  if (name === 'blind_rotate') {
    return mark.views.find((v) => v.track === moment.part - 1) ?? mark.views[Math.min(moment.part, mark.views.length) - 1];
  }
  if (name === 'product_tree') {
    const level = mark.views.filter((v) => v.levelOfTree === moment.part);
    return level[0] ?? mark.views[Math.min(moment.part, mark.views.length) - 1];
  }
  return mark.views[mark.views.length - 1];
}

/** This page's specimen at a station, if there is one. */
export function specimenAt(voyage: Voyage, station: Station | undefined): Specimen | undefined {
  if (station === 'encrypt') return voyage.fresh;
  if (station === 'exhaust') return voyage.spent;
  if (station === 'decrypt') return voyage.result;
  return undefined;
}

/** Milliseconds a stage took. */
export function stageMs(mark: StageMark | undefined): number | undefined {
  return mark?.exitMs === undefined ? undefined : mark.exitMs - mark.enterMs;
}

/** Milliseconds of the bootstrapping, from the first stage's beginning to the last one's end. */
export function bootstrapMs(voyage: Voyage): number | undefined {
  const first = voyage.marks[0];
  const last = markOf(voyage, 'conjugate');
  return first && last?.exitMs !== undefined ? last.exitMs - first.enterMs : undefined;
}

/** Errors of `actual` against `expected`. */
export function quality(expected: Float64Array, actual: Float64Array): Quality {
  let maxError = 0;
  let sum = 0;
  for (let i = 0; i < expected.length; i++) {
    const e = Math.abs((actual[i] ?? Number.NaN) - (expected[i] ?? 0));
    // NaN stays: Math.max keeps it.
    maxError = Math.max(maxError, e);
    sum += e * e;
  }
  const rmsError = Math.sqrt(sum / Math.max(1, expected.length));
  return { maxError, rmsError, bitsMax: -Math.log2(maxError), bitsRms: -Math.log2(rmsError) };
}

/** Index of the last station reached, or -1. */
export function frontier(voyage: Voyage): number {
  let last = -1;
  JOURNEY.forEach((name, i) => {
    if (reached(voyage, name)) last = i;
  });
  return last;
}

/** What was put in, as one word. */
export function nounOf({ drawn, used }: Pick<Voyage, 'drawn' | 'used'>): 'picture' | 'curve' | 'numbers' {
  if (drawn !== 'curve') return 'picture';
  return used === undefined ? 'curve' : 'numbers';
}
