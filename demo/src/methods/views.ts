import { count, decimal, duration } from '../format.js';
import { html, type Html } from '../html.js';
import { machineWords } from '../machine.js';
import { byDigits, byGates, crossingOf, gatesOf, slotsToFill, type Recorded } from './data.js';
import { countOf, kindOf, lastPlace, type State } from './state.js';

const seconds = (x: number): string => duration(1000 * x);

/** Controls: what is compared, and how many comparisons. */
export function controls(state: State): Html {
  const { recorded } = state;
  const kind = kindOf(state);
  const asked = countOf(state);
  return html`<div class="triage-tabs choices" role="group" aria-label="Numbers">${(recorded?.crossing.rows ?? []).map(
      ({ numbers }, i) => html`<button type="button" data-act="kind:${i}" aria-pressed="${String(i === state.kind)}">${numbers.split(/[,;]/)[0]}</button>`,
    )}</div>
    ${kind ? html`<label class="digits-follow">How many comparisons <input type="range" data-input="place" min="0" max="${lastPlace(kind)}" step="1" value="${state.place}" aria-valuetext="${asked} comparisons"> <output>${count(asked)}</output></label>` : ''}
    ${state.problem ? html`<p class="problem" role="alert" tabindex="-1">${state.problem}</p>` : ''}`;
}

/** Which way is cheaper for what is asked. */
export function verdict(state: State): Html {
  const kind = kindOf(state);
  if (!kind || !state.recorded) return html``;
  const asked = countOf(state);
  const [gates, digits] = [byGates(kind, asked), byDigits(kind, asked)];
  const way = gates <= digits ? 'gates' : 'digits';
  return html`<p class="methods-verdict" id="outcome"><b>Take ${way}</b>: ${count(asked)} ${asked === 1 ? 'comparison takes' : 'comparisons take'} ${seconds(gates)} by gates and ${seconds(digits)} by digits.</p>
    <p class="hint">Compared: ${kind.numbers}. By gates each pair takes ${kind.rotations === 1 ? 'a blind rotation' : `${kind.rotations} blind rotations`}, the main step of a gate: ${seconds(kind.gatesEach)}. Moving the numbers to the gates and back takes ${seconds(kind.gatesFixed)} more. By digits ${kind.passes === 1 ? 'one pass compares' : `${kind.passes} passes compare`} up to ${count(kind.slots)} pairs in ${seconds(kind.digitsSeconds)}. Of all comparisons made for these figures, ${kind.wrong || 'none'} came out wrong.</p>
    <p class="recorded"><strong>Recorded figures</strong>, printed by <code>refloat reproduce scheme-switching <span class="whole">--crossing</span></code> (${machineWords(state.recorded.crossing.machine)}). Run it on your own machine.</p>`;
}

/** The rules of thumb of the survey beside what was measured. */
export function rules(state: State): Html {
  const { recorded } = state;
  if (!recorded) return html`<p class="empty">The recorded figures are on their way.</p>`;
  return html`<div class="table-scroll methods-words" tabindex="0" role="region" aria-label="Rules"><table id="rules"><thead><tr><th scope="col">Question</th><th scope="col">The survey’s rule</th><th scope="col">Measured here</th></tr></thead><tbody>
    ${recorded.crossing.rows.map((row) => html`<tr><th scope="row">How many comparisons: ${row.numbers}</th><td>gates for up to ${count(row.published)} slots compared</td><td>${crossed(row)}</td></tr>`)}
    <tr><th scope="row">How many bits</th><td>gates for up to 3 to 8 bits</td><td>${bits(recorded)}</td></tr>
    ${filled(recorded).map(([what, words]) => html`<tr><th scope="row">How many slots: ${what}</th><td>CKKS and BGV where many slots are filled</td><td>${words}</td></tr>`)}
  </tbody></table></div>`;
}

function crossed(row: Recorded['crossing']['rows'][number]): string {
  const at = crossingOf(row);
  return at === undefined ? `gates for all ${count(row.atOnce)} comparisons whose results come back at once` : `gates for up to ${count(at)} comparisons, digits beyond`;
}

/** The most bits that a look-up of ours takes at once, and what more bits cost in a comparison. */
function bits({ crossing, survey }: Recorded): string {
  const most = Math.max(...gatesOf(survey.rows).map(({ measured }) => measured?.bits ?? 0));
  const exact = crossing.rows.filter(({ rotations }) => rotations > 1).map(({ numbers, rotations, passes }) => `${numbers.split(',')[0] ?? ''}, ${rotations} rotations by gates or ${passes === 1 ? 'one pass' : `${passes} passes`} by digits`);
  return `one look-up takes at most ${decimal(most, 0)} bits${exact.length ? `; to compare exactly takes, for ${exact.join(', for ')}` : ''}`;
}

/** For each method with slots, the number of slots from which it is faster than gates. */
function filled({ survey }: Recorded): [string, string][] {
  const [gate, lookUp] = [gatesOf(survey.rows)[0], gatesOf(survey.rows).at(-1)];
  if (!gate || !lookUp) return [];
  return survey.rows.flatMap((row): [string, string][] => {
    const [ofGates, ofLookUps] = [slotsToFill(row, gate), slotsToFill(row, lookUp)];
    if (ofGates === undefined || ofLookUps === undefined || !row.measured) return [];
    const { slots } = row.measured;
    const from = (what: string, least: number): string => (least > slots ? `slower than ${what}` : `faster than ${what} from ${count(Math.ceil(least))} numbers on`);
    return [[`${row.method} (${row.params ?? ''})`, `${seconds(row.measured.seconds)} for ${count(slots)} numbers: ${from('gates', ofGates)}, ${from('look-ups', ofLookUps)}`]];
  });
}

/** The sources of the survey's figures and of ours. */
export function sources(state: State): Html {
  if (!state.recorded) return html``;
  const { source, machine } = state.recorded.survey;
  return html`<p class="recorded"><strong>Recorded figures</strong>, printed by <code>refloat reproduce demystifying</code> (${machineWords(machine)}). Published: ${source}.</p>`;
}
