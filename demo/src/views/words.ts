import { html, type Html } from '../html.js';

/** A security estimate as a sentence of its own, powers raised. */
export function statement(text: string): Html {
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
  return html`${sentence.split(/(\^\d+)/).map((part) => (part.startsWith('^') ? html`<sup>${part.slice(1)}</sup>` : part))}`;
}
