import { RefloatError, isErrorCode, type ServerProblem } from '../errors.js';

/** How often and how patiently a request is repeated. */
export interface RetryPolicy {
  /** Tries in all; 1 means never again. */
  readonly attempts: number;
  /** Wait before the second try; it doubles from try to try. */
  readonly firstDelayMs: number;
  /** Longest wait. */
  readonly maxDelayMs: number;
}

/** What a client hears of the server while a request is repeated. */
export type Contact =
  | {
      readonly state: 'retrying';
      /** The try that comes next, from 2, and how many there are in all. */
      readonly attempt: number;
      readonly attempts: number;
      /** Did the server answer, asking to come back later, or not at all? */
      readonly answered: boolean;
    }
  /** It answers again. */
  | { readonly state: 'back' };

/** A request of this package. */
export interface HttpRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal | undefined;
  /** Statuses besides 2xx that are answers and not errors. */
  readonly accept?: readonly number[];
}

/** Answers that say to come back later. */
const BUSY: readonly number[] = [429, 502, 503, 504];

/** `fetch` bound to one server, with retries, and errors that say what to do. */
export class Http {
  readonly base: string;
  readonly retry: RetryPolicy;
  readonly #fetch: typeof fetch;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #onContact: (contact: Contact) => void;
  #retrying = false;

  constructor(
    base: string,
    fetcher: typeof fetch,
    headers: Readonly<Record<string, string>>,
    retry: RetryPolicy,
    onContact: (contact: Contact) => void = () => undefined,
  ) {
    this.base = base.replace(/\/+$/, '');
    this.#fetch = fetcher;
    this.#headers = headers;
    this.retry = retry;
    this.#onContact = onContact;
  }

  /**
   * One request, repeated when the network fails, the server is overloaded (429, 503) or a proxy
   * lost it (502, 504). Every route of the server may be repeated: they are idempotent, or carry an
   * idempotency key.
   */
  async send(path: string, request: HttpRequest = {}): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= this.retry.attempts;
      let response: Response;
      try {
        response = await this.once(path, request);
      } catch (error) {
        if (last || !(error instanceof RefloatError) || error.code !== 'NETWORK') throw error;
        await this.wait(attempt, undefined, request.signal);
        continue;
      }
      if (response.ok || request.accept?.includes(response.status)) return response;
      if (!last && BUSY.includes(response.status)) {
        await response.body?.cancel();
        await this.wait(attempt, response, request.signal);
        continue;
      }
      throw await problem(response, `${this.base}${path}`);
    }
  }

  /** As `send`, and reads the answer as JSON. */
  async json<T>(path: string, request: HttpRequest = {}): Promise<T> {
    const response = await this.send(path, request);
    try {
      return (await response.json()) as T;
    } catch (cause) {
      request.signal?.throwIfAborted();
      throw new RefloatError(
        'SERVER',
        `${this.base}${path} did not answer in JSON: check that this is the address of a refloat server`,
        { cause },
      );
    }
  }

  /** One request without repetition. */
  async once(path: string, request: HttpRequest = {}): Promise<Response> {
    request.signal?.throwIfAborted();
    try {
      const response = await this.#fetch(`${this.base}${path}`, {
        method: request.method ?? 'GET',
        headers: { ...this.#headers, ...request.headers },
        body: (request.body as BodyInit | undefined) ?? null,
        signal: request.signal ?? null,
        cache: 'no-store',
      });
      if (this.#retrying && !BUSY.includes(response.status)) {
        this.#retrying = false;
        this.#onContact({ state: 'back' });
      }
      return response;
    } catch (cause) {
      request.signal?.throwIfAborted();
      throw gone(this.base, cause);
    }
  }

  /** Waits before the next try: as long as the server asks in its answer, otherwise twice as long each time. */
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

/** The error of a server that cannot be reached. */
export function gone(base: string, cause: unknown): RefloatError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RefloatError(
    'NETWORK',
    `${base} cannot be reached (${reason}): check that the server is running and allows this origin, then call again; uploads go on where they stopped`,
    { cause },
  );
}

/** The error of a refusal, with the server's own words. */
export async function problem(response: Response, url: string): Promise<RefloatError> {
  const text = await response.text().catch(() => '');
  let body: { code?: unknown; detail?: unknown; title?: unknown } = {};
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    // Not problem+json: a proxy's page, or nothing at all.
  }
  const said = typeof body.detail === 'string' ? body.detail : typeof body.title === 'string' ? body.title : undefined;
  const details: ServerProblem = {
    status: response.status,
    ...(typeof body.code === 'string' ? { code: body.code } : {}),
    ...(said === undefined ? {} : { detail: said }),
  };
  const code = isErrorCode(body.code) ? body.code : 'SERVER';
  return new RefloatError(code, `${said ?? 'the server refused'} (HTTP ${response.status} from ${url})`, {
    problem: details,
  });
}

/** A pause that ends early, by throwing the reason, when the signal aborts. */
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
