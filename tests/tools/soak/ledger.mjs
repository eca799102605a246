// What happened, counted: nothing is taken off again.
import { red, say } from '../lib/log.mjs';

/** Findings of each kind that are told in words; all are counted. */
const TOLD = 20;

export class Ledger {
  #counts = { accepted: 0, right: 0, cancelled: 0, damaged: 0, healed: 0, lost: 0, wrong: 0, stuck: 0 };

  /** Whether it makes no sense to go on. */
  broken = false;

  /** Counts something good: a job `accepted`, `right`, `cancelled`, `damaged` and said so, a set `healed`. */
  count(what) {
    this.#counts[what] += 1;
  }

  /** Counts something bad, with the words to find it by. */
  find(what, words) {
    this.#counts[what] += 1;
    if (this.#counts[what] <= TOLD) say(red(`  ${what}: ${words}`));
  }

  /** The server does not come up, or the like. */
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

  /** What was altered on disk and said so. */
  get damaged() {
    return this.#counts.damaged;
  }

  /** Key sets that were uploaded again where they were damaged. */
  get healed() {
    return this.#counts.healed;
  }

  /** What is gone or came to no end. */
  get lost() {
    return this.#counts.lost + this.#counts.stuck;
  }

  /** What is not right. */
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
