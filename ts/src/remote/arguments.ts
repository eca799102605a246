import { baseUrl } from '../base-url.js';
import { RefloatError } from '../errors.js';

/** An absolute address; a path is resolved against the page, or in a worker against the worker's own file. */
export function address(url: string | URL): string {
  const refused = (reason: string, cause?: unknown): RefloatError =>
    new RefloatError('INVALID_ARGUMENT', `"${String(url)}" is not the address of a server${reason}; write it as http://host:port`, { cause });
  // In a page, what is not an address at all would be read as a path.
  if (typeof url !== 'string' && Object.prototype.toString.call(url) !== '[object URL]') throw refused('');
  // Of "localhost:7878" the scheme would be "localhost", and in a page "127.0.0.1:7878" is a path.
  if (/^[\w.-]+:\d+/.test(String(url))) throw refused(`, try http://${String(url)}`);
  try {
    const { href, protocol } = new URL(url, baseUrl());
    if (/^https?:$/.test(protocol)) return href;
    throw refused(`, its scheme is ${protocol}`);
  } catch (error) {
    throw error instanceof RefloatError ? error : refused('', error);
  }
}

/** A time-out. */
export function milliseconds(value: number): number {
  if (value > 0) return value;
  throw new RefloatError('INVALID_ARGUMENT', `timeoutMs is ${value}, and has to be a number of milliseconds above 0`);
}

/** The operations of a job; one may stand for a list of it. */
export function operations<T extends string>(op: readonly T[] | undefined): readonly (T | 'bootstrap')[] {
  return typeof op === 'string' ? [op] : (op ?? ['bootstrap']);
}
