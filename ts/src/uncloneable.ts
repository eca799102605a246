/** Facts about an object, for logs: those of its fields that are strings, numbers or booleans. */
export function facts(object: object): Record<string, unknown> {
  const plain = Object.entries(Object.getOwnPropertyDescriptors(object)).filter(([, { value }]) => /^(string|number|boolean)$/.test(typeof value));
  return Object.fromEntries(plain.map(([name, { value }]) => [name, value]));
}

/**
 * Makes structuredClone() and postMessage() throw a `DataCloneError` for an object that would otherwise be copied empty: the object gets
 * an enumerable field that is a symbol, and symbols cannot be cloned. Where the engine names the symbol, the error says what to do.
 * Reading the field throws nothing, so that `{ ...object }`, matchers of test runners and developer tools work; as each object has a
 * symbol of its own, matchers find two objects equal only if they are the same one. JSON.stringify() gets the facts alone.
 *
 * @param name the class
 * @param repair what to do instead
 */
export function uncloneable(object: object, name: string, repair: string): void {
  const refused = Symbol(`${name} objects cannot be cloned or posted, and a copy would be empty: ${repair}`);
  Object.defineProperties(object, {
    // A getter, so that consoles do not show the sentence.
    clone: { enumerable: true, get: () => refused },
    toJSON: { value: () => facts(object) },
  });
}
