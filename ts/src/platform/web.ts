import type { StartWorker } from '../engine/port.js';
import type { Reply } from '../engine/wire.js';

/** Wraps a browser's worker. */
export function webWorker(make: () => Worker): StartWorker {
  return (onReply, onDeath) => {
    const worker = make();
    worker.onmessage = (event: MessageEvent<Reply>) => onReply(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      onDeath(event.message);
    };
    worker.onmessageerror = () => onDeath('a message could not be read');
    return {
      post: (message, transfer) => worker.postMessage(message, [...transfer]),
      terminate: () => worker.terminate(),
      hold: () => undefined,
    };
  };
}

/** Whether workers exist here. */
export const hasWorkers = typeof Worker === 'function';

/** Cores of the machine, as the browser tells. */
export const cores = (): number => globalThis.navigator?.hardwareConcurrency || 1;
