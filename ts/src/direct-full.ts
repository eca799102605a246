import * as generated from '#wasm-full';
import { others } from './direct-others.js';
import { opener } from './engine/direct.js';

/** Opens the instances of this thread. */
export const openDirect = opener(generated, 'full', others);
