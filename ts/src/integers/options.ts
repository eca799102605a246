import { NUMBER, type Kinds } from '../api/check-options.js';
import { SEED, SIGNAL, type SignalOptions } from '../api/options.js';
import { JOB_OPERATIONS } from '../sets.js';

/** @internal */
export const INTEGER_OPERATIONS = JOB_OPERATIONS.bgv;

/** The operations of a job on integers, in order: `multiply` takes the next of the job's inputs. */
export type IntegerOp = (typeof INTEGER_OPERATIONS)[number];

/** Options of `IntegerKeySet.encrypt` and `IntegerPublicKey.encrypt`. */
export interface IntegerEncryptOptions extends SignalOptions {
  /** Level of the ciphertext; by default the highest usable one, `params.outputLevel`. */
  readonly level?: number;
  /** 32 bytes that fix the randomness; only for sets that are insecure anyway, for tests. */
  readonly seed?: Uint8Array;
}

/** @internal */
export const ENCRYPT: Kinds<IntegerEncryptOptions> = { ...SIGNAL, level: NUMBER, seed: SEED };
