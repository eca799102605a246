// A hostile server, or one that is not ours: its answers are bounded in bytes and in time, and its text is shown without
// anything that could control a terminal.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBody } from '../dist/remote/body.js';
import type { ServerOptions } from '../dist/remote/options.js';
import { Server } from '../dist/remote/server.js';
import { parsed, plain } from '../dist/remote/text.js';
import { fake, PARTS, type Fake } from './support/fake-glue.js';
import { fakeServer, problem, writeEvent, type FakeServer } from './support/fake-server.js';

const ONCE = { retry: { attempts: 1 }, timeoutMs: 5000 } satisfies ServerOptions;
const IMPATIENT = { retry: { attempts: 1 }, timeoutMs: 100 } satisfies ServerOptions;

const ESCAPES = '\u001b[2J\u001b]0;title\u0007\r\n\u009b31m\u202egnp.exe\u2066 \u{e0041} \ud800 end';
// eslint-disable-next-line no-control-regex
const STEERING = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/;

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer();
});
afterEach(() => server.close());

function client(options: ServerOptions = ONCE): { at: Fake; remote: Server } {
  const at = fake();
  return { at, remote: new Server(at.port, at.sets, server.url, options) };
}

async function job(options?: ServerOptions): Promise<unknown> {
  const { at, remote } = client(options);
  const keys = await at.keys();
  return remote.bootstrap(await keys.encrypt([1, 2]), { keys });
}

/** Answers requests for a path. */
function at(path: RegExp, answer: (response: ServerResponse, request: IncomingMessage) => void): void {
  server.intercept = (request, response) => {
    if (!path.test(request.url ?? '')) return false;
    answer(response, request);
    return true;
  };
}

/** Writes the same chunk until the client has had enough; counts the bytes written. */
function pour(response: ServerResponse, chunk: string): { bytes: number } {
  const poured = { bytes: 0 };
  const more = (): void => {
    while (!response.destroyed) {
      poured.bytes += chunk.length;
      if (!response.write(chunk)) break;
    }
  };
  response.on('drain', more);
  more();
  return poured;
}

async function message(rejecting: unknown): Promise<string> {
  return Promise.resolve(rejecting).then(
    () => expect.unreachable(),
    (error: unknown) => (error as Error).message,
  );
}

// The bytes that a test server has written include the buffers of both sockets: megabytes.
describe('answers without end', () => {
  it.each([
    ['of parameter sets', /params/, () => client().remote.params(), 25e6],
    ['of a key set', /keys/, async () => client().remote.keys('aa'.repeat(16)), 25e6],
    ['of a job', /jobs\?/, () => job(), 25e6],
    ['of a result', /result/, () => job(), 15e6],
  ])('%s are refused', async (_what, path, ask, most) => {
    let poured = { bytes: 0 };
    at(path, (response) => {
      response.writeHead(200);
      poured = pour(response, ' '.repeat(1 << 16));
    });
    await expect(ask()).rejects.toMatchObject({ code: 'SERVER', message: expect.stringMatching(/at most \d+ bytes/) as unknown });
    expect(poured.bytes).toBeLessThan(most);
  });

  it('that state 1 GiB are refused before a byte of them', async () => {
    at(/result/, (response) => {
      response.writeHead(200, { 'content-length': 2 ** 30 });
      response.flushHeaders();
    });
    await expect(job()).rejects.toMatchObject({ code: 'SERVER', message: expect.stringContaining('1073741824 bytes') as unknown });
  });

  it('of problems are cut, and the status is still told', async () => {
    at(/params/, (response) => {
      response.writeHead(403);
      pour(response, 'x'.repeat(1 << 16));
    });
    await expect(client().remote.params()).rejects.toMatchObject({ code: 'SERVER', problem: { status: 403 } });
  });

  it('of events are refused', async () => {
    let poured = { bytes: 0 };
    at(/events/, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: ');
      poured = pour(response, 'x'.repeat(1 << 16));
    });
    await expect(job()).rejects.toMatchObject({ code: 'SERVER', message: expect.stringContaining('an event of more than') as unknown });
    expect(poured.bytes).toBeLessThan(15e6);
  });

  it('that are nested without end are refused', async () => {
    at(/params/, (response) => void response.end('[{"a":'.repeat(200_000)));
    await expect(client().remote.params()).rejects.toMatchObject({ code: 'SERVER' });
    at(/params/, (response) => void response.end('['.repeat(200_000) + ']'.repeat(200_000)));
    await expect(client().remote.params()).rejects.toMatchObject({ code: 'SERVER' });
  });
});

describe('silence', () => {
  it.each([
    ['before an answer', (_response: ServerResponse): void => undefined],
    ['in the middle of an answer', (response: ServerResponse): void => void response.writeHead(200).write('{"sets":')],
  ])('%s ends', async (_what, answer) => {
    at(/params/, answer);
    await expect(client(IMPATIENT).remote.params()).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringContaining('sent nothing') as unknown,
    });
  });

  it('in the events of a job ends, after as many tries as were asked for', async () => {
    at(/events/, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    });
    // Long enough for the requests that are answered, even on a busy machine.
    await expect(job({ retry: { attempts: 2, firstDelayMs: 1 }, timeoutMs: 1500 })).rejects.toMatchObject({ code: 'NETWORK' });
    expect(server.log.filter((line) => line.endsWith('/events'))).toHaveLength(2);
  });

  it('does not outlast the caller’s signal', async () => {
    at(/params/, (response) => void response.writeHead(200).write('{'));
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(client().remote.params({ signal: controller.signal })).rejects.toThrow('enough');
  });

  it('ends a request even if the caller’s own fetch does not listen to signals', async () => {
    const deaf: typeof fetch = () => new Promise(() => undefined);
    await expect(client({ ...IMPATIENT, fetch: deaf }).remote.params()).rejects.toMatchObject({ code: 'NETWORK' });
    const controller = new AbortController();
    const asking = client({ ...ONCE, fetch: deaf }).remote.params({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
  });

  it('and trickling are the same to a reader', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        controller.enqueue(new Uint8Array(1));
      },
    });
    await expect(readBody(new Response(body), 1600, { silenceMs: 50 }, 'http://here')).rejects.toMatchObject({ code: 'NETWORK' });
  });
});

