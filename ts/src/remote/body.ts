import { RefloatError } from '../errors.js';

/** Longest JSON answer; the longest is the one with all key parts of all sets. */
export const JSON_BYTES = 8 << 20;
/** Longest description of a problem. */
export const PROBLEM_BYTES = 64 << 10;
/** Milliseconds that stopped work has to end in order. */
const GRACE = 1000;
/** Slowest rate at which a body may arrive, in bytes per millisecond, apart from one silence. */
const PACE = 16;

/** How long to wait, and the signal that ends the waiting. */
export interface Patience {
  /** Milliseconds without a byte after which the server counts as gone. */
  readonly silenceMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds that a body may take in addition to one silence. */
export function allowance(bytes: number): number {
  return bytes / PACE;
}

/**
 * Waits for `work` until the signal aborts or the time is over. Then `stop` ends it, and this throws the signal's reason, or `late()`, even
 * if the work does not react.
 */
export async function within<T>(
  work: Promise<T>,
  ms: number,
  signal: AbortSignal | undefined,
  stop: (reason: unknown) => void,
  late: () => Error,
): Promise<T> {
  let ended: { readonly reason: unknown } | undefined;
  let left: ReturnType<typeof setTimeout> | undefined;
  let leave: () => void = () => undefined;
  const deaf = new Promise<never>((_resolve, reject) => (leave = () => reject(ended?.reason as Error)));
  const end = (reason: unknown): void => {
    ended ??= { reason };
    stop(reason);
    left ??= setTimeout(leave, GRACE);
  };
  const onAbort = (): void => end(signal?.reason);
  // Browsers keep a timer's milliseconds in 31 bits.
  const timer = setTimeout(() => end(late()), Math.min(ms, 2 ** 31 - 1));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    const value = await Promise.race([work, deaf]);
    if (ended) throw ended.reason;
    return value;
  } catch (error) {
    throw ended ? ended.reason : error;
  } finally {
    clearTimeout(timer);
    clearTimeout(left);
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * The pieces of a body as they arrive, until a silence. Stopping early releases the connection.
 */
export async function* pieces(
  body: ReadableStream<Uint8Array>,
  { silenceMs, signal }: Patience,
  late: () => Error,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  const drop = (reason?: unknown): void => void reader.cancel(reason).catch(() => undefined);
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), silenceMs, signal, drop, late);
      if (done) return;
      yield value;
    }
  } finally {
    drop();
  }
}

/**
 * A body of at most `limit` bytes, in one array that is as long as the server states, or grows with what arrives.
 *
 * @throws RefloatError `SERVER` for a longer body, `NETWORK` for one that ends early, stops or trickles
 */
export async function readBody(response: Response, limit: number, patience: Patience, url: string): Promise<Uint8Array> {
  const stated = Number(response.headers.get('content-length') ?? 0);
  if (stated > limit) {
    discard(response);
    throw tooLong(url, limit, `${stated} bytes`);
  }
  if (!response.body) return new Uint8Array();
  const late = (): Error => silent(url, patience.silenceMs);
  const deadline = performance.now() + patience.silenceMs + allowance(limit);
  // The stated length may be that of a compressed form, or nonsense.
  let kept = new Uint8Array(stated > 0 ? stated : 0);
  let length = 0;
  try {
    for await (const piece of pieces(response.body, patience, late)) {
      const end = length + piece.length;
      if (end > limit) throw tooLong(url, limit, 'more');
      if (performance.now() > deadline) throw late();
      if (end > kept.length) {
        const longer = new Uint8Array(Math.min(limit, Math.max(end, 2 * kept.length)));
        longer.set(kept.subarray(0, length));
        kept = longer;
      }
      kept.set(piece, length);
      length = end;
    }
  } catch (cause) {
    patience.signal?.throwIfAborted();
    if (cause instanceof RefloatError) throw cause;
    throw new RefloatError('NETWORK', `the answer of ${url} broke off after ${length} bytes; check the connection and call again`, {
      cause,
    });
  }
  return length === kept.length ? kept : kept.slice(0, length);
}

/** Discards a body that nobody reads. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}

/** The error for a server that has fallen silent. */
export function silent(url: string, silenceMs: number): RefloatError {
  return new RefloatError(
    'NETWORK',
    `${url} sent nothing, or next to nothing, for ${Math.round(silenceMs / 1000)} s; check the server and the connection, then ${again(url)}`,
  );
}

function tooLong(url: string, limit: number, found: string): RefloatError {
  return new RefloatError(
    'SERVER',
    `${url} answers with ${found}, where at most ${limit} bytes belong; check that this is the address of a refloat server of this version`,
  );
}

/** Concatenates bytes. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** What to do once the server answers again, for a request to an address or a path. */
export function again(path: string): string {
  if (path.includes('/v1/jobs')) return 'submit the job again';
  return path.includes('/v1/keys') ? 'call again: uploads go on where they stopped' : 'call again';
}
