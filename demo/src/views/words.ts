import { html, type Html } from '../html.js';
import { STATIONS } from '../stages.js';
import type { Underway, Voyage } from '../voyage.js';

/** A security estimate as a sentence of its own, with its exponents raised. */
export function statement(text: string): Html {
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
  return html`${sentence.split(/(\^\d+)/).map((part) => (part.startsWith('^') ? html`<sup>${part.slice(1)}</sup>` : part))}`;
}

/** How far a station under way is, without a full stop. */
export function progressOf(voyage: Voyage, now: Underway): string {
  const title = STATIONS[now.station].title;
  const parts = now.total > 0 ? `${now.done} of ${now.total} ${now.station === 'blind_rotate' ? 'tracks' : 'product levels'}` : '';
  if (voyage.state === 'running') return `“${title}” is under way${parts && `, ${parts} done`}`;
  return `${voyage.state === 'cancelled' ? 'Cancelled' : 'Broken off'} in “${title}”${parts && ` after ${parts}`}`;
}
