import { availableParallelism } from 'node:os';
import { Worker as NodeWorker } from 'node:worker_threads';
import type { StartWorker, WorkerLike } from '../engine/port.js';
import type { Reply } from '../engine/wire.js';
import { webWorker } from './web.js';

/** Runs the worker in a thread that does not keep an idle process alive. */
export function nodeWorker(url: URL): StartWorker {
  const start = (onReply: (reply: Reply) => void, onDeath: (reason: unknown) => void): WorkerLike => {
    const worker = new NodeWorker(url, { name: 'refloat' });
    worker.on('message', (reply: Reply) => onReply(reply));
    worker.on('error', onDeath);
    worker.on('messageerror', onDeath);
    worker.on('exit', (code) => onDeath(`exit code ${code}`));
    worker.unref();
    return {
      post: (message, transfer) => worker.postMessage(message, [...transfer]),
      terminate: () => void worker.terminate(),
      hold: (busy) => (busy ? worker.ref() : worker.unref()),
    };
  };
  return Object.assign(start, { file: url.href });
}

/** Wraps a worker of the caller's own; only runtimes with the web's `Worker` (Deno) have such workers. */
export const wrapWorker = webWorker;

/** The worker in a file of the caller's own. */
export const workerAt = nodeWorker;

/** Node always has threads. */
export const hasWorkers = true;

/** Cores that this process may use. */
export const cores = availableParallelism;
