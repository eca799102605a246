import { workerAt } from './web.js';

export { cores, hasWorkers } from './web.js';

/** The worker of the ready-made files, which no bundler moves: it lies beside the page's file. */
export const startWorker = workerAt(new URL('worker.js', import.meta.url));

export { workerAt, webWorker as wrapWorker } from './web.js';
