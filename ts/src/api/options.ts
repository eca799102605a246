/** Options that every call with a way to stop has. */
export interface SignalOptions {
  /** Stops the operation; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `Refloat.importKeys`. */
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
