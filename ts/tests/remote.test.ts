import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Contact } from '../dist/remote/http.js';
import { toHex } from '../dist/hex.js';
import type { ServerOptions } from '../dist/remote/options.js';
import { Server } from '../dist/remote/server.js';
import { fake, fakeDigest, PARTS, type Fake, type Trouble } from './support/fake-glue.js';
import { fakeServer, problem, writeEvent, type FakeServer } from './support/fake-server.js';

const FAST = { retry: { attempts: 4, firstDelayMs: 1, maxDelayMs: 4 } } satisfies ServerOptions;

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer();
});
afterEach(() => server.close());

function client(trouble?: Trouble, options: ServerOptions = FAST): { at: Fake; remote: Server } {
  const at = fake(trouble);
  return { at, remote: new Server(at.port, at.sets, server.url, options) };
}

describe('uploading keys', () => {
  it('sends every part once, a few at a time, and seals the set', async () => {
    server.slow = 5;
    const { at, remote } = client();
    const keys = await at.keys();
    const run = remote.uploadKeys(keys);
    const sealed = await run;
    expect(sealed).toMatchObject({ id: keys.id, params: 'toy10', digest: 'd1', bytes: 91 });
    expect(server.log.filter((line) => line.startsWith('PUT'))).toHaveLength(PARTS);
    expect([...server.chunks].sort(([a], [b]) => a - b).map(([i, b]) => [i, b.length, b[0]])).toEqual(
      Array.from({ length: PARTS }, (_, i) => [i, 10 + i, i]),
    );
    expect(server.peak).toBe(2);
    expect(run.events.map((e) => e.done)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(run.events.at(-1)).toMatchObject({ total: PARTS, bytes: 91, totalBytes: 91 });
  });

  it('goes on where it stopped, without making again what the server has', async () => {
    let made = 0;
    const { at, remote } = client((op) => void (made += op === 'keyPart' ? 1 : 0));
    const keys = await at.keys();
    const controller = new AbortController();
    const first = remote.uploadKeys(keys, { signal: controller.signal });
    for await (const e of first) if (e.done === 3) break;
    controller.abort(new Error('tab closed'));
    await expect(first).rejects.toThrow('tab closed');
    // The part under way is still finished.
    await new Promise((resolve) => setTimeout(resolve));
    const had = server.chunks.size;
    expect(had).toBeGreaterThanOrEqual(3);
    expect(had).toBeLessThan(PARTS);
    made = 0;
    const second = remote.uploadKeys(keys);
    await second;
    // A part that was on its way when the run ended may have arrived since.
    const present = second.events[0]?.done ?? 0;
    expect(present).toBeGreaterThanOrEqual(had);
    expect(made).toBe(PARTS - present);
    expect(second.events.at(-1)).toMatchObject({ done: PARTS, bytes: 91 });
  });

  it('can be paused and stepped part by part', async () => {
    const { at, remote } = client();
    const run = remote.uploadKeys(await at.keys());
    run.pause();
    await run.step();
    await run.step();
    expect(server.log.filter((line) => line.startsWith('PUT')).length).toBeLessThanOrEqual(2);
    run.resume();
    await run;
  });

  it('repeats what the network lost', async () => {
    let cuts = 3;
    server.intercept = (request) => {
      if (request.method !== 'PUT' || cuts === 0) return false;
      cuts -= 1;
      request.socket.destroy();
      return true;
    };
    const { at, remote } = client();
    await remote.uploadKeys(await at.keys());
    expect(server.chunks.size).toBe(PARTS);
    expect(server.log.filter((line) => line.startsWith('PUT')).length).toBe(PARTS + 3);
  });

  it('waits when the server is busy', async () => {
    let refusals = 2;
    server.intercept = (request, response) => {
      if (request.method !== 'PUT' || refusals === 0) return false;
      refusals -= 1;
      response.writeHead(429, { 'retry-after': '0' }).end();
      return true;
    };
    const { at, remote } = client();
    await remote.uploadKeys(await at.keys());
    expect(server.chunks.size).toBe(PARTS);
  });

  it('tells when it tries again and when the server is back', async () => {
    const heard: Contact[] = [];
    let failures = 3;
    server.intercept = (request, response) => {
      if (request.method !== 'PUT' || failures === 0) return false;
      failures -= 1;
      if (failures === 0) response.writeHead(503, { 'retry-after': '0' }).end();
      else request.socket.destroy();
      return true;
    };
    const { at, remote } = client(undefined, { ...FAST, inFlight: 1, onContact: (contact) => heard.push(contact) });
    await remote.uploadKeys(await at.keys());
    const { attempts } = FAST.retry;
    expect(heard).toEqual([
      { state: 'retrying', attempt: 2, attempts, answered: false },
      { state: 'retrying', attempt: 3, attempts, answered: false },
      { state: 'retrying', attempt: 4, attempts, answered: true },
      { state: 'back' },
    ]);
  });

  it('stops with the server gone, and says what to do', async () => {
    const { at, remote } = client();
    const keys = await at.keys();
    const run = remote.uploadKeys(keys);
    server.intercept = (request) => {
      if (server.chunks.size < 2) return false;
      request.socket.destroy();
      return true;
    };
    await expect(run).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringMatching(/check that the server is running.*go on where they stopped/) as unknown,
    });
    expect(run.state).toBe('failed');
  });

  it('passes on what the server refuses, without repeating it', async () => {
    server.intercept = (request, response) => {
      if (request.method !== 'PUT') return false;
      problem(response, 422, 'BAD_BYTES', 'residue 7 is not below its modulus');
      return true;
    };
    const { at, remote } = client();
    await expect(remote.uploadKeys(await at.keys())).rejects.toMatchObject({
      code: 'BAD_BYTES',
      message: expect.stringContaining('residue 7') as unknown,
      problem: { status: 422, code: 'BAD_BYTES', detail: 'residue 7 is not below its modulus' },
    });
    expect(server.log.filter((line) => line.startsWith('PUT')).length).toBeLessThanOrEqual(2);
  });

  it('notices a refusal that comes while the next parts are made', async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', listen);
    server.intercept = (request, response) => {
      if (!request.url?.endsWith('/chunks/0')) return false;
      problem(response, 422, 'BAD_BYTES', 'not like this');
      return true;
    };
    const { at, remote } = client(undefined, { ...FAST, inFlight: 10 });
    await expect(remote.uploadKeys(await at.keys())).rejects.toMatchObject({ code: 'BAD_BYTES' });
    expect(server.log.some((line) => line.endsWith('/commit'))).toBe(false);
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
  });

  it('stops when a part cannot be made, leaving no request behind', async () => {
    let [made, begun, ended] = [0, 0, 0];
    server.slow = 20;
    // Counted on this side, since the time when the server hears of a request depends on how busy the machine is.
    const counting: typeof fetch = (input, init) => {
      begun += 1;
      return fetch(input, init).finally(() => (ended += 1));
    };
    const { at, remote } = client(
      (op) => {
        if (op === 'keyPart' && ++made === 3) throw new Error('no more');
      },
      { ...FAST, fetch: counting },
    );
    await expect(remote.uploadKeys(await at.keys())).rejects.toThrow('no more');
    expect([begun, ended]).toEqual([3, 3]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(begun).toBe(3);
  });

  it('fails with FREED when the keys are freed on the way', async () => {
    server.slow = 5;
    const { at, remote } = client();
    const keys = await at.keys();
    const run = remote.uploadKeys(keys);
    for await (const e of run) if (e.done === 2) break;
    keys.free();
    await expect(run).rejects.toMatchObject({ code: 'FREED' });
  });
});

