import { RefloatError } from '../errors.js';

/** Repairs as the core words them, each with what a caller of this package does instead. */
export type Repairs = readonly (readonly [core: string, here: string])[];

/** Passes on what is waited for; a repair in its error is said in the terms of this package. */
export async function repaired<T>(waiting: PromiseLike<T>, repairs: Repairs): Promise<T> {
  try {
    return await waiting;
  } catch (error) {
    const found = error instanceof RefloatError ? repairs.find(([core]) => core === error.repair) : undefined;
    if (!found || !(error instanceof RefloatError)) throw error;
    const [core, here] = found;
    const message = error.message.replace(`; ${core}`, () => `; ${here}`);
    throw new RefloatError(error.code, message, { cause: error, ...(error.problem ? { problem: error.problem } : {}) });
  }
}

const CONJUGATION = 'make it with arithmeticKeys({ conjugation: true })';
const ROTATIONS = 'arithmeticKeys() makes keys for all powers of two, and arithmeticKeys({ rotations: [1] }) one for a rotation by 1';
const ELSEWHERE = 'run it with the keys of bootstrapKeys(), or on a server that has them';

/** For keys without bootstraps, which have only the keys that they were made with. */
export const ARITHMETIC: Repairs = [
  ['make keys that have it', CONJUGATION],
  ['make one', CONJUGATION],
  ['make keys for the powers of two', ROTATIONS],
  ['encrypt the inputs at a higher level, or take a set that bootstraps', `these keys have no bootstraps: encrypt the inputs at a higher level, or ${ELSEWHERE}`],
  ['use a set that bootstraps', ELSEWHERE],
];

const ON_INTEGERS = 'run it with the keys of evaluationKeys(), or on a server that has them';

/** The same for exact integers. */
export const INTEGER_ARITHMETIC: Repairs = [
  ['make keys that have it', 'make it with arithmeticKeys({ swapRows: true })'],
  ['make keys for the powers of two', ROTATIONS],
  ['encrypt the inputs at a higher level, or take a set that bootstraps', `these keys have no bootstraps: encrypt the inputs at a higher level, or ${ON_INTEGERS}`],
  ['use a set that bootstraps', ON_INTEGERS],
];

/** For operations that are applied one after the other. */
export const OPERATIONS: Repairs = [
  [
    'encrypt the inputs at a higher level, bootstrap before, or ask for bootstraps where they are needed',
    "encrypt at a higher level, or put 'bootstrap' between the squares: { op: ['square', 'bootstrap', 'square'] }",
  ],
];
