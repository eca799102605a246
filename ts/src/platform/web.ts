import type { StartWorker, WorkerLike } from '../engine/port.js';
import type { Reply } from '../engine/wire.js';

/**
 * Wraps a browser's worker.
 *
 * @param file what to call it where it does not start
 * @param blobFor the file's origin, if it starts from a blob
 */
export function webWorker(make: () => Worker, file: string, blobFor?: string): StartWorker {
  const start = (onReply: (reply: Reply) => void, onDeath: (reason: unknown) => void): WorkerLike => {
    const worker = make();
    worker.onmessage = (event: MessageEvent<Reply>) => onReply(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      // A file that is not there, or is not a script, has no message.
      onDeath(new Error(event.message || 'it could not be loaded'));
    };
    worker.onmessageerror = () => onDeath(new Error('a message could not be read'));
    return {
      post: (message, transfer) => worker.postMessage(message, [...transfer]),
      terminate: () => worker.terminate(),
      hold: () => undefined,
    };
  };
  return Object.assign(start, { file, blobFor });
}

/** The worker in the file at `url`. One of another origin is imported by a worker of the page's. */
export function workerAt(url: URL): StartWorker {
  const options = { type: 'module', name: 'refloat' } as const;
  if (url.origin === globalThis.location?.origin) return webWorker(() => new Worker(url, options), url.href);
  const make = (): Worker => {
    const script = URL.createObjectURL(new Blob([`import ${JSON.stringify(url.href)};`], { type: 'text/javascript' }));
    const worker = new Worker(script, options);
    worker.addEventListener('message', () => URL.revokeObjectURL(script), { once: true });
    return worker;
  };
  return webWorker(make, url.href, url.origin);
}

/** Whether workers exist here. */
export const hasWorkers = typeof Worker === 'function';

/** Cores of the machine, as the browser tells. */
export const cores = (): number => globalThis.navigator?.hardwareConcurrency || 1;
