import { named } from '../api/arguments.js';
import { RefloatError } from '../errors.js';
import type { StartWorker, WorkerLike } from '../engine/port.js';
import type { Reply } from '../engine/wire.js';

/**
 * Wraps a browser's worker.
 *
 * @param file its name in messages if it does not start
 * @param blobFor the file's origin, if it starts from a blob
 */
export function webWorker(make: () => Worker, file: string, blobFor?: string): StartWorker {
  const start = (onReply: (reply: Reply) => void, onDeath: (reason: unknown) => void): WorkerLike => {
    const worker = made(make(), file);
    worker.onmessage = (event: MessageEvent<Reply>) => onReply(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      // For a missing file, or one that is not a script, there is no message.
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

/** Checks that a caller's function returned a worker. */
function made(worker: Worker, file: string): Worker {
  const has = (name: keyof Worker): boolean => typeof (worker as Partial<Worker> | undefined | null)?.[name] === 'function';
  if (has('postMessage') && has('terminate') && has('addEventListener')) return worker;
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `${file} has to return a Worker of the web, and gave ${named(worker)}; return one, () => new Worker(url, { type: 'module' }), or pass the URL of its file`,
  );
}

/** The worker in the file at `url`. If the file has another origin, a worker of the page's origin imports it. */
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
