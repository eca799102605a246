import type { SlotMode } from '../params.js';

/** Options that every call with a way to stop has. */
export interface SignalOptions {
  /** Stops the operation; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `KeySet.encrypt` and `PublicKey.encrypt`. */
export interface EncryptOptions extends SignalOptions {
  /** What the slots are to hold; by default `params.mode`. Sets of reals take complex numbers too. */
  readonly mode?: SlotMode;
  /** Level of the ciphertext; by default the highest usable one, `params.outputLevel`. */
  readonly level?: number;
  /** 32 bytes that fix the randomness; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array;
}

/** Options of `Refloat.importKeys` and `publicKeyFromBytes`. */
export interface ImportOptions extends SignalOptions {
  /** Needed for sets whose `secure` is false: toys that show how things work and protect nothing. */
  readonly allowInsecure?: boolean;
}

/** Options of `Refloat.keygen`. */
export interface KeygenOptions extends ImportOptions {
  /** 32 bytes that fix the key; only for sets that are insecure anyway, for tests. */
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
