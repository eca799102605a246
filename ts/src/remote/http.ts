import { RefloatError, isErrorCode, type ServerProblem } from '../errors.js';
import type { Fetch } from '../globals.js';
import { JSON_BYTES, PROBLEM_BYTES, again, allowance, discard, readBody, silent, within, type Patience } from './body.js';
import { members, parsed, plain } from './text.js';

/** How often and how patiently a request is repeated. */
export interface RetryPolicy {
  /** Attempts in all, 6 by default; 1 means no repetition. */
  readonly attempts: number;
  /** Milliseconds to wait before the second attempt, 250 by default; they double with every attempt. */
  readonly firstDelayMs: number;
  /** Longest wait in milliseconds, 8000 by default. */
  readonly maxDelayMs: number;
}

/** What a client is told about the server while a request is repeated. */
export type Contact =
  | {
      /** A request is repeated. */
      readonly state: 'retrying';
      /** The attempt that comes next, from 2 to `attempts`. */
      readonly attempt: number;
      /** Attempts in all, `retry.attempts` of `ServerOptions`. */
      readonly attempts: number;
      /** Whether the server answered, asking to come back later; `false` where it did not answer at all. */
      readonly answered: boolean;
    }
  | {
      /** The server answers again, after repeated requests. */
      readonly state: 'back';
    };

/** What all requests to a server share. */
export interface HttpOptions {
  readonly fetch: Fetch;
  readonly headers: Readonly<Record<string, string>>;
  readonly retry: RetryPolicy;
  /** Milliseconds without a byte after which a request counts as lost. */
  readonly silenceMs: number;
  readonly onContact?: ((contact: Contact) => void) | undefined;
}

/** A request of this package. */
export interface HttpRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal | undefined;
  /** Statuses besides 2xx that are answers rather than errors. */
  readonly accept?: readonly number[];
  /** Milliseconds that the server may work before it answers, in addition to the silence that is always allowed. */
  readonly workMs?: number;
}

/** Answers that say to come back later. */
const BUSY: readonly number[] = [429, 502, 503, 504];

/** `fetch` bound to one server, with retries, limits, and errors that say what to do. */
export class Http {
  readonly base: string;
  readonly retry: RetryPolicy;
  readonly silenceMs: number;
  readonly #fetch: Fetch;
  readonly #headers: Headers;
  readonly #onContact: (contact: Contact) => void;
  #retrying = false;

  constructor(base: string, options: HttpOptions) {
    this.base = base.replace(/\/+$/, '');
    this.retry = options.retry;
    this.silenceMs = options.silenceMs;
    this.#fetch = options.fetch;
    this.#headers = sendable(options.headers);
    this.#onContact = options.onContact ?? (() => undefined);
  }

  /** The server's own address, without any path. */
  get origin(): string {
    return new URL(this.base).origin;
  }

  /**
   * Sends one request and returns what `take` makes of its answer. The request is repeated when the network fails, the server is overloaded
   * (429, 503) or a proxy lost it (502, 504). Every route of the server may be repeated: routes are idempotent or carry an idempotency key.
   */
  async send<T>(path: string, request: HttpRequest, take: (response: Response) => T | Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= this.retry.attempts;
      let busy: Response | undefined;
      try {
        const response = await this.once(path, request);
        if (response.ok || request.accept?.includes(response.status)) return await take(response);
        if (last || !BUSY.includes(response.status)) throw await this.problem(response, path, request.signal);
        busy = response;
        discard(response);
      } catch (error) {
        if (last || !(error instanceof RefloatError) || error.code !== 'NETWORK') throw error;
      }
      await this.wait(attempt, busy, request.signal);
    }
  }

  /** As `send`, for requests whose answer has no content. */
  done(path: string, request: HttpRequest): Promise<void> {
    return this.send(path, request, discard);
  }

  /** As `send`, but reads at most `limit` bytes; `check` may refuse them. */
  bytes(path: string, limit: number, request: HttpRequest, check: (bytes: Uint8Array, headers: Headers) => Promise<void>): Promise<Uint8Array> {
    return this.send(path, request, async (response) => {
      const bytes = await readBody(response, limit, this.patience(request.signal), `${this.base}${path}`);
      await check(bytes, response.headers);
      return bytes;
    });
  }

  /** As `send`, and reads the answer as an object in JSON. */
  json(path: string, request: HttpRequest = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.send(path, request, (response) => this.object(response, path, request.signal));
  }

  /** Reads an answer that is a JSON object. */
  async object(response: Response, path: string, signal: AbortSignal | undefined): Promise<Readonly<Record<string, unknown>>> {
    const url = `${this.base}${path}`;
    const bytes = await readBody(response, JSON_BYTES, this.patience(signal), url);
    try {
      const value = parsed(new TextDecoder().decode(bytes));
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return members(value);
    } catch {
      // The error follows below.
    }
    throw new RefloatError('SERVER', `${url} did not answer with an object in JSON; check that this is the address of a refloat server`);
  }

  /** One request without repetition, until its answer begins. */
  async once(path: string, request: HttpRequest = {}): Promise<Response> {
    request.signal?.throwIfAborted();
    const headers = new Headers(this.#headers);
    for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
    const ms = this.silenceMs + allowance(request.body?.length ?? 0) + (request.workMs ?? 0);
    const stop = new AbortController();
    try {
      const answer = this.#fetch(`${this.base}${path}`, {
        method: request.method ?? 'GET',
        headers,
        body: (request.body as BodyInit | undefined) ?? null,
        signal: stop.signal,
        cache: 'no-store',
        // Tokens and ciphertexts are for this server, not for another one that it redirects to.
        redirect: 'error',
      });
      const late = (): Error => silent(`${this.base}${path}`, ms);
      const response = await within(answer, ms, request.signal, (reason) => stop.abort(reason), late);
      if (this.#retrying && !BUSY.includes(response.status)) {
        this.#retrying = false;
        this.#onContact({ state: 'back' });
      }
      return response;
    } catch (cause) {
      request.signal?.throwIfAborted();
      if (cause instanceof RefloatError) throw cause;
      throw gone(this.base, path, cause);
    }
  }

  /** How long to wait for answers. */
  patience(signal: AbortSignal | undefined): Patience {
    return { silenceMs: this.silenceMs, signal };
  }

  /** The error for a refusal, with the server's own words. */
  async problem(response: Response, path: string, signal: AbortSignal | undefined): Promise<RefloatError> {
    const url = `${this.base}${path}`;
    let said: unknown;
    try {
      said = parsed(new TextDecoder().decode(await readBody(response, PROBLEM_BYTES, this.patience(signal), url)));
    } catch {
      signal?.throwIfAborted();
      // Not problem+json: a proxy's page, or nothing at all.
    }
    const at = [`HTTP ${response.status} from ${url}`];
    const request = response.headers.get('x-request-id');
    if (request) at.push(`request ${plain(request, 100)}`);
    // A proxy words its refusals in its own way; when it says that the server is busy, that does not point to a wrong address.
    const stranger = BUSY.includes(response.status) ? '' : ', and not in the words of a refloat server; check that this is the address of one';
    return refusal(said, { status: response.status, otherwise: `the server refused${stranger}`, at: at.join(', ') });
  }

  /** Waits before the next attempt: as long as the server's answer asks for, otherwise twice as long each time. */
  async wait(attempt: number, answer: Response | undefined, signal: AbortSignal | undefined): Promise<void> {
    this.#retrying = true;
    this.#onContact({ state: 'retrying', attempt: attempt + 1, attempts: this.retry.attempts, answered: answer !== undefined });
    const retryAfter = answer?.headers.get('retry-after') ?? '';
    const asked = /^\d+$/.test(retryAfter) ? 1000 * Number(retryAfter) : 0;
    const backoff = this.retry.firstDelayMs * 2 ** (attempt - 1);
    // Jitter keeps many clients from coming back at once.
    const jittered = Math.min(backoff, this.retry.maxDelayMs) * (0.5 + 0.5 * Math.random());
    await sleep(Math.max(Math.min(asked, 30_000), jittered), signal);
  }
}

