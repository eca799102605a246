// What pages share that show a run stage by stage.
import type { SetInfo, StageExit, StageId } from 'refloat';
import { decimal, duration } from './format.js';
import { html, type Html } from './html.js';
import type { Made } from './keys.js';
import { levelsOf, levelsWithin } from './levels.js';
import type { Making } from './shell.js';
import { scrolled } from './views/making.js';
import { n } from './views/svg.js';

/** The state of such a page; `V` is what it knows of a ciphertext of the run. */
export interface Staged<V, S = StageId> extends Making {
  preset: SetInfo | undefined;
  /** The keys of the current set: made in this tab, or sent to the server. */
  keys: Made | undefined;
  /** log2 of the modulus of the input's ciphertext. */
  inputLogQ: number;
  /** What made the run that is shown, unless it was the reader. */
  recorded: string | undefined;
  /** The stage under way. */
  under: string | undefined;
  /** Views of the run, in order: the input's, then one for each stage. */
  views: readonly V[];
  exits: readonly StageExit<S>[];
  /** The stage that is shown, as an index into `views`; the run may not have reached it. */
  at: number;
}

/** Has the run finished its first `i` stages? 0 stands for the input. */
export function reached({ views, exits }: Pick<Staged<unknown, string>, 'views' | 'exits'>, i: number): boolean {
  return i === 0 ? views.length > 0 : exits.length >= i;
}

/**
 * The stages as a row of buttons, with the modulus as the water level in each. `told` is what a view says in a line of its own, if
 * anything. `awaited` says that the stage under way is one of another run than the one shown.
 */
export function stageRow<V>(state: Staged<V | undefined, string>, told: (view: V | undefined) => string | Html | undefined, awaited = false): Html {
  const { preset, views, exits } = state;
  if (!preset) return html``;
  const titles = [['input', 'Exhausted'] as const, ...preset.stages.map((stage) => [stage.id, stage.title] as const)];
  return html`<ol class="conv-stages" data-steps aria-label="Stages"${scrolled(views)}>${titles.map(([id, title], i) => {
    const exit = exits[i - 1];
    const done = reached(state, i);
    const logQ = i === 0 ? (done ? state.inputLogQ : 0) : (exit?.logQ ?? 0);
    const level = i === 0 ? preset.inputLevel : (exit?.level ?? 0);
    const levels = i === 0 || i + 1 === titles.length ? levelsOf(level, preset.inputLevel) : levelsWithin(level, preset.outputLevel);
    const lines = [levels, `${decimal(logQ, 0)}-bit modulus`, told(views[i]), exit && duration(exit.atMs - (exits[i - 2]?.atMs ?? 0))].filter((line) => line !== undefined);
    const words = state.under === id && (awaited || !done) ? 'under way' : done ? lines.map((line, k) => html`${k > 0 ? html`<br>` : ''}${line}`) : 'not reached';
    return html`<li><button type="button" data-act="at:${i}" aria-pressed="${state.at === i && done ? 'true' : 'false'}" ${done ? '' : 'disabled'}><span class="conv-well" aria-hidden="true"><span style="height:${n((100 * logQ) / preset.logQP)}%"></span></span><b>${title}</b><small>${words}</small></button></li>`;
  })}</ol>`;
}
