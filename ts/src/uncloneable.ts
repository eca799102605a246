import { RefloatError } from './errors.js';

/** Facts about an object, for logs: its fields that are no objects. */
export function facts(object: object): Record<string, unknown> {
  const plain = Object.entries(Object.getOwnPropertyDescriptors(object)).filter(([, { value }]) => /^(string|number|boolean)$/.test(typeof value));
  return Object.fromEntries(plain.map(([name, { value }]) => [name, value]));
}

/**
 * Has structuredClone() and postMessage() refuse an object of a class: of what it holds they copy nothing. They read every field
 * that can be enumerated, as JSON.stringify() does, which therefore gets the facts alone.
 *
 * @param name the class
 * @param repair what to do instead
 */
export function uncloneable(object: object, name: string, repair: string): void {
  Object.defineProperties(object, {
    clone: {
      enumerable: true,
      get: () => {
        throw new RefloatError('INVALID_ARGUMENT', `${name} objects cannot be cloned or posted, and a copy would be empty: ${repair}`);
      },
    },
    toJSON: { value: () => facts(object) },
  });
}
