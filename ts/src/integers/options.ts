import { FLAG, NUMBER, type Kinds } from '../api/check-options.js';
import { ROTATIONS, SEED, SIGNAL, type SignalOptions } from '../api/options.js';
import { JOB_OPERATIONS } from '../sets.js';

/** @internal */
export const INTEGER_OPERATIONS = JOB_OPERATIONS.bgv;

/** The operations of a job on integers, in order: `multiply` takes the next of the job's inputs. */
export type IntegerOp = (typeof INTEGER_OPERATIONS)[number];

/** Options of `IntegerKeySet.encrypt` and `IntegerPublicKey.encrypt`. */
export interface IntegerEncryptOptions extends SignalOptions {
  /** Level of the ciphertext; by default the highest usable one, `params.outputLevel`. */
  readonly level?: number | undefined;
  /** 32 bytes that fix the randomness; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array | undefined;
}

/** @internal */
export const ENCRYPT: Kinds<IntegerEncryptOptions> = { ...SIGNAL, level: NUMBER, seed: SEED };

/** Options of `IntegerKeySet.arithmeticKeys`. */
export interface IntegerArithmeticKeysOptions extends SignalOptions {
  /**
   * Rotations of the rows to make keys for; other rotations are composed of these, with one key switch each. By default the powers of two,
   * of which every rotation is composed; `[]` for none.
   */
  readonly rotations?: readonly number[] | undefined;
  /** Whether to make the key that exchanges the two rows; `false` by default. */
  readonly swapRows?: boolean | undefined;
}

/** @internal */
export const ARITHMETIC_KEYS: Kinds<IntegerArithmeticKeysOptions> = { ...SIGNAL, rotations: ROTATIONS, swapRows: FLAG };
