import * as generated from '#wasm-full';
import { modules } from './direct-modules.js';
import { opener } from './engine/open.js';

/** Opens the instances of this thread. */
export const openDirect = opener('full', generated, modules);