/** Headers that can be sent; the error does not contain their values, which may be secret. */
function sendable(all: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(all)) {
    try {
      headers.set(name, value);
    } catch {
      throw new RefloatError('INVALID_ARGUMENT', `the header ${plain(name, 100)} cannot be sent: its name or value has a character that does not belong there`);
    }
  }
  return headers;
}

/** The error for a server that cannot be reached. */
export function gone(base: string, path: string, cause: unknown): RefloatError {
  // Node's fetch gives the reason one level down.
  const said = [cause, cause instanceof Error ? cause.cause : undefined].map((error) => (error instanceof Error ? error.message : undefined));
  const reason = plain(said.filter((words) => words).join(': ') || String(cause));
  const { origin } = (globalThis as { location?: { origin?: string } }).location ?? {};
  // A browser does not tell a script whether nobody answered or the answer was withheld.
  const allows = origin && !base.startsWith(`${origin}/`) && base !== origin ? ` and allows pages of this origin (refloat serve --allow-origin ${origin})` : '';
  // Browsers do not say that an answer was no TLS.
  const plainHttp = /^https:/.test(base) && (/wrong version number|EPROTO/.test(reason) || /^https:\/\/(localhost|127\.|\[::1\])/.test(base));
  const scheme = plainHttp ? 'a refloat server speaks http:// unless a proxy in front of it adds TLS: check the address, and' : 'check';
  return new RefloatError(
    'NETWORK',
    `${base} cannot be reached (${reason}); ${scheme} that the server is running${allows} and does not redirect, then ${again(path)}`,
    { cause },
  );
}

/** Repairs in the terms of this package, where a server speaks of requests. */
const REPAIRS: Readonly<Record<string, string>> = {
  TOKEN_MISSING: 'pass { token } to rf.server() with the token that its upload began with, or { keys } with the key set to the job',
  TOKEN_WRONG: 'pass { token } with the token that its upload began with',
};

/** The error described by a problem document, if it is one. */
export function refusal(
  document: unknown,
  { status, otherwise, at }: { readonly status: number; readonly otherwise: string; readonly at: string },
): RefloatError {
  const { code, detail, title } = members(document);
  const said = [detail, title].find((text) => typeof text === 'string' && text !== '') as string | undefined;
  const problem: ServerProblem = {
    status,
    ...(typeof code === 'string' ? { code: plain(code, 100) } : {}),
    ...(said === undefined ? {} : { detail: plain(said) }),
  };
  const repair = problem.code !== undefined && Object.hasOwn(REPAIRS, problem.code) ? REPAIRS[problem.code] : undefined;
  const what = problem.detail ?? otherwise;
  const sentence = repair === undefined ? what : `${what.split('; ', 1)[0]}; ${repair}`;
  return new RefloatError(isErrorCode(code) ? code : 'SERVER', `${sentence} (${at})`, { problem });
}

/** A pause; when the signal aborts, it ends early by throwing the reason. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
