import * as generated from '#wasm-client';
import { modules } from './direct-modules.js';
import { opener } from './engine/open.js';

/** Opens the instances of this thread. */
export const openDirect = opener('client', generated, modules);
