import * as generated from '#wasm-client';
import { directOpener } from './engine/direct.js';

/** Opens the engine of this thread. */
export const openDirect = directOpener(generated, 'client');
