import { RefloatError } from '../errors.js';

// (module (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt))
const PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

/** Throws `NO_WASM` if the engine has no WebAssembly, and `NO_SIMD` if its WebAssembly has no 128-bit SIMD. */
export function requireSimd(validate?: (bytes: Uint8Array<ArrayBuffer>) => boolean): void {
  if (typeof WebAssembly !== 'object') {
    throw new RefloatError('NO_WASM', 'WebAssembly is switched off here (as by the lockdown mode of some systems); allow it for this page');
  }
  validate ??= WebAssembly.validate;
  if (!validate(PROBE)) {
    throw new RefloatError(
      'NO_SIMD',
      'this engine has no WebAssembly SIMD; use Chrome 91, Firefox 89, Safari 16.4, Node 20.19 or anything newer',
    );
  }
}
