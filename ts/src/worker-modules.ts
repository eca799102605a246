// Imports only the glue, which is small and which bundlers then need not split off; a module is loaded when it is needed.
import * as conventional from '#wasm-conventional';
import * as digits from '#wasm-digits';
import * as gates from '#wasm-gates';
import * as integers from '#wasm-integers';
import * as link from '#wasm-link';
import { otherModules } from './engine/open.js';

/** The modules of a worker besides that of its entry point. */
export const modules = otherModules({
  gates: () => gates,
  conventional: () => conventional,
  digits: () => digits,
  link: () => link,
  integers: () => integers,
});
