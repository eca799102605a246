import { html, trusted, type Html } from '../html.js';
import { reached, type State } from './state.js';

/** What the text says of a stage. */
interface Told {
  readonly title: string;
  readonly formula: Html;
  readonly body: Html;
}

const EXHAUSTED: Told = {
  title: 'Exhausted',
  formula: trusted('<i>b</i> + <i>a</i>·<i>s</i> = <i>m</i> mod <i>q</i><sub>0</sub>'),
  body: trusted('One small modulus is left, q<sub>0</sub>. Every coefficient is known modulo q<sub>0</sub> alone: a message m, small beside it, so that all dots lie near 0. No modulus is left to spend, and a product would not fit.'),
};

/** By the stage's name in its events. */
const STAGES: Readonly<Record<string, Told>> = {
  mod_raise: {
    title: 'Raise the modulus',
    formula: trusted('<i>b</i> + <i>a</i>·<i>s</i> = <i>m</i> + <i>q</i><sub>0</sub><i>I</i> mod <i>Q</i>'),
    body: trusted('The same two polynomials are read modulo a large Q. Nothing is computed. But a multiple of q<sub>0</sub>, which was nothing before, now counts, and every coefficient has one. Nobody chose these integers I, and only the key can see them. The dots spread over the teeth of a comb.'),
  },
  sub_sum: {
    title: 'Sum over rotations',
    formula: trusted('Σ rot(<i>c</i>)'),
    body: trusted('A message of few slots has few coefficients, with others between them that should be 0 and now hold multiples of q<sub>0</sub> too. Adding up rotations of the ciphertext clears those; the message’s own coefficients keep their integers.'),
  },
  coeffs_to_slots: {
    title: 'Coefficients to slots',
    formula: trusted('slot <i>j</i> = <i>x<sub>j</sub></i> = <i>m<sub>j</sub></i>/<i>q</i><sub>0</sub> + <i>I<sub>j</sub></i>'),
    body: trusted('Products of ciphertexts act slot by slot, never on coefficients. So a linear transform moves every coefficient into a slot. The comb is the same as before, but now one polynomial can be taken of all its dots at once.'),
  },
  eval_mod: {
    title: 'Reduce modulo q₀',
    formula: trusted('<i>x</i> → <i>x</i> − round(<i>x</i>)'),
    body: trusted('A polynomial that is close to x − round(x) about every integer is evaluated on the slots. Most of the modulus is spent here. The teeth fall onto the one at 0: the integers are gone, and whoever computed never learnt them.'),
  },
  slots_to_coeffs: {
    title: 'Slots to coefficients',
    formula: trusted('coefficient <i>j</i> = <i>m<sub>j</sub></i>'),
    body: trusted('The linear transform back: what was in the slots goes where it belongs, into the coefficients. The message is the one that came, and there is modulus to spend again.'),
  },
};

/** The stages as steps of a text. */
export function story(state: State): Html {
  const stages = state.preset?.stages.map(({ id }) => id) ?? state.exits.map(({ stage }) => stage);
  const steps = [EXHAUSTED, ...stages.flatMap((id) => STAGES[id] ?? [])];
  return html`<ol class="scroll-steps">${steps.map(
    ({ title, formula, body }, i) => html`<li class="story-inner" data-scroll-step${state.at === i ? html` aria-current="step"` : ''}>
      <p class="story-count">${i + 1}<span> of ${steps.length}</span></p><h3>${title}</h3><p class="formula">${formula}</p><p>${body}</p>${reached(state, i) ? '' : html`<p class="story-underway">Not reached yet.</p>`}
    </li>`,
  )}</ol>`;
}