describe('tokens', () => {
  it('are derived from the secret key and the address, and shown with every request about the keys', async () => {
    const seen = new Set<unknown>();
    server.intercept = (request) => {
      if (request.url !== '/v1/params') seen.add(request.headers.authorization);
      return false;
    };
    const { at, remote } = client();
    const keys = await at.keys();
    const theirs = await remote.uploadKeys(keys);
    await remote.bootstrap(await keys.encrypt([1]));
    await remote.keys(keys.id);
    await theirs.wake();
    expect(server.log.at(-1)).toBe(`POST /v1/keys/${keys.id}/wake`);
    await theirs.delete();
    expect([...seen]).toEqual([`Bearer ${theirs.token}`]);
    expect(theirs.token).toMatch(/^[0-9a-f]{64}$/);
    expect(theirs.token).toBe(toHex(await at.port.call(keys.handleIn(at.port), 'serverToken', new URL(server.url).origin)));
    expect(JSON.stringify(server.manifest)).not.toContain(theirs.token);
  });

  it('are known in another session with the same secret key, and nowhere else', async () => {
    const { at, remote } = client();
    const keys = await at.keys();
    await remote.uploadKeys(keys);
    const again = new Server(at.port, at.sets, server.url, FAST);
    const ct = await keys.encrypt([1]);
    await expect(again.bootstrap(ct)).rejects.toMatchObject({ problem: { status: 401, code: 'TOKEN_MISSING' }, repair: expect.stringMatching(/^pass \{ token \} to rf\.server\(\) .* or \{ keys \} with the key set to the job$/) as unknown });
    await again.bootstrap(ct, { keys });
    await again.bootstrap(ct);
    const stranger = new Server(at.port, at.sets, server.url, { ...FAST, token: '0'.repeat(64) });
    await expect(stranger.bootstrap(ct)).rejects.toMatchObject({ problem: { status: 403, code: 'TOKEN_WRONG' }, repair: expect.stringMatching(/^pass \{ token \}/) as unknown });
    await expect(stranger.keys(keys.id)).rejects.toMatchObject({ problem: { code: 'TOKEN_WRONG' } });
    expect((await stranger.keys(keys, { token: (await again.keys(keys))?.token ?? '' }))?.id).toBe(keys.id);
  });

  it('can be chosen, and are checked before they are sent or shown', async () => {
    const { at, remote } = client();
    const keys = await at.keys();
    const token = 'ab'.repeat(32);
    const theirs = await remote.uploadKeys(keys, { token });
    expect([theirs.token, server.token]).toEqual([token, token]);
    await remote.bootstrap(await keys.encrypt([1]), { keys: theirs });
    const wrong = 'AB'.repeat(32);
    await expect(remote.uploadKeys(keys, { token: wrong })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(remote.uploadKeys(keys, { token: wrong })).rejects.not.toThrow(wrong);
  });

  it('that were refused are not remembered', async () => {
    const { at, remote } = client();
    const keys = await at.keys();
    const theirs = await remote.uploadKeys(keys);
    await expect(remote.keys(keys, { token: '0'.repeat(64) })).rejects.toMatchObject({ problem: { code: 'TOKEN_WRONG' } });
    await remote.bootstrap(await keys.encrypt([1]));
    expect((await remote.keys(keys.id))?.token).toBe(theirs.token);
  });

  it('are not asked for by jobs on a public set', async () => {
    const { at, remote } = client();
    const keys = await at.keys();
    await remote.uploadKeys(keys, { public: true });
    expect(server.manifest).toMatchObject({ public: true });
    const anyone = new Server(at.port, at.sets, server.url, FAST);
    await anyone.bootstrap(await keys.encrypt([1]));
    await expect((await anyone.keys(keys.id))?.delete()).rejects.toMatchObject({ problem: { code: 'TOKEN_MISSING' } });
  });

  it('come beside API keys and headers of the caller, which they replace by their own name only', async () => {
    const seen: unknown[] = [];
    server.intercept = (request) => {
      seen.push([request.headers['x-api-key'], request.headers.authorization, request.headers['x-mine']]);
      return false;
    };
    const { at, remote } = client(undefined, { ...FAST, apiKey: 'k', headers: { Authorization: 'Basic eA==', 'x-mine': '1' } });
    await remote.params().catch(() => undefined);
    const theirs = await remote.uploadKeys(await at.keys());
    expect(seen[0]).toEqual(['k', 'Basic eA==', '1']);
    expect(seen[1]).toEqual(['k', `Bearer ${theirs.token}`, '1']);
  });
});

describe('digests and healing', () => {
  it('seals under a digest of all parts, and sends again what the server has otherwise', async () => {
    const { at, remote } = client();
    let poisoned = false;
    server.intercept = (request) => {
      if (!poisoned && request.url?.endsWith('/commit')) {
        poisoned = true;
        server.chunks.set(3, new Uint8Array(13));
      }
      return false;
    };
    await remote.uploadKeys(await at.keys());
    expect(server.chunks.get(3)?.[0]).toBe(3);
    expect(server.log.filter((line) => line.endsWith('/chunks/3'))).toHaveLength(2);
    expect(server.log.filter((line) => line.endsWith('/commit'))).toHaveLength(2);
  });

  it('sends a part again that the server loses before it seals', async () => {
    const { at, remote } = client();
    let lost = false;
    server.intercept = (request) => {
      if (!lost && request.url?.endsWith('/commit')) lost = server.chunks.delete(5);
      return false;
    };
    await remote.uploadKeys(await at.keys());
    expect([server.chunks.size, server.sealed]).toEqual([PARTS, true]);
  });

  it('does not seal parts that somebody else has put into an open set', async () => {
    const { at, remote } = client();
    server.chunks.set(2, new Uint8Array(12));
    await remote.uploadKeys(await at.keys());
    expect(server.chunks.get(2)?.[0]).toBe(2);
  });

  it('says what is wrong when the server insists', async () => {
    const { at, remote } = client();
    server.intercept = (request, response) => {
      if (!request.url?.endsWith('/commit')) return false;
      problem(response, 409, 'PIECES_DIFFER', 'the pieces are others');
      return true;
    };
    await expect(remote.uploadKeys(await at.keys())).rejects.toMatchObject({ problem: { code: 'PIECES_DIFFER' } });
  });

  it('sends a part again that the server has lost, says so, and has the job done', async () => {
    const { at, remote } = client();
    const keys = await at.keys();
    await remote.uploadKeys(keys);
    server.chunks.delete(4);
    const run = remote.bootstrap(await keys.encrypt([1, 2, 3]));
    expect([...(await keys.decrypt(await run))]).toEqual([1, 2, 3]);
    expect(run.events.filter((e) => e.kind === 'repair').map((e) => [e.done, e.total, e.label])).toEqual([
      [PARTS - 1, PARTS, `${PARTS - 1} parts are on the server already`],
      [PARTS, PARTS, 'part 4'],
    ]);
    expect(server.log.filter((line) => line === 'POST /v1/jobs')).toHaveLength(2);
  });

  it('heals a part that a job has found damaged, also in another session, and tries once only', async () => {
    const { at, remote } = client();
    const keys = await at.keys();
    await remote.uploadKeys(keys);
    let made = 0;
    const later = client((op) => void (made += op === 'keyPart' ? 1 : 0));
    const same = await later.at.keys();
    const good = server.events;
    server.events = [{ id: 1, type: 'end', data: { state: 'failed', problem: { status: 409, code: 'KEY_PIECE_DAMAGED', detail: 'upload piece 5 again' } } }];
    server.intercept = (request) => {
      if (request.url?.endsWith('/events')) server.chunks.delete(5);
      if (request.url?.endsWith('/chunks/5')) server.events = good;
      return false;
    };
    const run = later.remote.bootstrap(await same.encrypt([1]), { keys: same });
    await run;
    expect(made).toBe(1);
    server.intercept = (request) => {
      if (request.url?.endsWith('/chunks/6')) server.chunks.delete(6);
      if (request.url?.startsWith('/v1/jobs')) server.chunks.delete(6);
      return false;
    };
    await expect(later.remote.bootstrap(await same.encrypt([1]), { keys: same })).rejects.toMatchObject({
      problem: { status: 409, code: 'KEYS_INCOMPLETE', detail: 'upload piece 6 again' },
    });
  });

  it('cannot heal without the secret key, and passes on what the server says', async () => {
    const { at, remote } = client();
    const keys = await at.keys();
    const theirs = await remote.uploadKeys(keys);
    server.chunks.delete(1);
    const ct = await keys.encrypt([1]);
    keys.free();
    await expect(remote.bootstrap(ct, { keys: theirs })).rejects.toMatchObject({
      message: expect.stringContaining('upload piece 1 again') as unknown,
      problem: { code: 'KEYS_INCOMPLETE' },
    });
  });

  it('fetches a result again that was damaged on the way', async () => {
    let damaged = 2;
    server.intercept = (request, response) => {
      if (!request.url?.endsWith('/result') || damaged === 0) return false;
      damaged -= 1;
      response.writeHead(200, { 'refloat-digest': '0'.repeat(64) }).end(new Uint8Array(24));
      return true;
    };
    const { at, remote } = client();
    const keys = await at.keys();
    expect([...(await keys.decrypt(await remote.bootstrap(await keys.encrypt([1]))))]).toEqual([1]);
    expect(server.log.filter((line) => line.endsWith('/result'))).toHaveLength(3);
  });

  it('sends the digest of what it has computed', async () => {
    let digest: unknown;
    server.intercept = (request) => {
      if (request.url?.startsWith('/v1/jobs?')) digest = request.headers['refloat-digest'];
      return false;
    };
    const { at, remote } = client();
    const ct = await (await at.keys()).encrypt([1]);
    await remote.bootstrap(ct);
    expect(digest).toBe(toHex(fakeDigest(await ct.toBytes())));
  });
});

describe('jobs', () => {
  it('streams the stages and reads the result', async () => {
    const { at, remote } = client();
    const keys = await at.keys();
    const ct = await keys.encrypt([1, 2, 3]);
    const run = remote.bootstrap(ct, { keys, op: ['square', 'bootstrap'] });
    const fresh = await run;
    expect(run.events.map((e) => e.kind)).toEqual(['enter', 'progress', 'progress']);
    // One step of slots_to_coeffs and three tracks.
    expect(run.events.map((e) => e.fraction)).toEqual([0, 3 / 8, 3 / 4]);
    expect([...(await keys.decrypt(fresh))]).toEqual([1, 2, 3]);
    expect(server.log).toEqual(['POST /v1/jobs', 'GET /v1/jobs/job1/events', 'GET /v1/jobs/job1/result']);
  });

  it('takes a broken event stream up again after the last event it saw', async () => {
    const last: unknown[] = [];
    let run: ReturnType<Server['bootstrap']> | undefined;
    server.intercept = (request, response) => {
      if (!request.url?.endsWith('/events')) return false;
      last.push(request.headers['last-event-id']);
      if (last.length > 3) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      writeEvent(response, server.events[last.length - 1] as never);
      const seen = last.length;
      const cut = (): void => void request.socket.destroy();
      if (seen === 2) response.end();
      else void expect.poll(() => run?.events.length).toBe(seen).then(cut, cut);
      return true;
    };
    const { at, remote } = client();
    const keys = await at.keys();
    run = remote.bootstrap(await keys.encrypt([1]));
    await run;
    expect(last).toEqual([undefined, '1', '2', '3']);
    expect(run.events).toHaveLength(3);
  });

  it('says with every event how much is done: never less than before, and all with the last', async () => {
    const exit = (id: number, stage: string): (typeof server.events)[number] => ({ id, type: 'stage', data: { kind: 'exit', stage, atMs: id } });
    const enter = (id: number, stage: string): (typeof server.events)[number] => ({ id, type: 'stage', data: { kind: 'enter', stage, atMs: id } });
    const running = (id: number): (typeof server.events)[number] => ({ id, type: 'state', data: { state: 'running' } });
    const { at, remote } = client();
    const keys = await at.keys();
    const fractions = async (events: typeof server.events, end: unknown): Promise<(number | undefined)[]> => {
      server.events = [...events, { id: 99, type: 'end', data: end }];
      const run = remote.bootstrap(await keys.encrypt([1]));
      await run.catch(() => undefined);
      return run.events.map((e) => e.fraction);
    };
    const half = [running(1), enter(2, 'slots_to_coeffs'), exit(3, 'slots_to_coeffs'), enter(4, 'blind_rotate')];
    expect(await fractions([...half, exit(5, 'blind_rotate')], { state: 'done' })).toEqual([0, 0.25, 0.25, 1]);
    // A worker of the server was lost, and another one starts over.
    const again = [running(5), enter(6, 'slots_to_coeffs'), exit(7, 'slots_to_coeffs'), enter(8, 'blind_rotate'), exit(9, 'blind_rotate')];
    expect(await fractions([...half, ...again], { state: 'done' })).toEqual([0, 0.25, 0.25, 0.25, 0.25, 0.25, 1]);
    // Loading keys is not a new attempt.
    const loading = { id: 5, type: 'state', data: { state: 'running', phase: 'load_keys', done: 1, total: 2 } };
    expect(await fractions([...half, loading, exit(6, 'blind_rotate')], { state: 'done' })).toEqual([0, 0.25, 0.25, 1]);
    // A failed job is not done, whatever its last event was.
    const failed = await fractions([...half, exit(5, 'blind_rotate')], { state: 'failed', problem: { code: 'INTERNAL', detail: 'no' } });
    expect(failed.slice(0, 3)).toEqual([0, 0.25, 0.25]);
    expect(failed[3]).toBeLessThan(1);
  });

  it('reports the failure of a job with the code of the server', async () => {
    server.events = [
      { id: 1, type: 'end', data: { state: 'failed', problem: { code: 'LEVEL_MISMATCH', detail: 'level 0 is too low' } } },
    ];
    const { at, remote } = client();
    const keys = await at.keys();
    await expect(remote.bootstrap(await keys.encrypt([1]))).rejects.toMatchObject({
      code: 'LEVEL_MISMATCH',
      message: expect.stringContaining('level 0 is too low') as unknown,
    });
  });

  it('rejects with ABORTED when somebody else cancels the job', async () => {
    server.events = [{ id: 1, type: 'end', data: { state: 'cancelled' } }];
    const { at, remote } = client();
    const keys = await at.keys();
    await expect(remote.bootstrap(await keys.encrypt([1]))).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('cancels the job on the server when the run is cancelled', async () => {
    server.intercept = (request, response) => {
      if (!request.url?.endsWith('/events')) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      writeEvent(response, server.events[0] as never);
      return true; // and never ends
    };
    const { at, remote } = client();
    const keys = await at.keys();
    const run = remote.bootstrap(await keys.encrypt([1]));
    for await (const e of run) if (e.kind === 'enter') break;
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    await expect.poll(() => server.deleted).toEqual(['/v1/jobs/job1']);
  });

  it('gives up on a server that has gone, and says what to do', async () => {
    server.intercept = (request) => {
      if (!request.url?.endsWith('/events')) return false;
      request.socket.destroy();
      return true;
    };
    const { at, remote } = client();
    const keys = await at.keys();
    await expect(remote.bootstrap(await keys.encrypt([1]))).rejects.toMatchObject({ code: 'NETWORK' });
    expect(server.log.filter((line) => line.endsWith('/events'))).toHaveLength(4);
  });

  it('says that keys are missing', async () => {
    server.intercept = (request, response) => {
      if (request.method !== 'POST') return false;
      problem(response, 404, 'MISSING_KEY', 'no keys of this id: upload them first');
      return true;
    };
    const { at, remote } = client();
    const keys = await at.keys();
    await expect(remote.bootstrap(await keys.encrypt([1]))).rejects.toMatchObject({ code: 'MISSING_KEY' });
    server.intercept = (request, response) => {
      if (request.method !== 'POST') return false;
      problem(response, 404, 'NOT_FOUND', 'no keys of this id; upload them with refloat keys upload');
      return true;
    };
    await expect(remote.bootstrap(await keys.encrypt([1]))).rejects.toMatchObject({ code: 'MISSING_KEY', repair: 'send them with await server.uploadKeys(keys)' });
  });

  it('refuses keys that are not the ciphertext’s own', async () => {
    const { at, remote } = client();
    const [mine, other] = [await at.keys(), await at.keys()];
    const ct = await mine.encrypt([1]);
    expect(() => remote.bootstrap(ct, { keys: other })).toThrow(/use what belongs to one key set/);
  });
});

describe('addresses and answers', () => {
  it('refuses what is not an address, cannot be a header or is not a time', () => {
    const { at } = client();
    const made = (options: ServerOptions) => (): unknown => new Server(at.port, at.sets, server.url, options);
    expect(made({ apiKey: 'ge\nheim' })).toThrow(/the header x-api-key cannot be sent/);
    expect(made({ apiKey: 'gehéim → x' })).not.toThrow(/geh/);
    expect(made({ timeoutMs: 0 })).toThrow(/timeoutMs is 0/);
    expect(made({ timeoutMs: NaN })).toThrow(/timeoutMs is NaN/);
    expect(() => new Server(at.port, at.sets, 'not an address', {})).toThrow(/http:\/\/host:port/);
  });

  it('recognises a server that is not one of ours', async () => {
    server.intercept = (_request, response) => {
      response.end('<html>hello</html>');
      return true;
    };
    await expect(client().remote.params()).rejects.toMatchObject({ code: 'SERVER' });
    server.intercept = (_request, response) => {
      response.end('{"hello":1}');
      return true;
    };
    await expect(client().remote.params()).rejects.toMatchObject({ code: 'SERVER' });
    server.intercept = (_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>not here</html>');
      return true;
    };
    await expect(client().remote.params()).rejects.toMatchObject({
      code: 'SERVER',
      message: expect.stringMatching(/^the server refused, and not in the words of a refloat server; .* \(HTTP 404 from /) as unknown,
      repair: 'check that this is the address of one',
    });
  });

  it('sends the headers it was given', async () => {
    let seen: unknown;
    server.intercept = (request, response) => {
      seen = request.headers.authorization;
      response.end('{"sets":[],"limits":{"chunkBytes":1,"maxQueued":1},"backend":"x","threads":1}');
      return true;
    };
    const { remote } = client(undefined, { ...FAST, headers: { authorization: 'Bearer t' } });
    expect((await remote.params()).sets).toEqual([]);
    expect(seen).toBe('Bearer t');
  });

  it('knows no keys that are not complete', async () => {
    server.intercept = (request, response) => {
      if (!request.url?.startsWith('/v1/keys/aa')) return false;
      response.end('{"id":"aa","params":"toy10","state":"open","missing":[1]}');
      return true;
    };
    const { remote } = client();
    expect(await remote.keys('aa'.repeat(16))).toBeUndefined();
    expect(await remote.keys('bb'.repeat(16))).toBeUndefined();
  });
});
