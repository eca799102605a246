import { RefloatError } from 'refloat';
import { gone } from './contact.js';
import { sentence } from './format.js';
import type { Beside, Problem, State } from './store.js';
import type { Voyage } from './voyage.js';

/** A failure as the reader is told of it, with the way out. */
export function problemOf(error: unknown, beside: Beside, voyage: Voyage | undefined, state: State): Problem {
  const code = error instanceof RefloatError ? error.code : undefined;
  const goOn =
    beside === 'keys' ? { label: 'Try again', action: 'delete-keys' } : beside === 'again' || beside === 'break' ? { label: 'Try again', action: beside } : { label: 'Go on', action: 'refloat' };
  switch (code) {
    case 'NETWORK': {
      const detail = beside === 'keys' ? `Start it again, or check the connection, and press “${goOn.label}”. Your keys are still there.` : gone(`press “${goOn.label}”`);
      return { beside, title: 'The server does not answer', detail, retry: goOn };
    }
    case 'PANICKED':
      return { beside, title: 'The computation stopped in the middle', detail: sentence(error), retry: { label: 'Load afresh and try again', action: 'reload' } };
    case 'OUT_OF_MEMORY':
      return {
        beside,
        title: 'This device has not enough memory',
        detail: `${sentence(error)} Close other pages, or choose a smaller set${state.server.state === 'present' ? ' or the server' : ''}.`,
        retry: { label: 'Load afresh and try again', action: 'reload' },
      };
    case 'LIMIT':
      return { beside, title: 'The server is busy', detail: sentence(error), retry: goOn };
    default:
      return { beside, title: voyage?.place === 'server' || beside === 'keys' ? 'The server could not finish' : 'The voyage was broken off', detail: sentence(error), retry: goOn };
  }
}
