import type { StageExit, StageView } from 'refloat';
import { pack, revive } from '../recorded.js';
import { numbersOf, type MessageKind, type State } from './state.js';

/** What is recorded of a run: all that the page shows of it. */
export interface Run {
  readonly set: string;
  readonly message: Exclude<MessageKind, 'noise'>;
  readonly inputLogQ: number;
  readonly exits: readonly StageExit[];
  readonly views: readonly StageView[];
  /** Output minus input: stored because its precision needs fewer bits than the numbers themselves. */
  readonly errors: Float64Array;
}

/** A recorded run of a set, as the page shows it, opened at the stage where the coefficients stand in slots. */
export function decode(json: unknown): { readonly set: string; readonly shown: Pick<State, 'recorded' | 'message' | 'input' | 'inputLogQ' | 'exits' | 'views' | 'output' | 'at'> } {
  const { made, set, message, inputLogQ, exits, views, errors } = revive(json) as Run & { readonly made: string };
  const input = numbersOf(message, errors.length);
  const at = Math.max(0, views.findIndex((view) => view.stage === 'coeffs_to_slots'));
  return { set, shown: { recorded: made, message, input, inputLogQ, exits, views, output: input.map((x, i) => x + (errors[i] ?? 0)), at } };
}

/** Makes a run storable. */
export function encode(made: string, run: Run): unknown {
  return pack({ made, ...run }, (key, value) => (key === 'expected' || key === 'counters' ? undefined : value));
}
