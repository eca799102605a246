import { RefloatError } from './errors.js';
import type { Preset } from './params.js';

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

/** The sets that keys are made of: those of earlier versions are left out. */
export function today(presets: readonly Preset[]): readonly Preset[] {
  return presets.filter((p) => !p.successor);
}

/** The set of a name. */
export function presetNamed(presets: readonly Preset[], name: string): Preset {
  const preset = presets.find((p) => p.name === name);
  if (preset) return preset;
  const names = today(presets).map((p) => p.name).join(', ');
  throw new RefloatError('INVALID_ARGUMENT', `no parameter set is called "${name}": there are ${names}`);
}
