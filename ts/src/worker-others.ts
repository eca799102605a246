// The glue alone, which is small and which bundlers then need not split off; a module is loaded when it is needed.
import * as conventional from '#wasm-conventional';
import * as gates from '#wasm-gates';
import { conventionalOpener, gateOpener, type OtherModules } from './engine/direct.js';

/** Opens the worker's instances of the modules that are loaded when they are needed. */
export const others: OtherModules = { gates: gateOpener(() => gates), conventional: conventionalOpener(() => conventional) };
