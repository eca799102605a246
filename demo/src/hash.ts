import { isStation, JOURNEY, stationIndex } from './stages.js';
import type { State } from './store.js';

/** What an address says about the page. */
export interface Place {
  readonly where?: 'page' | 'server';
  readonly set?: string;
  readonly input?: string;
  readonly station?: number;
  readonly part?: number;
}

/** Reads `#where=page&set=toy10&input=boat&stage=blind_rotate&part=3`; unknown words are ignored. */
export function readHash(hash: string): Place {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const where = query.get('where');
  const stage = query.get('stage');
  const part = Number(query.get('part'));
  const set = query.get('set');
  const input = query.get('input');
  return {
    ...(where === 'page' || where === 'server' ? { where } : {}),
    ...(set && /^[a-z0-9-]{1,40}$/.test(set) ? { set } : {}),
    ...(input && /^[a-z]{1,10}$/.test(input) ? { input } : {}),
    ...(stage && isStation(stage) ? { station: stationIndex(stage) } : {}),
    ...(Number.isInteger(part) && part > 0 && part < 1000 ? { part } : {}),
  };
}

/** The address of a state. */
export function writeHash(state: State): string {
  const query = new URLSearchParams({
    where: state.shown,
    set: state.shown === 'page' ? state.pagePreset : state.serverPreset,
    input: state.input.kind,
    stage: JOURNEY[state.at.station] ?? 'encrypt',
  });
  if (state.at.part > 0) query.set('part', String(state.at.part));
  return `#${query.toString()}`;
}
