import { parentPort } from 'node:worker_threads';
import type { MessagePortLike } from '../engine/serve.js';
import type { Request } from '../engine/wire.js';

/** The worker's own end, in Node. */
export function workerPort(): MessagePortLike {
  if (!parentPort) throw new Error('this file is the worker of refloat: import the package itself instead');
  const port = parentPort;
  return {
    listen: (onMessage) => void port.on('message', (request: Request) => onMessage(request)),
    post: (reply, transfer) => port.postMessage(reply, transfer),
  };
}
