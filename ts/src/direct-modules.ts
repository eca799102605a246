import { otherModules } from './engine/open.js';

/** The modules of this thread besides that of its entry point. */
export const modules = otherModules({
  gates: () => import('#wasm-gates'),
  conventional: () => import('#wasm-conventional'),
  digits: () => import('#wasm-digits'),
  link: () => import('#wasm-link'),
  integers: () => import('#wasm-integers'),
});
