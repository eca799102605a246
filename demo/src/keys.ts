import type { KeyProgress } from 'refloat/client';
import type { Freed } from './shell.js';
import { whileWanted } from './abortable.js';

/** What making keys took. */
export interface Made {
  readonly seconds: number;
  readonly megabytes: number;
}

/** A secret key, and the keys that others compute with. */
export interface KeyPair<S, K> {
  readonly secret: S;
  readonly evaluation: K;
  readonly made: Made;
}

/** Frees both keys once they have been made. */
export function freeOnceMade(pair: Promise<{ readonly secret: Freed; readonly evaluation: Freed }> | undefined): void {
  void pair?.then(
    ({ secret, evaluation }) => {
      evaluation.free();
      secret.free();
    },
    () => undefined, // They were never made.
  );
}

/** Keys that are made at their first use and freed together. */
export class KeysOnce<S extends Freed, K extends Freed & { readonly memoryBytes: number }> {
  #pair: Promise<KeyPair<S, K>> | undefined;

  constructor(
    private readonly keygen: () => Promise<S>,
    private readonly evaluationKeys: (secret: S, signal: AbortSignal) => AsyncIterable<KeyProgress> & PromiseLike<K>,
  ) {}

  /** The keys; while they are being made, `progress` is called with the bytes done and their total. */
  of(signal: AbortSignal, progress: (done: number, total: number) => void): Promise<KeyPair<S, K>> {
    const pair = (this.#pair ??= this.#make(signal, progress));
    // A failed attempt can be repeated.
    pair.catch(() => this.#pair === pair && (this.#pair = undefined));
    return pair;
  }

  /** What making the keys took, if they exist. */
  async made(): Promise<Made | undefined> {
    return (await this.#pair?.catch(() => undefined))?.made;
  }

  /** Frees the keys: the next use makes others. */
  forget(): void {
    freeOnceMade(this.#pair);
    this.#pair = undefined;
  }

  async #make(signal: AbortSignal, progress: (done: number, total: number) => void): Promise<KeyPair<S, K>> {
    const began = performance.now();
    const secret = await whileWanted(signal, this.keygen());
    try {
      const making = this.evaluationKeys(secret, signal);
      for await (const event of making) progress(event.bytes, event.totalBytes);
      const evaluation = await making;
      return { secret, evaluation, made: { seconds: (performance.now() - began) / 1000, megabytes: evaluation.memoryBytes / 1e6 } };
    } catch (error) {
      secret.free();
      throw error;
    }
  }
}
