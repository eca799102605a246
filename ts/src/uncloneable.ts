/** Facts about an object, for logs: those of its fields that are strings, numbers or booleans. */
export function facts(object: object): Record<string, unknown> {
  const plain = Object.entries(Object.getOwnPropertyDescriptors(object)).filter(([, { value }]) => /^(string|number|boolean)$/.test(typeof value));
  return Object.fromEntries(plain.map(([name, { value }]) => [name, value]));
}

/** What Node's console calls to show an object. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/**
 * Makes structuredClone() and postMessage() throw a `DataCloneError` for an object that would otherwise be copied empty: the object gets
 * an enumerable field that is a symbol, and symbols cannot be cloned. Where the engine names the symbol, the error says what to do;
 * Chromium leaves out the middle of a name of more than 120 characters.
 * Reading the field throws nothing, so that `{ ...object }`, matchers of test runners and developer tools work; as each object has a
 * symbol of its own, matchers find two objects equal only if they are the same one. JSON.stringify() gets the facts alone, and Node's
 * console all other fields.
 *
 * @param name the class
 * @param repair what to do instead
 */
export function uncloneable(object: object, name: string, repair: string): void {
  const refused = Symbol(`${name} cannot be cloned: ${repair}`);
  const inspected = (depth: number, options: object, inspect: (value: unknown, options: object) => string): string => {
    if (depth < 0) return `[${name}]`;
    const fields = Object.entries(object).filter(([field]) => field !== 'clone');
    return `${name} ${inspect(Object.fromEntries(fields), options)}`;
  };
  Object.defineProperties(object, {
    // A getter, so that consoles do not show the sentence.
    clone: { enumerable: true, get: () => refused },
    toJSON: { value: () => facts(object) },
    [INSPECT]: { value: inspected },
  });
}
