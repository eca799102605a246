import type { Standings } from './graph.js';
import type { Journey } from './journey.js';
import type { State } from './views.js';

/** A run as JSON: each patient as diagnosis, encrypted score, score in the clear, exact score. */
export interface RecordedScores {
  readonly made: string;
  readonly set: string;
  readonly seconds: number;
  readonly sent: number;
  readonly rows: readonly (readonly [malignant: 0 | 1, encrypted: number, clear: number, exact: number])[];
  readonly journey: Journey;
  readonly standings: Standings;
}

/** A recorded run as the page shows it. */
export function decode({ made, set, seconds, sent, rows, journey, standings }: RecordedScores): Pick<State, 'ran' | 'seconds' | 'sent' | 'rows' | 'journey' | 'standings'> {
  return {
    ran: { set, by: made, recorded: true },
    seconds,
    sent,
    rows: rows.map(([malignant, encrypted, clear, exact]) => ({ malignant: malignant === 1, encrypted, clear, exact })),
    journey,
    standings,
  };
}
