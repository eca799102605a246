/**
 * The worker of the package: bundlers and `Refloat.load()` start it, nobody imports it.
 *
 * @packageDocumentation
 */
import * as generated from '#wasm-client';
// The glue alone, which is small and which bundlers then need not split off; the module is loaded when it is needed.
import * as gates from '#wasm-gates';
import { workerPort } from '#port';
import { gateOpener, opener } from './engine/direct.js';
import { serve } from './engine/serve.js';

serve(workerPort(), opener(generated, 'client', gateOpener(() => gates)));
