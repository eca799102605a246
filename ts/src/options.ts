import type { SlotMode } from './params.js';

/** Options of `KeySet.encrypt`. */
export interface EncryptChoices {
  /** What the slots are to hold; by default `params.mode`. Sets of reals take complex numbers too. */
  readonly mode?: SlotMode;
  /** Level of the ciphertext; by default the highest usable one, `params.outputLevel`. */
  readonly level?: number;
  /** 32 bytes that fix the randomness; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array;
}

/** Options of every bootstrapping, here or on a server. */
export interface RoundsChoice {
  /**
   * Rounds of META-BTS, 1 by default: a further one takes a bootstrapping of its own and adds
   * `params.gainBits` bits, up to the noise of the ciphertext. Several take one level together:
   * the result is one below `params.outputLevel`. Numbers only, not bits.
   */
  readonly rounds?: number;
}

/** Options of `KeySet.bootstrap`. */
export interface BootstrapChoices extends RoundsChoice {
  /**
   * Adds `view` events: what the ciphertexts hold after each step, decrypted here. Errors are
   * counted from `message`, the numbers that were encrypted, or with `true` from what the input
   * decrypts to. Not with several rounds.
   */
  readonly inspect?: boolean | { readonly message: ArrayLike<number> };
}

/** The numbers to compare with, in a copy of our own. */
export function oracle(inspect: BootstrapChoices['inspect']): Float64Array | undefined {
  return typeof inspect === 'object' ? Float64Array.from(inspect.message) : undefined;
}
