import { RefloatError } from '../errors.js';
import { named } from './arguments.js';

/** What an option takes: whether a value fits, what is expected in words, and how a value that does not fit is named. */
export type Kind = readonly [fits: (value: unknown) => boolean, what: string, naming?: (value: unknown) => string];

/** What every option of a type takes. */
export type Kinds<O> = { readonly [Name in keyof O]-?: Kind };

/**
 * Refuses an object with names that are not options, or with values that an option does not take; an option that is undefined counts as
 * left out.
 *
 * @param where the method, as its caller writes it
 * @throws RefloatError `INVALID_ARGUMENT`
 */
export function checkOptions<O extends object>(options: O, where: string, kinds: Kinds<O>): void {
  const names = Object.keys(kinds);
  // Signals, lists and objects of this package are objects too, but their tags differ.
  if (Object.prototype.toString.call(options) !== '[object Object]') {
    const example = `{ ${names.join(', ')} }`;
    throw new RefloatError('INVALID_ARGUMENT', `${where} takes its options as an object, and got ${named(options)}; pass some of ${example}`);
  }
  const stranger = Object.keys(options).find((name) => !names.includes(name));
  if (stranger !== undefined) {
    const near = nearest(stranger, names);
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`;
    throw new RefloatError('INVALID_ARGUMENT', `${where} has no option "${stranger}"${hint}; it takes ${names.join(', ')}`);
  }
  for (const [name, [fits, what, naming = named]] of Object.entries<Kind>(kinds)) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || fits(value)) continue;
    throw new RefloatError('INVALID_ARGUMENT', `the option ${name} of ${where} is ${naming(value)}; pass ${what}`);
  }
}

/** `true` or `false`. */
export const FLAG: Kind = [(value) => typeof value === 'boolean', 'true or false'];

/** Any string. */
export const TEXT: Kind = [(value) => typeof value === 'string', 'a string'];

/** Any function. */
export const CALLBACK: Kind = [(value) => typeof value === 'function', 'a function'];

/** Any number: the method that uses it knows the range. */
export const NUMBER: Kind = [(value) => typeof value === 'number', 'a number'];

/** One of some strings. */
export function oneOf(...values: readonly string[]): Kind {
  return [(value) => values.includes(value as string), values.map((value) => `'${value}'`).join(' or ')];
}

/** At least one of some strings, in a list. */
export function someOf(...values: readonly string[]): Kind {
  const [fits, what] = oneOf(...values);
  const naming = (value: unknown): string => {
    if (!Array.isArray(value)) return named(value);
    return value.length === 0 ? 'an empty list' : `a list with ${named(value.find((entry) => !fits(entry)))} in it`;
  };
  return [(value) => Array.isArray(value) && value.length > 0 && value.every(fits), `a list of ${what}, such as ['${values[0]}']`, naming];
}

/** Objects of one of several classes. */
export function objectOf(what: string, ...classes: readonly (abstract new (...args: never[]) => unknown)[]): Kind {
  return [(value) => classes.some((Class) => value instanceof Class), what];
}

/** Objects by their tag, which is the same in every window. */
export function tagged(tag: string, what: string): Kind {
  return [(value) => Object.prototype.toString.call(value) === `[object ${tag}]`, what];
}

/** The option that somebody may have meant: at least half of its letters match, whatever their case. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const far = names.map((other) => [distance(name.toLowerCase(), other.toLowerCase()) / Math.max(name.length, other.length), other] as const);
  const [least] = far.sort(([x], [y]) => x - y);
  return least && least[0] < 0.5 ? least[1] : undefined;
}

/** Levenshtein distance: the fewest letters to add, remove or change to get from one word to the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 0; i < from.length; i++) {
    const above = row;
    row = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const [left = 0, up = 0, corner = 0] = [row[j], above[j + 1], above[j]];
      row.push(Math.min(left + 1, up + 1, corner + Number(from[i] !== to[j])));
    }
  }
  return row[to.length] ?? 0;
}
