import { listOf, named, shown } from '../api/arguments.js';
import { RefloatError } from '../errors.js';

/** Refuses numbers that would be rounded on their way into wasm. */
export function natural(value: number, what: string): number {
  if (Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value;
  throw new RefloatError('INVALID_ARGUMENT', `${what} is ${shown(value)}; give an integer that is not negative`);
}

/** A bit of a list, as 0 or 1. */
export function bit(value: unknown, index: number): number {
  if (typeof value === 'boolean' || value === 0 || value === 1) return Number(value);
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `entry ${index} of what encrypt() got is ${named(value)}: bits are true and false; for integers there is encryptIntegers()`,
  );
}

/** Refuses a range that a list does not have. */
export function sliceRange(start: number, end: number, length: number): void {
  if (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end > start && end <= length) return;
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `items ${start} to ${end} of a list of ${length}; take at least one that it has`,
  );
}

/** Refuses a gate with a wrong number of operands, or with operands of different lengths. */
export function checkOperands(gate: string, lengths: readonly number[]): void {
  const arity = arityOf(gate);
  if (lengths.length !== arity) {
    throw new RefloatError('INVALID_ARGUMENT', `gate ${gate} takes ${arity} operands, ${lengths.length} were given`);
  }
  equallyLong(lengths);
}

/** Refuses lists of different lengths. */
export function equallyLong(lengths: readonly number[]): void {
  const different = new Set(lengths);
  if (different.size <= 1) return;
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `operands of ${[...different].join(' and ')} items; give lists of the same length`,
  );
}

/** The table of a look-up and the number of messages of its results, checked. */
export function checkTable(table: readonly number[], messages: number): [entries: Uint32Array, messages: number] {
  listOf(table, 'a look-up', 'a table, a list with the result for each message');
  for (const entry of table) natural(entry, 'an entry of the table');
  return [Uint32Array.from(table), natural(messages, 'messages')];
}

/** The text of a circuit that is given as text or as a description. */
export function circuitText(circuit: unknown, where: string): string {
  const text = typeof circuit === 'object' && circuit !== null ? (circuit as { readonly text?: unknown }).text : circuit;
  if (typeof text === 'string') return text;
  throw new RefloatError('INVALID_ARGUMENT', `${where} takes a circuit, of rf.gates.circuit() or as text, and got ${named(circuit)}`);
}

/** Terms of a sum, which are pairs. */
export function checkTerms(terms: readonly unknown[]): void {
  if (!Array.isArray(terms)) throw new RefloatError('INVALID_ARGUMENT', `sum() takes a list of pairs [weight, ciphertext], and got ${named(terms)}`);
  for (const term of terms as readonly unknown[]) {
    if (Array.isArray(term) && term.length === 2) continue;
    throw new RefloatError('INVALID_ARGUMENT', `sum() takes pairs [weight, ciphertext], and got ${named(term)}; pass [1, x] for x`);
  }
}

/** The weights of a sum, checked. */
export function checkWeights(weights: readonly number[]): Int32Array {
  for (const weight of weights) {
    if (!Number.isInteger(weight) || Math.abs(weight) >= 2 ** 31) {
      throw new RefloatError('INVALID_ARGUMENT', `a weight is ${shown(weight)}; give an integer below 2^31`);
    }
  }
  return Int32Array.from(weights);
}

/** Refuses operands that are not bits, or more bits than integers below `messages` have. */
export function checkJoined(bits: readonly { readonly messages: number }[], messages: number): void {
  for (const [place, bit] of bits.entries()) {
    if (bit?.messages === 0) continue;
    const what = typeof bit?.messages === 'number' ? `integers below ${bit.messages}` : named(bit);
    throw new RefloatError('INVALID_ARGUMENT', `entry ${place} of what fromBits() got is ${what}; pass encrypted bits, the lowest first`);
  }
  if (bits.length > 0 && 2 ** bits.length <= natural(messages, 'messages')) return;
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `${bits.length} bits for integers below ${messages}; pass from 1 to ${Math.floor(Math.log2(messages))}, or more messages`,
  );
}

/** The bits of an integer, the lowest first. */
export function bitsOf(value: number | bigint, width: number): Uint32Array {
  if (typeof width !== 'number') {
    throw new RefloatError('INVALID_ARGUMENT', `encryptBinary() takes a width in bits after the integer, and got ${named(width)}; pass one, such as 8`);
  }
  const whole = typeof value === 'bigint' || Number.isSafeInteger(value);
  if (Number.isInteger(width) && width >= 1 && width <= 4096 && whole && value >= 0) {
    const all = BigInt(value);
    if (all >> BigInt(width) === 0n) return Uint32Array.from({ length: width }, (_, i) => Number((all >> BigInt(i)) & 1n));
  }
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `${named(value)} does not fit in ${width} bits; pass an integer from 0, as a bigint above 2^53, and as many bits as it needs, up to 4096`,
  );
}

/** Refuses to read integers as bits, and ciphertexts of another scheme. */
export function checkBits(ciphertext: { readonly messages: number }): void {
  const messages: unknown = ciphertext?.messages;
  if (messages === 0) return;
  if (typeof messages !== 'number') {
    throw new RefloatError(
      'INVALID_ARGUMENT',
      `a key set for gates decrypts lists of bits or integers that were encrypted under it, and got ${named(ciphertext)}; decrypt that with the key set that encrypted it`,
    );
  }
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `the ciphertext holds integers below ${messages}, not bits; decrypt it with decryptIntegers()`,
  );
}

function arityOf(gate: string): number {
  if (gate === 'not') return 1;
  return gate === 'mux' || gate.endsWith('3') ? 3 : 2;
}
