import { JOURNEY, STATIONS } from './stages.js';
import { shownVoyage, type State, type Store } from './store.js';
import { latest, moments, type Moment } from './voyage.js';

/** Milliseconds that a part of a station stays on screen at speed 1. */
const PART_MS = 260;
/** Milliseconds to read a word. */
const WORD_MS = 180;

/** Milliseconds that a moment stays at speed 1: parts pass quickly, and the text of a station can be read before the next one comes. */
export function stayMs({ station, part }: Moment): number {
  if (part > 0) return PART_MS;
  return STATIONS[JOURNEY[station] ?? 'encrypt'].body.split(' ').length * WORD_MS;
}

/** Moves the selected moment along a voyage. */
export class Player {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly store: Store) {}

  /** Plays from the selected moment, from the start if it is the last one. */
  play(): void {
    const state = this.store.state;
    const voyage = shownVoyage(state);
    if (!voyage) return;
    const all = moments(voyage);
    if (position(all, state.at) >= all.length - 1) this.go(all[0]);
    this.store.update((s) => {
      s.playing = true;
    });
    this.schedule();
  }

  pause(): void {
    clearTimeout(this.timer);
    this.store.update((s) => {
      s.playing = false;
    });
  }

  /** Moves by a number of moments. */
  step(by: number): void {
    const state = this.store.state;
    const voyage = shownVoyage(state);
    if (!voyage) return;
    const all = moments(voyage);
    this.go(all[Math.max(0, Math.min(all.length - 1, position(all, state.at) + by))]);
  }

  private go(moment: Moment | undefined): void {
    if (!moment) return;
    this.store.update((s) => {
      s.at = moment;
      s.following = false;
    });
  }

  private schedule(): void {
    clearTimeout(this.timer);
    const state = this.store.state;
    const wait = stayMs(state.at) / state.speed;
    this.timer = setTimeout(() => {
      if (!this.store.state.playing) return;
      const voyage = shownVoyage(this.store.state);
      if (!voyage) return;
      this.step(1);
      const all = moments(voyage);
      if (position(all, this.store.state.at) >= all.length - 1 && voyage.state !== 'running') this.pause();
      else this.schedule();
    }, wait);
  }
}

/** The index of a moment among all, or of the nearest one before it. */
export function position(all: readonly Moment[], at: Moment): number {
  let best = -1;
  all.forEach((m, i) => {
    if (m.station < at.station || (m.station === at.station && m.part <= at.part)) best = i;
  });
  return best;
}

/** Selects a station, at its latest moment. */
export function selectStation(state: State, station: number): void {
  const voyage = shownVoyage(state);
  state.following = false;
  const all = voyage ? moments(voyage).filter((m) => m.station === station) : [];
  state.at = all[all.length - 1] ?? { station, part: 0 };
  if (voyage?.state === 'running' && latest(voyage).station === station) state.following = true;
}
