import type { MessagePortLike } from '../engine/serve.js';
import type { Reply, Request } from '../engine/wire.js';

interface WorkerScope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(reply: Reply, transfer: ArrayBuffer[]): void;
}

/** The worker's own end, in browsers. */
export function workerPort(): MessagePortLike {
  const scope = globalThis as unknown as WorkerScope;
  return {
    listen: (onMessage) => {
      scope.onmessage = (event) => onMessage(event.data);
    },
    post: (reply, transfer) => scope.postMessage(reply, transfer),
  };
}
