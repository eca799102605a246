/**
 * Waits for `making` only as long as it is wanted: rejects at once when the signal is aborted, although the work under way in the worker
 * cannot be interrupted. If that work then gives a result, it is freed.
 */
export function whileWanted<T>(signal: AbortSignal | undefined, making: PromiseLike<T>): Promise<T> {
  const made = Promise.resolve(making);
  if (!signal) return made;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
      made.then(letGo, () => undefined);
    };
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    // What was given is not let go of.
    const ended = (): void => signal.removeEventListener('abort', abort);
    made.then(
      (value) => {
        ended();
        resolve(value);
      },
      (error: unknown) => {
        ended();
        reject(error as Error);
      },
    );
  });
}

function letGo(made: unknown): void {
  if (typeof made === 'object' && made !== null && 'free' in made && typeof made.free === 'function') made.free();
}
