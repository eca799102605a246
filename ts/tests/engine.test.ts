// The thin layer over the wasm module, with a module that fails in ways the real one cannot be made
// to: panics, memory that runs out, workers that die.
import { describe, expect, it, vi } from 'vitest';
import { Engine } from '../dist/engine/engine.js';
import type { GlueCiphertext, ModuleGlue } from '../dist/engine/glue.js';
import { GATES, ckks, classOf, isHandle, type Handle, type Made } from '../dist/engine/handle.js';
import { Host } from '../dist/engine/host.js';
import { once, openModule } from '../dist/engine/open.js';
import { WorkerPort, type WorkerLike } from '../dist/engine/port.js';
import { serve, type MessagePortLike } from '../dist/engine/serve.js';
import { moduleFailed, workerFailed } from '../dist/engine/start-failures.js';
import { requireSimd } from '../dist/engine/simd.js';
import { fromWire, toWire, transferables, type Reply, type Request } from '../dist/engine/wire.js';
import { RefloatError } from '../dist/errors.js';
import { loader } from '../dist/api/loader.js';
import { coded, fake, fakeGlue } from './support/fake-glue.js';

const memory = (): WebAssembly.Memory => new WebAssembly.Memory({ initial: 1 });
const engineOf = (glue: ModuleGlue): Engine => new Engine('main', glue, memory());

const MAIN = ckks('main');
const keygen = (engine: Engine): Handle & { readonly keyId: string } =>
  engine.call(classOf(MAIN, 'SecretKey'), 'generate', ['toy10', true]) as Handle & { readonly keyId: string };
const encrypt = (engine: Engine, key: Handle): Made<GlueCiphertext> => engine.call(key, 'encrypt', [new Float64Array(1)]) as Made<GlueCiphertext>;

describe('SIMD', () => {
  it('is required, with a sentence about where it is', () => {
    expect(() => requireSimd()).not.toThrow();
    try {
      requireSimd(() => false);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'NO_SIMD', message: expect.stringContaining('Safari 16.4') as unknown });
    }
  });

  it('is probed with a module that is valid only with it', () => {
    let probe: Uint8Array<ArrayBuffer> | undefined;
    requireSimd((bytes) => {
      probe = bytes;
      return true;
    });
    expect(WebAssembly.validate(probe as Uint8Array<ArrayBuffer>)).toBe(true);
    // The same bytes without the vector instruction are not a valid module, so the probe does test something.
    const broken = (probe as Uint8Array<ArrayBuffer>).map((byte) => (byte === 253 ? 254 : byte));
    expect(WebAssembly.validate(broken)).toBe(false);
  });
});