describe('a stated length', () => {
  it.each([0, 1, 3, 5, 6, 1600])('of %i is not what counts', async (stated) => {
    const response = new Response('12345', { headers: { 'content-length': String(stated) } });
    const bytes = await readBody(response, 1600, { silenceMs: 1000 }, 'http://here');
    expect(new TextDecoder().decode(bytes)).toBe('12345');
    expect(bytes.buffer.byteLength).toBe(5);
  });

  it('does not lift the limit', async () => {
    const response = new Response('12345', { headers: { 'content-length': '1' } });
    await expect(readBody(response, 4, { silenceMs: 1000 }, 'http://here')).rejects.toMatchObject({ code: 'SERVER' });
  });
});

describe('words of the server', () => {
  it.each([
    ['a problem', (): void => at(/jobs/, (response) => problem(response, 422, ESCAPES, ESCAPES + 'x'.repeat(5000)))],
    ['an end', (): void => void (server.events = [{ id: 1, type: 'end', data: { state: 'failed', problem: { title: ESCAPES } } }])],
    ['an id', (): void => at(/jobs/, (response) => void response.end(JSON.stringify({ id: ESCAPES })))],
    ['an event', (): void => void (server.events = [{ id: 1, type: 'end', data: ESCAPES }])],
    ['a header', (): void => at(/jobs/, (response) => void response.writeHead(409, { 'x-request-id': '\u009b31m' }).end())],
  ])('in %s cannot steer a terminal', async (_what, prepare) => {
    prepare();
    const said = await message(job());
    expect(said).not.toMatch(STEERING);
    expect(said.length).toBeLessThan(800);
  });

  it('keep what people write', () => {
    expect(plain('Größe 3 × 4 → „viel“ 🦭')).toBe('Größe 3 × 4 → „viel“ 🦭');
    expect(plain('x'.repeat(9), 5)).toBe('xxxxx…');
    expect(parsed('{"a":["\\u001b[2J",1]}')).toEqual({ a: ['[2J', 1] });
  });

  it('of stages are not views, and have numbers where numbers belong', async () => {
    const good = { kind: 'enter', stage: 'blind_rotate', atMs: 1 };
    const bad = [
      { ...good, kind: 'view', data: [1] },
      { ...good, atMs: '1' },
      { ...good, kind: 'progress', done: { toString: 1 }, total: 1 },
      { ...good, kind: 'progress', done: 1 },
      { ...good, kind: 'toString' },
      { ...good, kind: 'exit', counters: { ntt: [] } },
      { ...good, stage: 7 },
      [good],
      null,
    ];
    const { at: there, remote } = client();
    const keys = await there.keys();
    server.events = [{ ...good, note: 'later versions may say more' }, ...bad].map((data, i) => ({ id: i + 1, type: 'stage', data }));
    server.events.push({ id: 99, type: 'end', data: { state: 'done' } });
    const run = remote.bootstrap(await keys.encrypt([1]), { keys });
    await run;
    expect(run.events).toMatchObject([good]);
  });
});

describe('what does not belong', () => {
  it.each([[[PARTS]], [[-1]], [[0.5]], [['0']], [[null]], ['all'], [undefined], [Array.from({ length: PARTS + 1 }, () => 0)]])(
    'a list of missing parts like %j is refused',
    async (missing) => {
      at(/keys/, (response) => void response.end(JSON.stringify({ id: 'x', missing })));
      const { at: there, remote } = client();
      await expect(remote.uploadKeys(await there.keys())).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
    },
  );

  it('a job whose id is a path is refused', async () => {
    at(/jobs/, (response) => void response.end('{"id":"../keys/aa"}'));
    await expect(job()).rejects.toMatchObject({ code: 'SERVER' });
    expect(server.log).toEqual(['POST /v1/jobs']);
  });

  it('a result under another key is refused and freed', async () => {
    at(/result/, (response) => void response.end(new Uint8Array(Float64Array.of(77, 2, 1).buffer)));
    const { at: there, remote } = client();
    const keys = await there.keys();
    using ct = await keys.encrypt([1]);
    const before = there.engine.memory().objects;
    await expect(remote.bootstrap(ct, { keys })).rejects.toMatchObject({ code: 'SERVER', message: expect.stringContaining('under key') as unknown });
    await expect.poll(() => there.engine.memory().objects).toBe(before);
  });

  it('a redirection takes neither the token nor the ciphertext along', async () => {
    const other = await fakeServer();
    try {
      at(/jobs/, (response) => void response.writeHead(307, { location: `${other.url}v1/jobs` }).end());
      await expect(job()).rejects.toMatchObject({ code: 'NETWORK', message: expect.stringContaining('redirect') as unknown });
      expect(other.log).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('events that are sent again and again do not go on for ever', async () => {
    server.events = [];
    at(/events/, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // 16 MiB of one event each time, and the connection breaks.
      for (let i = 0; i < 300; i++) writeEvent(response, { id: 1, type: 'other', data: 'x'.repeat(60_000) });
      response.end();
    });
    await expect(job({ retry: { attempts: 3, firstDelayMs: 1, maxDelayMs: 1 } })).rejects.toMatchObject({ code: 'SERVER' });
  });
});
