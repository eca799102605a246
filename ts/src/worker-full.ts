/**
 * The worker of the package: bundlers and `Refloat.load()` start it, nobody imports it.
 *
 * @packageDocumentation
 */
import * as generated from '#wasm-full';
import { workerPort } from '#port';
import { opener } from './engine/open.js';
import { serve } from './engine/serve.js';
import { modules } from './worker-modules.js';

serve(workerPort(), opener('full', generated, modules));
