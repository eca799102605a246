import { named } from '../api/arguments.js';
import { baseUrl } from '../base-url.js';
import { RefloatError } from '../errors.js';

/** An absolute address; a path is resolved against the page, or in a worker against the worker's own file. */
export function address(url: string | URL): string {
  const refused = (reason: string, cause?: unknown): RefloatError =>
    new RefloatError('INVALID_ARGUMENT', `"${String(url)}" is not the address of a server${reason}; write it as http://host:port`, { cause });
  // In a page, anything that is not an address would be read as a path.
  if (typeof url !== 'string' && Object.prototype.toString.call(url) !== '[object URL]') throw refused('');
  // "localhost:7878" would have the scheme "localhost", and in a page "127.0.0.1:7878" is a path.
  if (/^[\w.-]+:\d+/.test(String(url))) throw new RefloatError('INVALID_ARGUMENT', `"${String(url)}" has no scheme; write it as http://${String(url)}`);
  try {
    const { href, protocol, host, username, password } = new URL(url, baseUrl());
    if (!/^https?:$/.test(protocol)) throw refused(`, its scheme is ${protocol}`);
    if (username === '' && password === '') return href;
    // The message leaves them out: messages end up in logs.
    throw new RefloatError(
      'INVALID_ARGUMENT',
      `the address of ${host} has a user or a password in it, which fetch() does not take; leave them out, and pass what the server or its proxy asks for in { apiKey } or { headers }`,
    );
  } catch (error) {
    throw error instanceof RefloatError ? error : refused('', error);
  }
}

/** Checks a time-out. */
export function milliseconds(value: number): number {
  if (value > 0) return value;
  throw new RefloatError('INVALID_ARGUMENT', `timeoutMs is ${value}, and has to be a number of milliseconds above 0`);
}

/** Checks the id of a key set. */
export function keyId(id: string): string {
  if (/^[0-9a-f]{32}$/.test(id)) return id;
  throw new RefloatError('INVALID_ARGUMENT', `the id of a key set is 32 hexadecimal digits in lower case, and not ${named(id)}; pass \`keys.id\`, or the key set`);
}

/** The operations of a job. */
export function operations<T extends string>(op: readonly T[] | undefined): readonly (T | 'bootstrap')[] {
  return op ?? ['bootstrap'];
}
