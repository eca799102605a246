import { throwIfAborted } from '../errors.js';

/**
 * Waits for work that cannot be interrupted in the instance. If the signal is aborted first, the promise rejects at once, and what the work
 * gives is freed when it arrives.
 */
export function unlessAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  throwIfAborted(signal);
  const working = work();
  if (!signal) return working;
  return new Promise((resolve, reject) => {
    // Decided only once: what has been handed out is not freed.
    let decided = false;
    const decide = (settle: () => void): void => {
      if (decided) return;
      decided = true;
      signal.removeEventListener('abort', abort);
      settle();
    };
    const abort = (): void =>
      decide(() => {
        reject(signal.reason as Error);
        working.then(letGo, () => undefined);
      });
    signal.addEventListener('abort', abort, { once: true });
    working.then(
      (value) => decide(() => resolve(value)),
      (error: unknown) => decide(() => reject(error as Error)),
    );
  });
}

/** Frees what nobody waits for any more: an object, or a list or record of objects. */
export function letGo(result: unknown): void {
  if (typeof result !== 'object' || result === null) return;
  if ('free' in result && typeof result.free === 'function') return void result.free();
  if (!ArrayBuffer.isView(result)) Object.values(result).forEach(letGo);
}
