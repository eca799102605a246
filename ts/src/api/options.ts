import type { SlotMode } from '../params.js';
import { FLAG, NUMBER, oneOf, tagged, type Kind, type Kinds } from './check-options.js';

/** Options of every call that can be stopped. */
export interface SignalOptions {
  /** Rejects the call at once with the signal's reason; what the page is still computing then is finished unseen and dropped. */
  readonly signal?: AbortSignal | undefined;
}

/** @internal */
export const SIGNAL: Kinds<SignalOptions> = { signal: tagged('AbortSignal', 'an AbortSignal, such as the `signal` of an AbortController') };

/** @internal */
export const SEED: Kind = tagged('Uint8Array', 'a Uint8Array of 32 bytes');

/** @internal */
export const MODE: Kind = oneOf('real', 'complex', 'bits');

/** @internal */
export const ROTATIONS: Kind = [(value) => Array.isArray(value) || ArrayBuffer.isView(value), 'a list of integers, such as [1, -2]'];

/** Options of `KeySet.encrypt` and `PublicKey.encrypt`. */
export interface EncryptOptions extends SignalOptions {
  /** What the slots are to hold; by default `params.mode`. Sets of reals take complex numbers too. */
  readonly mode?: SlotMode | undefined;
  /** Level of the ciphertext; by default the highest usable one, `params.outputLevel`. */
  readonly level?: number | undefined;
  /** 32 bytes that fix the randomness; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array | undefined;
}

/** @internal */
export const ENCRYPT: Kinds<EncryptOptions> = { ...SIGNAL, mode: MODE, level: NUMBER, seed: SEED };

/** Options of `Refloat.importKeys` and `publicKeyFromBytes`. */
export interface ImportOptions extends SignalOptions {
  /** Needed for sets whose `secure` is false: toys that show how things work and protect nothing. */
  readonly allowInsecure?: boolean | undefined;
}

/** @internal */
export const IMPORT: Kinds<ImportOptions> = { ...SIGNAL, allowInsecure: FLAG };

/** Options of `Refloat.keygen`. */
export interface KeygenOptions extends ImportOptions {
  /** 32 bytes that fix the key; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array | undefined;
}

/** @internal */
export const KEYGEN: Kinds<KeygenOptions> = { ...IMPORT, seed: SEED };

/** Options of every bootstrapping, here or on a server. */
export interface RoundsChoice {
  /**
   * Rounds of META-BTS, 1 by default. Each further round takes a bootstrapping of its own and adds
   * `params.gainBits` bits, up to the noise of the ciphertext. More than one take one level together:
   * the result is one below `params.outputLevel`. For numbers only, not bits.
   */
  readonly rounds?: number | undefined;
}

/** @internal */
export const ROUNDS: Kinds<RoundsChoice> = { rounds: NUMBER };
