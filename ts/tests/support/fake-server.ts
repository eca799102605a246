// A server that answers as the real one does but computes nothing: for failures that a real one
// cannot be made to have. tests/server.test.ts talks to the real one.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PARTS, fakeDigest } from './fake-glue.js';

/** Looks at a request before the server does; returning true means "answered". */
export type Interceptor = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface FakeServer {
  readonly url: string;
  readonly log: string[];
  readonly chunks: Map<number, Uint8Array>;
  readonly deleted: string[];
  /** The token of the key set, once there is one. */
  token: string | undefined;
  /** Whether jobs need no token. */
  public: boolean;
  sealed: boolean;
  /** What the manifest of the set said. */
  manifest: Record<string, unknown> | undefined;
  /** Largest number of chunks received at the same time. */
  peak: number;
  /** Milliseconds a chunk takes. */
  slow: number;
  intercept: Interceptor;
  /** Events of the next job, and how it ends. */
  events: { id: number; type: string; data: unknown }[];
  close(): Promise<void>;
}

export async function fakeServer(): Promise<FakeServer> {
  let result: Uint8Array = new Uint8Array();
  let busy = 0;
  const server: Server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state: FakeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    log: [],
    chunks: new Map(),
    deleted: [],
    token: undefined,
    public: false,
    sealed: false,
    manifest: undefined,
    peak: 0,
    slow: 0,
    intercept: () => false,
    events: [
      { id: 1, type: 'stage', data: { kind: 'enter', stage: 'blind_rotate', atMs: 1 } },
      { id: 2, type: 'stage', data: { kind: 'progress', stage: 'blind_rotate', done: 1, total: 2, atMs: 2 } },
      { id: 3, type: 'stage', data: { kind: 'progress', stage: 'blind_rotate', done: 2, total: 2, atMs: 3 } },
      { id: 4, type: 'end', data: { state: 'done' } },
    ],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const route = `${request.method} ${path.replace(/\?.*/, '')}`;
    state.log.push(route);
    if (state.intercept(request, response)) return;
    const body = await read(request);
    const json = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    const chunk = /^PUT \/v1\/keys\/\w+\/chunks\/(\d+)$/.exec(route);
    const digest = request.headers['refloat-digest'];
    if (!mayDo(state, request, response)) return;
    if (digest !== undefined && digest !== hex(fakeDigest(body))) {
      problem(response, 422, 'DIGEST_MISMATCH', 'the body is not what was sent');
    } else if (route === 'POST /v1/keys') {
      const asked = JSON.parse(Buffer.from(body).toString()) as { keyId: string; public?: boolean };
      state.manifest ??= asked;
      state.token ??= request.headers.authorization?.replace('Bearer ', '');
      state.public ||= asked.public === true;
      json(state.chunks.size ? 200 : 201, { id: asked.keyId, ...document(state) });
    } else if (chunk) {
      state.peak = Math.max(state.peak, ++busy);
      await new Promise((resolve) => setTimeout(resolve, state.slow));
      busy -= 1;
      state.chunks.set(Number(chunk[1]), body);
      response.writeHead(204).end();
    } else if (/^POST \/v1\/keys\/\w+\/commit$/.test(route)) {
      const asked = JSON.parse(Buffer.from(body).toString()) as { digest?: string };
      const all = hex(fakeDigest(Buffer.from(digests(state).join(''), 'hex')));
      if (missing(state).length) problem(response, 409, 'KEYS_INCOMPLETE', 'parts are missing');
      else if (asked.digest !== undefined && asked.digest !== all) problem(response, 409, 'PIECES_DIFFER', 'other pieces');
      else {
        state.sealed = true;
        json(200, { id: 'x', digest: 'd1', bytes: 91 });
      }
    } else if (/^POST \/v1\/keys\/\w+\/wake$/.test(route)) {
      response.writeHead(202).end();
    } else if (state.manifest && route === `GET /v1/keys/${String(state.manifest['keyId'])}`) {
      json(200, { id: state.manifest['keyId'], params: state.manifest['params'], digest: 'd1', bytes: 91, ...document(state) });
    } else if (route === 'POST /v1/jobs') {
      if (state.manifest && !document(state).sealed) {
        problem(response, 409, 'KEYS_INCOMPLETE', `upload piece ${missing(state).join()} again`);
        return;
      }
      result = body;
      json(202, { id: 'job1', state: 'queued' });
    } else if (route === 'GET /v1/jobs/job1/events') {
      const last = Number(request.headers['last-event-id'] ?? 0);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of state.events.filter((e) => e.id > last)) writeEvent(response, event);
      response.end();
    } else if (route === 'GET /v1/jobs/job1/result') {
      response.writeHead(200, { 'refloat-digest': hex(fakeDigest(result)) }).end(result);
    } else if (request.method === 'DELETE') {
      state.deleted.push(path);
      response.writeHead(204).end();
    } else {
      problem(response, 404, 'NOT_FOUND', `there is no ${path}`);
    }
  }
  return state;
}

export function writeEvent(response: ServerResponse, event: { id: number; type: string; data: unknown }): void {
  response.write(`event: ${event.type}\nid: ${event.id}\ndata: ${JSON.stringify(event.data)}\n\n`);
}

export function problem(response: ServerResponse, status: number, code: string, detail: string): void {
  response
    .writeHead(status, { 'content-type': 'application/problem+json' })
    .end(JSON.stringify({ type: 'about:blank', title: 'No', status, code, detail }));
}

/** Refuses requests without the set's token; a public set requires it only for changes. */
function mayDo(state: FakeServer, request: IncomingMessage, response: ServerResponse): boolean {
  const shown = request.headers.authorization;
  const free = state.public && (request.url?.startsWith('/v1/jobs') === true || request.method === 'GET');
  if (state.token === undefined || free || shown === `Bearer ${state.token}`) return true;
  if (shown === undefined) problem(response, 401, 'TOKEN_MISSING', 'this key set asks for its token');
  else problem(response, 403, 'TOKEN_WRONG', 'this is not the token of the key set');
  return false;
}

/** What the server tells of its set. */
function document(state: FakeServer): { state: string; sealed: boolean; missing: number[]; digests: (string | null)[] } {
  const sealed = state.sealed && missing(state).length === 0;
  return { state: sealed ? 'sealed' : 'open', sealed, missing: missing(state), digests: digests(state) };
}

function digests(state: FakeServer): (string | null)[] {
  return Array.from({ length: PARTS }, (_, i) => state.chunks.get(i)).map((body) => (body ? hex(fakeDigest(body)) : null));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function missing(state: FakeServer): number[] {
  return Array.from({ length: PARTS }, (_, i) => i).filter((i) => !state.chunks.has(i));
}

async function read(request: IncomingMessage): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return new Uint8Array(Buffer.concat(pieces));
}
