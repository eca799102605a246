import * as generated from '#wasm-client';
import { openGates } from './direct-gates.js';
import { opener } from './engine/direct.js';

/** Opens the instances of this thread. */
export const openDirect = opener(generated, 'client', openGates);