describe('traps', () => {
  const trapping = (panic: string | undefined): Engine => {
    const glue = fakeGlue((op) => {
      if (op === 'encrypt') throw new WebAssembly.RuntimeError('unreachable');
    });
    return engineOf({ ...glue, panicMessage: () => panic });
  };

  it('after a panic nothing works any more, and it says why', () => {
    const engine = trapping('index out of bounds');
    const key = keygen(engine);
    expect(() => encrypt(engine, key)).toThrow(/refloat panicked \(index out of bounds\); call Refloat.load\(\)/);
    expect(engine.poisoned).toBe(true);
    expect(() => keygen(engine)).toThrow(expect.objectContaining({ code: 'PANICKED' }) as Error);
    expect(() => engine.free(key)).not.toThrow();
  });

  it('a trap without a panic is memory that ran out', () => {
    const engine = trapping(undefined);
    const key = keygen(engine);
    expect(() => encrypt(engine, key)).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }) as Error);
  });

  it('an ordinary error is passed on with its code and hurts nobody', () => {
    const engine = engineOf(
      fakeGlue((op) => {
        if (op === 'encrypt') throw coded('LEVEL_MISMATCH', 'level 9');
      }),
    );
    const key = keygen(engine);
    expect(() => encrypt(engine, key)).toThrow(
      expect.objectContaining({ name: 'RefloatError', code: 'LEVEL_MISMATCH', message: 'level 9' }) as Error,
    );
    expect(engine.poisoned).toBe(false);
  });

  it('the next instance in the same thread replaces the crashed one', async () => {
    const reset = vi.fn();
    const glue = {
      ...fakeGlue((op) => {
        if (op === 'encrypt') throw new WebAssembly.RuntimeError('unreachable');
      }),
      __wbg_reset_state: reset,
    };
    const openIt = (source: unknown): Promise<Engine> => openModule('main', 'full', glue, source);
    const open = once(openIt);
    const first = await open(new Uint8Array());
    expect(await open(new Uint8Array())).toBe(first);
    const key = keygen(first);
    expect(() => encrypt(first, key)).toThrow(RefloatError);
    expect(reset).not.toHaveBeenCalled();
    const second = await open(new Uint8Array());
    expect(second).not.toBe(first);
    expect(reset).toHaveBeenCalledOnce();
    // What another opener replaces is gone too, although nothing had happened to it.
    await openIt(new Uint8Array());
    expect(() => keygen(second)).toThrow(expect.objectContaining({ code: 'FREED' }) as Error);
  });

  it('frees nothing in an instance that has trapped', () => {
    const free = vi.fn();
    const list = { length: () => 1, slice: () => list, append: () => undefined, free };
    const glue = {
      ...fakeGlue(),
      GateCiphertext: { fromBytes: () => list },
      use: (): never => {
        throw new WebAssembly.RuntimeError('unreachable');
      },
    };
    const engine = engineOf(glue);
    expect(() => engine.call(MAIN, 'use', [[new Uint8Array(1)]])).toThrow(RefloatError);
    expect(free).not.toHaveBeenCalled();
  });
});

describe('handles', () => {
  it('know their module, survive messages, and tell what is known', () => {
    const { engine } = fake();
    const key = keygen(engine);
    expect(key).toEqual({ module: 'main', object: expect.any(Number) as unknown, preset: 'toy10', keyId: '01'.repeat(16) });
    const ct = structuredClone(encrypt(engine, structuredClone(key)));
    expect(ct).toMatchObject({ module: 'main', preset: 'toy10', level: 2, logQ: 40, byteLength: 24 });
    expect(engine.call(key, 'decrypt', [ct])).toEqual(new Float64Array(1));
    expect([key, ct].every(isHandle)).toBe(true);
    expect([undefined, null, 5, 'x', new Float64Array(1), { level: 1 }].some(isHandle)).toBe(false);
  });

  it('are gone once freed, of whatever kind', () => {
    const { engine } = fake();
    const key = keygen(engine);
    const ct = encrypt(engine, key);
    expect(engine.memory().objects).toBe(2);
    engine.free(ct);
    engine.free(ct);
    expect(() => engine.call({ ...ct, what: 'the ciphertext' }, 'toBytes', [])).toThrow(/free\(\) was called on the ciphertext/);
    const run = engine.call(classOf(MAIN, 'BootstrapRun'), 'begin', [encrypt(engine, key)]) as Handle;
    engine.free(run);
    expect(() => engine.step(run, 'step', [])).toThrow(expect.objectContaining({ code: 'FREED' }) as Error);
    expect(() => engine.call(run, 'finish', [])).toThrow(RefloatError);
  });

  it('of a step come with what it reported, the time it took, and what is known afterwards', () => {
    const { engine } = fake();
    const key = keygen(engine);
    const boot = engine.call(classOf(MAIN, 'BootstrapKeys'), 'begin', ['toy10', new Uint8Array(16)]) as Handle;
    const run = engine.call(classOf(MAIN, 'BootstrapRun'), 'begin', [encrypt(engine, key)]) as Handle;
    const { value, events, ms, state } = engine.step(run, 'step', [boot]);
    expect([value, state]).toEqual([false, { tasks: { next: 1, perStep: 1, total: 4, secret: false } }]);
    expect(events).toMatchObject([{ kind: 'progress', stage: 'blind_rotate', done: 1, total: 4 }]);
    expect(events[0]?.atMs).toBeGreaterThanOrEqual(0);
    expect(events[0]?.atMs).toBeLessThanOrEqual(ms);
  });

  it('incomplete key sets are refused with the core’s own code', () => {
    const { engine } = fake();
    const boot = engine.call(classOf(MAIN, 'BootstrapKeys'), 'begin', ['toy10', new Uint8Array(16)]) as Handle;
    engine.call(boot, 'addFromSecret', [keygen(engine), 0]);
    expect(() => engine.call(boot, 'finish', [])).toThrow(expect.objectContaining({ code: 'MISSING_KEY' }) as Error);
  });

  it('the client artefact says where bootstrapping is', () => {
    const { BootstrapKeys, BootstrapRun, square, ...client } = fakeGlue();
    expect([BootstrapKeys, BootstrapRun, square]).not.toContain(undefined);
    const engine = engineOf(client);
    const elsewhere = /import from 'refloat' instead of 'refloat\/client'/;
    expect(() => engine.call(classOf(MAIN, 'BootstrapKeys'), 'begin', ['toy10', new Uint8Array(16)])).toThrow(elsewhere);
    expect(() => engine.call(MAIN, 'square', [])).toThrow(elsewhere);
  });

  it('are checked by the compiler', () => {
    const { port } = fake();
    // Never called: it matters only what the compiler refuses here, not what it accepts.
    const uses = async (): Promise<void> => {
      const key = await port.call(classOf(MAIN, 'SecretKey'), 'generate', 'toy10', true);
      const ct = await port.call(key, 'encrypt', new Float64Array(1), 'real', undefined, undefined);
      const run = await port.call(classOf(MAIN, 'BootstrapRun'), 'begin', ct);
      const known: [string, number] = [key.keyId, ct.level];
      // @ts-expect-error a key has no level
      known.push(key.level);
      // @ts-expect-error the values are missing
      await port.call(key, 'encrypt');
      // @ts-expect-error a key is not a ciphertext
      await port.call(key, 'decrypt', key);
      // @ts-expect-error gates are not computed on numbers
      await port.call(classOf(GATES, 'CircuitRun'), 'begin', 'input a', ct);
      // @ts-expect-error there is no such method
      await port.call(key, 'keyParts', 1);
      // @ts-expect-error the keys are missing
      await port.step(run, 'step');
    };
    expect(uses).toBeTypeOf('function');
  });
});

