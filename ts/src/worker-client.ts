/**
 * The worker of the package: bundlers and `Refloat.load()` start it, nobody imports it.
 *
 * @packageDocumentation
 */
import * as generated from '#wasm-client';
import { workerPort } from '#port';
import { opener } from './engine/direct.js';
import { serve } from './engine/serve.js';
import { others } from './worker-others.js';

serve(workerPort(), opener(generated, 'client', others));
