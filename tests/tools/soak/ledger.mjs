// Counts what happened; counts never go down.
import { red, say } from '../lib/log.mjs';

/** How many findings of each kind are printed; all are counted. */
const TOLD = 20;

export class Ledger {
  #counts = { accepted: 0, right: 0, cancelled: 0, damaged: 0, healed: 0, lost: 0, wrong: 0, stuck: 0 };

  /** Whether it makes no sense to go on. */
  broken = false;

  /** Counts something good: a job `accepted`, `right` or `cancelled`, reported damage as `damaged`, a key set `healed`. */
  count(what) {
    this.#counts[what] += 1;
  }

  /** Counts something bad, and prints words to find it by. */
  find(what, words) {
    this.#counts[what] += 1;
    if (this.#counts[what] <= TOLD) say(red(`  ${what}: ${words}`));
  }

  /** Counts something that makes it pointless to go on, such as a server that does not come up. */
  breakOff(what, words) {
    this.find(what, words);
    this.broken = true;
  }

  holds() {
    const { accepted, right, lost, wrong, stuck } = this.#counts;
    return accepted > 0 && right > 0 && lost + wrong + stuck === 0;
  }

  /** Jobs that ended with the right result. */
  get right() {
    return this.#counts.right;
  }

  /** Jobs that reported bytes altered on disk. */
  get damaged() {
    return this.#counts.damaged;
  }

  /** Key sets that were uploaded again where they were damaged. */
  get healed() {
    return this.#counts.healed;
  }

  /** How many things are gone or did not end. */
  get lost() {
    return this.#counts.lost + this.#counts.stuck;
  }

  /** How many things are wrong. */
  get wrong() {
    return this.#counts.wrong;
  }

  line() {
    const { accepted, right, cancelled, damaged, healed, lost, wrong, stuck } = this.#counts;
    return (
      `${accepted} jobs accepted, ${right} done and right, ${cancelled} cancelled, ${damaged} damaged and saying so, ` +
      `${healed} key sets healed; ${lost} lost, ${wrong} wrong, ${stuck} stuck`
    );
  }
}
