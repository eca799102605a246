import * as generated from '#wasm-client';
import { others } from './direct-others.js';
import { opener } from './engine/direct.js';

/** Opens the instances of this thread. */
export const openDirect = opener(generated, 'client', others);
