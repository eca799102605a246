/**
 * The worker of the package: bundlers and `Refloat.load()` start it, nobody imports it.
 *
 * @packageDocumentation
 */
import * as generated from '#wasm-client';
import { workerPort } from '#port';
import { defaultSource } from '#source';
import { openEngine } from './engine/open.js';
import { serve } from './engine/serve.js';

serve(workerPort(), (source) => openEngine(generated, source, () => defaultSource('client')));
