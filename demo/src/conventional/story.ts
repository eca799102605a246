import { html, trusted, type Html } from '../html.js';
import { reached } from '../staged.js';
import { fullAfter } from './full-size.js';
import type { State } from './state.js';

/** What the text says about a stage. */
interface Told {
  readonly title: string;
  readonly formula: Html;
  readonly body: Html;
}

const EXHAUSTED: Told = {
  title: 'Exhausted',
  formula: trusted('<i>b</i> + <i>a</i>·<i>s</i> = <i>m</i> mod <i>q</i><sub>0</sub>'),
  body: trusted('A ciphertext is a pair of polynomials, b and a. With the secret key s, b + a·s gives the message, modulo a product of many primes. Every multiplication of ciphertexts divides by one of them, which is called spending a level. Here only q<sub>0</sub> is left: no multiplication fits any more, and the ciphertext is exhausted. Every coefficient m of the message is small beside q<sub>0</sub>, so all dots lie near 0.'),
};

/** By the stage's name in its events. */
const STAGES: Readonly<Record<string, Told>> = {
  mod_raise: {
    title: 'Raise the modulus',
    formula: trusted('<i>b</i> + <i>a</i>·<i>s</i> = <i>m</i> + <i>q</i><sub>0</sub><i>I</i> mod <i>Q</i>'),
    body: trusted('The same two polynomials are read modulo a large Q. Multiples of q<sub>0</sub>, which were as good as 0 before, now count, and every coefficient has one: q<sub>0</sub> times an integer I, which nobody chose and nobody sees without the key. The dots spread over the columns of a comb. The time goes into two key switches, which put the ciphertext under another secret key, one with more zeros, and back again: the more zeros, the smaller the integers.'),
  },
  sub_sum: {
    title: 'Sum over rotations',
    formula: trusted('Σ rot(<i>c</i>)'),
    body: trusted('A message of few slots has few coefficients. Those between them should be 0, and now hold multiples of q<sub>0</sub> too. When rotations of the ciphertext are added up, these cancel; the message’s own coefficients keep their integers.'),
  },
  coeffs_to_slots: {
    title: 'Coefficients to slots',
    formula: trusted('slot <i>j</i> = <i>x<sub>j</sub></i> = <i>m<sub>j</sub></i>/<i>q</i><sub>0</sub> + <i>I<sub>j</sub></i>'),
    body: trusted('The numbers that were encrypted are the values of the message’s polynomial at certain points, called slots, and ciphertexts are multiplied slot by slot. The integers I are in its coefficients. So a linear transform moves every coefficient into a slot. The comb is the same as before, but now a polynomial can be evaluated at all its dots at once.'),
  },
  eval_mod: {
    title: 'Reduce modulo q₀',
    formula: trusted('<i>x</i> → <i>x</i> − round(<i>x</i>)'),
    body: trusted('A polynomial that is close to x − round(x) near every integer is evaluated in all slots. It consists of multiplications, so most levels are spent here. All dots fall into the column of 0: the integers are gone, and whoever computed this never learnt them.'),
  },
  slots_to_coeffs: {
    title: 'Slots to coefficients',
    formula: trusted('coefficient <i>j</i> = <i>m<sub>j</sub></i>'),
    body: trusted('The linear transform back: what was moved into slots becomes coefficients again, and the numbers that were encrypted are back in their slots. The message is the one that came, and there are levels for products again.'),
  },
};

/** The stages as steps of a text. */
export function story(state: State): Html {
  const stages = state.preset?.stages.map(({ id }) => id) ?? state.exits.map(({ stage }) => stage);
  const steps = [{ ...EXHAUSTED, full: fullAfter(undefined) }, ...stages.flatMap((id) => (STAGES[id] ? [{ ...STAGES[id], full: fullAfter(id) }] : []))];
  return html`<ol class="scroll-steps">${steps.map(
    ({ title, formula, body, full }, i) => html`<li class="story-inner" data-scroll-step${state.at === i ? html` aria-current="step"` : ''}>
      <p class="story-count">${i + 1}<span> of ${steps.length}</span></p><h3>${title}</h3><p class="formula">${formula}</p><p>${body}</p>${full ? html`<p class="hint">${full}</p>` : ''}${reached(state, i) ? '' : html`<p class="story-underway">Not reached yet.</p>`}
    </li>`,
  )}</ol>`;
}
