/*
 * A server that does not answer: its requests are repeated a few times, and every page says so in the same words.
 */
import type { Contact, Refloat, Server } from 'refloat/client';

/** The next attempt, while a request is repeated. */
export type Retrying = Extract<Contact, { readonly state: 'retrying' }>;

/** Number of attempts, and milliseconds before the second: a reader is told within seconds that a server is gone. */
const RETRY = { attempts: 4, firstDelayMs: 300 };

/** The server at an address. `heard` is called with each attempt that comes next, and with nothing once the server answers again. */
export function serverAt(rf: Pick<Refloat, 'server'>, url: string, heard: (retrying: Retrying | undefined) => void): Server {
  return rf.server(url, { retry: RETRY, onContact: (contact) => heard(contact.state === 'retrying' ? contact : undefined) });
}

/** What a reader can do when all attempts have failed, and what is not lost; `anew` says how to ask again on this page. */
export function gone(anew: string): string {
  return `Start it again, or check the connection, and ${anew}. Your keys and what you put in are still in this page, and what has arrived at the server stays there.`;
}

/** The sentence about a request that is being repeated. */
export function again({ attempt, attempts, answered }: Omit<Retrying, 'state'>): string {
  return `The server ${answered ? 'is busy' : 'does not answer'}: trying again, ${attempt} of ${attempts}.`;
}
