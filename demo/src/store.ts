import type { Broken, Choice } from './breaking/breakage.js';
import type { Retrying } from './contact.js';
import type { InputSource } from './input/source.js';
import type { Preset } from './types.js';
import type { Moment, Place, Voyage } from './voyage.js';

/** Where a message stands: beside the control that caused it. */
export type Beside = 'input' | 'action' | 'again' | 'break' | 'keys';

/** Something that went wrong, in words, with the way out. */
export interface Problem {
  readonly beside: Beside;
  readonly title: string;
  readonly detail: string;
  /** Label of the button that tries again; the action is in the session. */
  readonly retry?: { readonly label: string; readonly action: string };
}

/** A long operation in progress. */
export interface Busy {
  readonly what: 'keys' | 'encrypt' | 'upload' | 'bootstrap' | 'decrypt';
  readonly label: string;
  readonly done?: number;
  readonly total?: number;
  readonly bytes?: number;
  readonly totalBytes?: number;
  readonly startedAt: number;
  readonly paused?: boolean;
  /** The first progress of this operation, and when the latest came. */
  readonly first?: { readonly bytes: number; readonly at: number };
  readonly movedAt?: number;
  /** Set while requests fail and are repeated. */
  readonly retrying?: Omit<Retrying, 'state'>;
}

/** What is known of the server. */
export type ServerState =
  | { readonly state: 'unknown' | 'checking' | 'absent' }
  | { readonly state: 'present'; readonly url: string; readonly presets: readonly Preset[]; readonly backend?: string; readonly threads?: number };

/** Everything the page draws. */
export interface State {
  /** The package: still loading, usable, or failed. */
  library: 'loading' | 'ready' | 'failed';
  about?: { readonly version: string; readonly backend: string; readonly threads: number };
  presets: readonly Preset[];
  server: ServerState;
  /** Where the next voyage goes, and with which set. */
  place: Place;
  pagePreset: string;
  serverPreset: string;
  input: InputSource;
  /** Voyages by where they ran, and beside them the second bootstrappings, of the squared pictures. */
  voyages: Partial<Record<Place, Voyage>>;
  again: Partial<Record<Place, Voyage>>;
  recorded?: Voyage;
  /** What is to be broken next, whether that is under way, and what was broken last. */
  breakage: Choice;
  breakingNow?: boolean;
  broken?: Broken;
  /** Which voyage the views show. */
  shown: Place;
  at: Moment;
  /** Does the moment follow the run as it proceeds? */
  following: boolean;
  playing: boolean;
  speed: number;
  /** A slot singled out in all views. */
  slot?: number;
  busy?: Busy;
  /** Whether the reader is being asked before large keys are made. */
  confirming: boolean;
  problem?: Problem;
  /** What the reader typed cannot be read: nothing can be encrypted until it is mended. */
  unreadable?: boolean;
  /** Figures shown as tables. */
  tables: ReadonlySet<string>;
  /** Voyages that have come back. */
  finished: number;
  /** Message for the live region. */
  said: string;
  /** The keys on the server were deleted, and none have been sent since. */
  deleted?: boolean;
}

/** What a reader may break first: the picture eight times over. */
export const FIRST_BREAKAGE: Choice = { what: 'sum', doublings: 3, where: 30, keyBits: 5 };

/** The state before the reader has done anything, wherever the page is drawn. */
export function untouched() {
  return {
    library: 'loading',
    server: { state: 'unknown' },
    place: 'page',
    voyages: {},
    again: {},
    breakage: FIRST_BREAKAGE,
    following: false,
    playing: false,
    speed: 1,
    confirming: false,
    tables: new Set<string>(),
    finished: 0,
    said: '',
  } satisfies Partial<State>;
}

/** Holds the state and tells listeners once per frame that it has changed. */
export class Store {
  private readonly listeners: ((state: State) => void)[] = [];
  private scheduled = false;

  constructor(readonly state: State) {}

  /** Changes the state; listeners run before the next paint. */
  update(change: (state: State) => void): void {
    change(this.state);
    if (this.scheduled) return;
    this.scheduled = true;
    const run = (): void => {
      if (!this.scheduled) return;
      this.scheduled = false;
      for (const listener of this.listeners) listener(this.state);
    };
    requestAnimationFrame(run);
    // Hidden pages get no frames, and their state must not wait for one.
    setTimeout(run, 100);
  }

  subscribe(listener: (state: State) => void): void {
    this.listeners.push(listener);
  }
}

/** The voyage the views show: the reader's own, else the recorded one. */
export function shownVoyage(state: State): Voyage | undefined {
  return state.voyages[state.shown] ?? state.recorded;
}

/** The set that the page opens with, and the full-size one. */
export const DEMONSTRATION = 'toy10';
export const FULL_SIZE = 'ship13';

/** The preset of the next voyage. */
export function chosenPreset(state: State): Preset | undefined {
  const name = state.place === 'page' ? state.pagePreset : state.serverPreset;
  const known = state.server.state === 'present' && state.place === 'server' ? state.server.presets : state.presets;
  return known.find((p) => p.name === name);
}