describe('modules', () => {
  it('are loaded with the first call of theirs, again if that fails, and not before', async () => {
    const { engine } = fake();
    const open = vi.fn((name: string) => (name === 'main' ? Promise.resolve(engine) : Promise.reject(coded('NETWORK', 'offline'))));
    const host = new Host(open);
    await host.load('main');
    await host.call(classOf(MAIN, 'SecretKey'), 'generate', ['toy10', true]);
    expect(host.memory()).toMatchObject({ objects: 1, instances: 1 });
    expect(open.mock.calls).toEqual([['main']]);
    for (const module of ['gates', 'conventional'] as const) {
      for (const times of [1, 2]) {
        await expect(host.call({ module, object: '' }, 'about', [])).rejects.toMatchObject({ code: 'NETWORK' });
        expect(open.mock.calls.filter(([name]) => name === module)).toHaveLength(times);
      }
    }
    expect(host.poisoned).toBe(false);
  });

  it('that are loaded answer at once in the same thread', async () => {
    const { host, port } = fake();
    await host.load('main');
    const made = port.call(classOf(MAIN, 'SecretKey'), 'generate', 'toy10', true);
    expect(host.memory().objects).toBe(1);
    expect((await made).preset).toBe('toy10');
  });
});

describe('messages', () => {
  it('carry errors over with code and server problem', () => {
    const problem = { status: 409, code: 'X', detail: 'y' };
    const there = fromWire(structuredClone(toWire(new RefloatError('LIMIT', 'too many', { problem }))));
    expect(there).toMatchObject({ name: 'RefloatError', code: 'LIMIT', message: 'too many', problem });
    expect(fromWire(toWire(new TypeError('odd')))).not.toBeInstanceOf(RefloatError);
    expect(fromWire(toWire('just text')).message).toBe('just text');
  });

  it('move the buffers of results, each once', () => {
    const a = new Float64Array(4);
    const view = new Uint8Array(a.buffer, 0, 2);
    expect(transferables({ events: [{ data: a, also: view, n: 1 }], text: 'x', nothing: null })).toEqual([a.buffer]);
    expect(transferables(5)).toEqual([]);
  });

  it('are served in order, one after the other, also while the module loads', async () => {
    const replies: Reply[] = [];
    let request: (message: Request) => void = () => undefined;
    const port: MessagePortLike = {
      listen: (onMessage) => void (request = onMessage),
      post: (reply) => void replies.push(reply),
    };
    serve(port, async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return fake().host;
    });
    request({ id: 1, op: 'memory', args: [] });
    request({ id: 2, op: 'init', args: [undefined] });
    request({ id: 3, op: 'memory', args: [] });
    request({ id: 0, op: 'free', args: [{ module: 'main', object: 5 }] });
    const lent = new Uint8Array(4).fill(1);
    request({ id: 4, op: 'call', args: [{ module: 'main', object: 77 }, 'toBytes', ['toy10', lent]] });
    request({ id: 5, op: 'constructor', args: [] });
    await expect.poll(() => replies).toHaveLength(6);
    expect(replies.map((r) => [r.id, r.ok])).toEqual([
      [0, true],
      [1, false],
      [2, true],
      [3, true],
      [4, false],
      [5, false],
    ]);
    expect(replies.slice(4)).toMatchObject([{ error: { code: 'FREED' } }, { error: { code: 'INVALID_ARGUMENT' } }]);
    expect([...lent], 'what a request that failed had brought is wiped').toEqual([0, 0, 0, 0]);
  });
});

