import type { GateKeySet, GateKeys, Refloat } from 'refloat/client';
import { freeOnceMade } from '../keys.js';
import { whileWanted } from '../abortable.js';
import type { Made } from './views.js';

/** Secret and evaluation keys of a set. */
export interface Pair {
  readonly secret: GateKeySet;
  readonly evaluation: GateKeys;
  readonly made: Made;
}

/** The keys of one part of the page: made at the first use, and made anew for another set. */
export class Keyring {
  readonly #library: Promise<Refloat>;
  #set = '';
  #pair: Promise<Pair> | undefined;

  constructor(library: Promise<Refloat>) {
    this.#library = library;
  }

  /** The keys of a set; the keys of any other set are freed. */
  async of(set: string, signal: AbortSignal): Promise<Pair> {
    if (this.#set !== set) {
      this.forget();
    }
    this.#set = set;
    const pair = (this.#pair ??= this.#make(set, signal));
    // A failed attempt can be repeated.
    pair.catch(() => this.#pair === pair && (this.#pair = undefined));
    return pair;
  }

  /** Frees the keys: the next use makes others. */
  forget(): void {
    freeOnceMade(this.#pair);
    this.#pair = undefined;
  }

  async #make(set: string, signal: AbortSignal): Promise<Pair> {
    const rf = await this.#library;
    const began = performance.now();
    const secret = await whileWanted(signal, rf.gates.keygen(set, { allowInsecure: set.startsWith('toy-') }));
    const evaluation = await secret.evaluationKeys({ signal }).catch((error: unknown) => {
      secret.free();
      throw error;
    });
    const { secure, logFailure } = secret.params;
    return { secret, evaluation, made: { seconds: (performance.now() - began) / 1000, megabytes: evaluation.memoryBytes / 1e6, secure, logFailure } };
  }
}
