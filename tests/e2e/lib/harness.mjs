/** The tests, in the order in which they were declared. */
export const collected = [];

/** Declares a test; `body` gets {browser, after}. */
export function test(name, body, options = {}) {
  collected.push({ name, body, options });
}

/** Tests whose names contain all the words. */
export function select(tests, words) {
  return tests.filter(({ name }) => words.every((w) => name.toLowerCase().includes(w.toLowerCase())));
}

/** Polls until `probe` gives something truthy; `what` is said otherwise, or what it returns then. */
export async function until(what, probe, limit = 30_000) {
  for (const deadline = Date.now() + limit; ; ) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`${typeof what === 'function' ? what() : what}: not within ${limit / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
