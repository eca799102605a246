import { plural } from './format.js';

/**
 * Levels of a ciphertext in words: those that products may spend, of which an exhausted ciphertext has none, and those that are
 * kept for the first stage of its bootstrapping.
 */
export function levelsOf(level: number, kept: number): string {
  const products = level - kept;
  return `${products > 0 ? plural(products, 'level') : 'no level'} for products${kept > 0 ? `, ${kept} for the first stage of a bootstrapping` : ''}`;
}
