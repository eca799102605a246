import { plural } from './format.js';

/**
 * Levels of a ciphertext in words: those that products may spend (an exhausted ciphertext has none), and those that are kept for the first
 * stage of its bootstrapping.
 */
export function levelsOf(level: number, kept: number): string {
  const products = level - kept;
  return `${products > 0 ? plural(products, 'level') : 'no level'} for products${kept > 0 ? `, ${kept} for the first stage of a bootstrapping` : ''}`;
}

/**
 * Levels of a ciphertext inside a bootstrapping in words: those that later stages spend, and those that are left at the end, the levels of
 * a refreshed ciphertext. Before the modulus is raised there are fewer.
 */
export function levelsWithin(level: number, refreshed: number): string {
  if (level < refreshed) return `${level > 0 ? plural(level, 'level') : 'no level'} until the modulus is raised`;
  return `${level > refreshed ? plural(level - refreshed, 'level') : 'no level'} for later stages, ${refreshed} left in the end`;
}
