import { RefloatError } from '../errors.js';

/** A passed value, as an error message names it. */
export function named(value: unknown): string {
  if (value === undefined || value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'bigint') return `the bigint ${value}n`;
  if (typeof value === 'string') return `the string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  if (typeof value === 'function') return 'a function';
  if (value instanceof Promise || typeof (value as { then?: unknown }).then === 'function') return 'a promise: await it first';
  if (value instanceof Error) return `an error (${value.message})`;
  // Class names do not survive minifiers; tags do.
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (sentInstead(value) !== undefined) return 'a plain object, such as JSON or a spread gives';
  if (/\bkeys\b/.test(tag)) return tag;
  return /^[AEIOaeio]/.test(tag) ? `an ${tag === 'Object' ? 'object' : tag}` : `a ${tag}`;
}

/**
 * What to send instead of a plain object that has the facts of a ciphertext or of a key set, and nothing more: JSON and spreads make such
 * copies.
 */
export function sentInstead(value: unknown): string | undefined {
  if (Object.prototype.toString.call(value) !== '[object Object]') return undefined;
  const { preset, keyId, id, digest } = value as Readonly<Record<string, unknown>>;
  if (typeof preset === 'string' && typeof keyId === 'string') {
    return 'send the bytes of its toBytes() (in JSON as base64), and read them with ciphertextFromBytes()';
  }
  // Keys on a server have an id and a digest.
  if (typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id) || digest !== undefined) return undefined;
  return 'send what exportSecret() gives, to those alone who may decrypt, and read it with importKeys()';
}

/** A number as it is, and anything else as {@link named} names it: for messages that go on to say which numbers are meant. */
export function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : named(value);
}

/** The argument that most methods take. */
export const NUMBERS = 'a ciphertext of numbers, which encrypt() of a key set of rf.keygen() makes';

/** Any class of this package. */
type AnyClass<T = unknown> = abstract new (...args: never[]) => T;

/**
 * Throws unless `value` is an object of a certain class of this package; `what` says where such objects come from, and `instead` what to do
 * with objects of other classes.
 */
export function mustBe<T>(
  value: unknown,
  Class: AnyClass<T>,
  where: string,
  what: string,
  ...instead: readonly (readonly [Other: AnyClass, repair: string])[]
): asserts value is T {
  if (value instanceof Class) return;
  const repair = instead.find(([Other]) => value instanceof Other)?.[1] ?? sentInstead(value);
  throw new RefloatError('INVALID_ARGUMENT', `${where} takes ${what}, and got ${named(value)}${repair === undefined ? '' : `; ${repair}`}`);
}

/** A copy of a list of numbers, or of bits as 0 and 1; anything else is refused by its name. */
export function numbers(values: unknown, where: string, what = 'a list of numbers, such as [0.5] or a typed array'): Float64Array {
  if (values instanceof Float64Array) return finite(values.slice(), where);
  const list = listOf(values, where, what);
  const copy = Float64Array.from(list, (value, index) => {
    if (typeof value === 'number' || typeof value === 'boolean') return Number(value);
    throw new RefloatError('INVALID_ARGUMENT', `entry ${index} of what ${where} got is ${named(value)}; pass numbers`);
  });
  return finite(copy, where);
}

function finite(list: Float64Array, where: string): Float64Array {
  const wrong = list.findIndex((value) => !Number.isFinite(value));
  if (wrong < 0) return list;
  throw new RefloatError('INVALID_ARGUMENT', `entry ${wrong} of what ${where} got is ${list[wrong]}; pass finite numbers`);
}

/** A copy of bytes. An `ArrayBuffer` is refused: `Uint8Array.from` would make an empty array of it, without an error. */
export function bytesOf(value: unknown, where: string): Uint8Array {
  const isByte = (byte: unknown): boolean => Number.isInteger(byte) && (byte as number) >= 0 && (byte as number) < 256;
  if (Object.prototype.toString.call(value) === '[object Uint8Array]' || (Array.isArray(value) && value.every(isByte))) {
    return Uint8Array.from(value as Uint8Array);
  }
  const repair = value instanceof ArrayBuffer ? 'wrap it, new Uint8Array(buffer)' : 'pass the bytes as they were given out';
  throw new RefloatError('INVALID_ARGUMENT', `${where} takes a Uint8Array, and got ${named(value)}; ${repair}`);
}

/** A string; anything else is refused by its name, and `what` says which string is expected. */
export function textOf(value: unknown, where: string, what: string): string {
  if (typeof value === 'string') return value;
  throw new RefloatError('INVALID_ARGUMENT', `${where} takes ${what}, and got ${named(value)}`);
}

/** Something with a length and entries, unlike a single value. */
export function listOf(values: unknown, where: string, what: string): ArrayLike<unknown> {
  const length = typeof values === 'object' && values !== null ? (values as { length?: unknown }).length : undefined;
  if (typeof length === 'number' && Number.isInteger(length) && length >= 0) return values as ArrayLike<unknown>;
  throw new RefloatError('INVALID_ARGUMENT', `${where} takes ${what}, and got ${named(values)}`);
}

/** A level from 0 to the highest. */
export function levelUpTo(highest: number, level: number): number {
  return levelOf(level, `from 0 to ${highest}`);
}

/** A level to encrypt at; the set decides which levels exist. */
export function freshLevel(usual: number, level: number): number {
  return levelOf(level, `such as ${usual}, the level of what a bootstrap gives`);
}

function levelOf(level: number, which: string): number {
  if (Number.isInteger(level) && level >= 0 && level < 2 ** 32) return level;
  throw new RefloatError('INVALID_ARGUMENT', `the level is ${shown(level)}; pass an integer ${which}`);
}

/** Rotations to make keys for, in the form that an instance takes. */
export function rotationsOf(rotations: readonly number[] | undefined): Int32Array | undefined {
  return rotations === undefined ? undefined : Int32Array.from(rotations, wholeSteps);
}

function wholeSteps(steps: number): number {
  if (Number.isInteger(steps) && Math.abs(steps) < 2 ** 31) return steps;
  throw new RefloatError('INVALID_ARGUMENT', `a key for a rotation by ${named(steps)}; name integers, the slots to move by`);
}

/** Steps of a rotation, reduced cyclically, so that they fit 32 bits. */
export function stepsWithin(slots: number, steps: number): number {
  if (!Number.isInteger(steps)) throw new RefloatError('INVALID_ARGUMENT', `a rotation by ${steps} slots; pass an integer`);
  return steps % slots;
}
