import { conventionalOpener, gateOpener, type OtherModules } from './engine/direct.js';

/** Opens the instances of this thread of the modules that are loaded when they are needed. */
export const others: OtherModules = {
  gates: gateOpener(() => import('#wasm-gates')),
  conventional: conventionalOpener(() => import('#wasm-conventional')),
};
