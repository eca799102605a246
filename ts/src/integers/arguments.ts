import { listOf, shown } from '../api/arguments.js';
import { setName, unpacked } from '../api/sets.js';
import { INTEGERS } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import type { IntegerPreset } from './params.js';

/** A parameter set by name. @internal */
export async function integerPreset(port: Port, name: string): Promise<IntegerPreset> {
  return unpacked(await port.call(INTEGERS, 'integerPreset', setName(name))) as IntegerPreset;
}

/** Integers below the modulus of a set, copied. */
export function integers(values: ArrayLike<number>, { name, modulus, slots, slotDegree }: IntegerPreset): Uint32Array {
  listOf(values, 'a ciphertext of integers', 'a list of integers, such as [3, 1, 4] or a typed array');
  if (values.length > slots * slotDegree) {
    const most = slotDegree === 1 ? 'one' : String(slotDegree);
    throw new RefloatError('INVALID_ARGUMENT', `${values.length} integers for the ${slots} slots of ${name}; give at most ${most} a slot`);
  }
  return Uint32Array.from(values, (value, index) => {
    if (Number.isInteger(value) && value >= 0 && value < modulus) return value;
    const repair = Number.isSafeInteger(value)
      ? `they count modulo ${modulus}, so write ${value} as ${((value % modulus) + modulus) % modulus}`
      : 'pass whole numbers';
    throw new RefloatError('INVALID_ARGUMENT', `entry ${index} is ${shown(value)}, and integers of ${name} are 0 to ${modulus - 1}; ${repair}`);
  });
}

/** The same integer c in every slot. In a normal basis whose elements sum to -1, every coordinate of c is -c. */
export function everywhere(value: number, params: IntegerPreset): Uint32Array {
  const { modulus, slots, slotDegree } = params;
  const [own = 0] = integers([value], params);
  return new Uint32Array(slots * slotDegree).fill(slotDegree === 1 ? own : (modulus - own) % modulus);
}
