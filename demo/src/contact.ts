/*
 * A server that does not answer: its requests are repeated a few times, and every page says so in the same words.
 */
import type { Contact, Refloat, Server } from 'refloat/client';

/** The try that comes next, while a request is repeated. */
export type Retrying = Extract<Contact, { readonly state: 'retrying' }>;

/** Tries in all, and milliseconds before the second: a reader is told within seconds that a server is gone. */
const RETRY = { attempts: 4, firstDelayMs: 300 };

/** The server at an address. `heard` is given every try that comes next, and nothing once the server answers again. */
export function serverAt(rf: Pick<Refloat, 'server'>, url: string, heard: (retrying: Retrying | undefined) => void): Server {
  return rf.server(url, { retry: RETRY, onContact: (contact) => heard(contact.state === 'retrying' ? contact : undefined) });
}

/** What a reader can do when all tries are over, and what is not lost; how to ask anew is a matter of the page. */
export function gone(anew: string): string {
  return `Start it again, or check the connection, and ${anew}. Your keys and what you put in are still in this page, and what has arrived at the server stays there.`;
}

/** What is said of a request that is repeated. */
export function again({ attempt, attempts, answered }: Omit<Retrying, 'state'>): string {
  return `The server ${answered ? 'is busy' : 'does not answer'}: trying again, ${attempt} of ${attempts}.`;
}
