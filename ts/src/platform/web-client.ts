import { webWorker } from './web.js';

export { cores, hasWorkers } from './web.js';

// Written literally, so that bundlers see the worker and emit it.
/** The worker of this artefact. */
export const startWorker = webWorker(
  () => new Worker(new URL('../worker-client.js', import.meta.url), { type: 'module', name: 'refloat' }),
  "worker-client.js beside the package's JavaScript",
);

export { workerAt, webWorker as wrapWorker } from './web.js';
