import { RefloatError } from 'refloat';
import type { Problem, State } from './store.js';
import type { Voyage } from './voyage.js';

/** An error's message as a sentence. */
export function words(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** What a failure is called for the reader, and the way out of it. */
export function problemOf(error: unknown, voyage: Voyage | undefined, state: State): Problem {
  const code = error instanceof RefloatError ? error.code : undefined;
  const goOn = { label: voyage?.squared ? 'Try again' : 'Go on', action: voyage?.squared ? 'again' : 'refloat' };
  switch (code) {
    case 'NETWORK':
      return { title: 'The server does not answer', detail: `${words(error)} Your keys and picture are still in this page.`, retry: goOn };
    case 'PANICKED':
      return { title: 'The computation stopped in the middle', detail: words(error), retry: { label: 'Load afresh and try again', action: 'reload' } };
    case 'OUT_OF_MEMORY':
      return {
        title: 'This device has not enough memory',
        detail: `${words(error)} Close other pages, or choose a smaller set${state.server.state === 'present' ? ' or the server' : ''}.`,
        retry: { label: 'Load afresh and try again', action: 'reload' },
      };
    case 'LIMIT':
      return { title: 'The server is busy', detail: words(error), retry: goOn };
    default:
      return { title: voyage?.place === 'server' ? 'The server could not finish' : 'The voyage was broken off', detail: words(error), retry: goOn };
  }
}
