import { RefloatError } from '../errors.js';
import type { IntegerPreset } from './params.js';

/** Integers below the modulus of a set, copied. */
export function integers(values: ArrayLike<number>, { name, modulus, slots }: IntegerPreset): Uint32Array {
  if (values.length > slots) {
    throw new RefloatError('INVALID_ARGUMENT', `${values.length} integers for the ${slots} slots of ${name}: give at most one a slot`);
  }
  return Uint32Array.from(values, (value, index) => {
    if (Number.isInteger(value) && value >= 0 && value < modulus) return value;
    throw new RefloatError('INVALID_ARGUMENT', `entry ${index} is ${value}: integers of ${name} are 0 to ${modulus - 1}`);
  });
}
