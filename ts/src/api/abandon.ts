import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { throwIfAborted } from '../errors.js';

/**
 * Waits for something that is made in the instance, where that cannot be interrupted. If the signal is aborted first, the promise rejects
 * at once, and what is made is freed when it arrives.
 */
export function unlessAborted<H extends Handle>(port: Port, signal: AbortSignal | undefined, make: () => Promise<H>): Promise<H> {
  throwIfAborted(signal);
  const made = make();
  if (!signal) return made;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
      void made.then(
        (handle) => port.release(handle),
        () => undefined,
      );
    };
    signal.addEventListener('abort', abort, { once: true });
    const listening = made.then(
      (handle) => void (signal.aborted || resolve(handle)),
      (error: unknown) => reject(error as Error),
    );
    void listening.finally(() => signal.removeEventListener('abort', abort));
  });
}