describe('a worker that dies', () => {
  interface Mortal {
    readonly port: WorkerPort;
    readonly reply: (reply: Reply) => void;
    readonly die: (reason: unknown) => void;
    readonly worker: WorkerLike;
    readonly busy: boolean[];
  }

  function mortal(limit?: number): Mortal {
    let die: (reason: unknown) => void = () => undefined;
    let reply: (reply: Reply) => void = () => undefined;
    const busy: boolean[] = [];
    const worker = { post: vi.fn(), terminate: vi.fn(), hold: (b: boolean) => void busy.push(b) };
    const start = (onReply: (reply: Reply) => void, onDeath: (reason: unknown) => void): WorkerLike => {
      reply = onReply;
      die = onDeath;
      return worker;
    };
    const port = new WorkerPort(Object.assign(start, { file: 'https://a.test/worker.js' }), undefined, limit);
    return { port, reply: (message) => reply(message), die: (reason) => die(reason), worker, busy };
  }

  const hello: Reply = { id: 0, ok: true, value: undefined };

  it('rejects what is under way and what comes after', async () => {
    const { port, reply, die, busy } = mortal();
    reply(hello);
    const waiting = port.ask('memory', []);
    die('killed');
    await expect(waiting).rejects.toMatchObject({ code: 'PANICKED', cause: 'killed' });
    await expect(port.ask('memory', [])).rejects.toMatchObject({ code: 'PANICKED' });
    expect(port.dead).toBe(true);
    expect(busy.at(-1)).toBe(false);
  });

  it('before its first word is one that did not start: its file is named, and the way out', async () => {
    const failure = async (cause: unknown): Promise<string> => {
      const { port, die } = mortal();
      const waiting = port.init({}, []);
      die(cause);
      const error = await waiting.then(() => expect.unreachable(), (error: unknown) => error as RefloatError);
      expect(error).toMatchObject({ name: 'RefloatError', code: 'NO_WORKER', cause });
      expect(error.message).toContain('https://a.test/worker.js');
      return error.message;
    };
    expect(await failure(new Error('it could not be loaded'))).toMatch(/could not be loaded.*\{ worker \}/);
    expect(await failure('exit code 1')).toMatch(/exit code 1/);
    expect(await failure(new Error('violates the following Content Security Policy directive'))).toMatch(/worker-src/);
    expect(await failure(new TypeError("This document requires 'TrustedScriptURL' assignment"))).toMatch(/createScriptURL/);
    expect(await failure(Object.assign(new Error('not allowed'), { name: 'SecurityError' }))).toMatch(/origin of its page/);
  });

  it('with a module of another kind is told from one that is not served', () => {
    const origin = { option: 'wasm', file: 'refloat/refloat_full.wasm', source: 'https://a.test/import/refloat.wasm' };
    for (const reason of [
      'WebAssembly.instantiate(): Import #0 module="./other.js" error: module is not an object or function',
      "import object field './other.js' is not an Object",
      'import ./other.js:call must be an object',
    ]) {
      expect(moduleFailed(new TypeError(reason), origin)).toMatchObject({ code: 'BAD_BYTES', repair: expect.stringContaining(origin.file) as unknown });
      expect(moduleFailed(new TypeError(reason), { ...origin, source: undefined }).message).toContain('is served beside');
    }
    const missing = new TypeError(`404 Not Found fetching '${origin.source}'`);
    expect(moduleFailed(missing, origin)).toMatchObject({ code: 'NETWORK', message: expect.stringContaining('is served beside') as unknown });
    expect(moduleFailed(missing, { ...origin, source: new Uint8Array(8) })).toMatchObject({ code: 'BAD_BYTES' });
  });

  it('of another origin starts from a blob, and says what a policy has to allow for that', () => {
    const elsewhere = { file: 'https://b.test/worker.js', blobFor: 'https://b.test' };
    for (const reason of ['it could not be loaded', 'violates the following Content Security Policy directive']) {
      const { repair } = workerFailed(elsewhere, new Error(reason));
      expect(repair).toContain('worker-src');
      expect(repair).toContain('blob: and https://b.test');
    }
  });

  it('may be refused by the platform at once', () => {
    const start = Object.assign(() => {
      throw Object.assign(new Error('cannot be accessed'), { name: 'SecurityError' });
    }, { file: 'worker.js' });
    expect(() => new WorkerPort(start)).toThrow(expect.objectContaining({ code: 'NO_WORKER' }) as Error);
  });

  it('is given up when it says nothing', async () => {
    vi.useFakeTimers();
    try {
      const silent = mortal(5000);
      const waiting = silent.port.init({}, []);
      const seen = expect(waiting).rejects.toThrow(/said nothing for 5 seconds/);
      await vi.advanceTimersByTimeAsync(5001);
      await seen;
      expect(silent.worker.terminate).toHaveBeenCalled();
      expect(silent.port.dead).toBe(true);

      // A worker that has reported once may take any time.
      const slow = mortal(5000);
      slow.reply(hello);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(slow.port.dead).toBe(false);
      const closed = mortal(5000);
      closed.port.close();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(closed.worker.terminate).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is replaced by the next load()', async () => {
    const workers: { die: (reason: unknown) => void }[] = [];
    const load = loader(
      {
        artefact: 'full',
        hasWorkers: true,
        cores: () => 1,
        startWorker: Object.assign((onReply: (reply: Reply) => void, onDeath: (reason: unknown) => void) => {
          workers.push({ die: onDeath });
          const { host } = fake();
          return {
            post: ({ id, op, args }: Request) =>
              void Promise.resolve(op === 'init' ? undefined : host.perform(op, args)).then((value) => onReply({ id, ok: true, value })),
            terminate: () => undefined,
            hold: () => undefined,
          };
        }, { file: 'none' }),
        workerAt: () => expect.unreachable(),
        wrapWorker: () => expect.unreachable(),
        openDirect: () => expect.unreachable(),
      },
      (port) => ({ port }),
    );
    const one = await load({});
    expect(await load({})).toBe(one);
    workers[0]?.die('killed');
    const two = await load({});
    expect(two).not.toBe(one);
    expect(workers).toHaveLength(2);
  });

  it('is not started where there are none: the module is loaded directly', async () => {
    const load = loader(
      {
        artefact: 'full',
        hasWorkers: false,
        cores: () => 8,
        startWorker: Object.assign(() => expect.unreachable(), { file: 'none' }),
        workerAt: () => expect.unreachable(),
        wrapWorker: () => expect.unreachable(),
        openDirect: () => Promise.resolve(() => Promise.resolve(fake().host)),
      },
      (port) => ({ port }),
    );
    const { port } = await load({});
    expect(await port.ask('memory', [])).toMatchObject({ objects: 0 });
  });
});
