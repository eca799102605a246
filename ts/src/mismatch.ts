import { RefloatError } from './errors.js';

/** Throws unless the ciphertext is encrypted under the key named. */
export function keyMismatch(
  keyId: string,
  ciphertext: { readonly keyId: string; readonly preset: string },
  what: string,
): void {
  if (ciphertext.keyId === keyId) return;
  throw new RefloatError(
    'PARAMS_MISMATCH',
    `the ciphertext (set ${ciphertext.preset}) is encrypted under key ${ciphertext.keyId}, but ${what} is of key ${keyId}: use the key it was encrypted with`,
  );
}
