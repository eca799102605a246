import { nodeWorker } from './node.js';

export { cores, hasWorkers } from './node.js';

/** The worker of this artefact. */
export const startWorker = nodeWorker(new URL('../worker-full.js', import.meta.url));

export { workerAt, wrapWorker } from './node.js';
