import { gateOpener } from './engine/direct.js';

/** Opens the instance of gates of this thread. */
export const openGates = gateOpener(() => import('#wasm-gates'));
