// The thin layer over the wasm module, with a module that fails in ways the real one cannot be asked
// to: panics, memory that runs out, workers that die.
import { describe, expect, it, vi } from 'vitest';
import { Engine } from '../dist/engine/engine.js';
import type { Glue } from '../dist/engine/glue.js';
import { Host } from '../dist/engine/host.js';
import { once, openModule, type Module } from '../dist/engine/open.js';
import { WorkerPort, type WorkerLike } from '../dist/engine/port.js';
import { serve, type MessagePortLike } from '../dist/engine/serve.js';
import { requireSimd } from '../dist/engine/simd.js';
import { fromWire, toWire, transferables, type Reply, type Request } from '../dist/engine/wire.js';
import { RefloatError } from '../dist/errors.js';
import { loader } from '../dist/api/loader.js';
import { coded, fake, fakeGlue } from './support/fake-glue.js';

const memory = (): WebAssembly.Memory => new WebAssembly.Memory({ initial: 1 });

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
    // The same bytes without the vector instruction are not a module: the probe tests something.
    const broken = (probe as Uint8Array<ArrayBuffer>).map((byte) => (byte === 253 ? 254 : byte));
    expect(WebAssembly.validate(broken)).toBe(false);
  });
});

describe('traps', () => {
  const trapping = (panic: string | undefined): Engine => {
    const glue = fakeGlue((op) => {
      if (op === 'encrypt') throw new WebAssembly.RuntimeError('unreachable');
    });
    return new Engine({ ...glue, panicMessage: () => panic }, memory());
  };

  it('after a panic nothing works any more, and it says why', () => {
    const engine = trapping('index out of bounds');
    const { handle } = engine.keygen('toy10', true, undefined);
    const encrypt = (): unknown => engine.encrypt(handle, new Float64Array(1), undefined, undefined, undefined);
    expect(encrypt).toThrow(/refloat panicked \(index out of bounds\): call Refloat.load\(\)/);
    expect(engine.poisoned).toBe(true);
    expect(() => engine.keygen('toy10', true, undefined)).toThrow(
      expect.objectContaining({ code: 'PANICKED' }) as Error,
    );
    expect(() => engine.free(handle)).not.toThrow();
  });

  it('a trap without a panic is memory that ran out', () => {
    const engine = trapping(undefined);
    const { handle } = engine.keygen('toy10', true, undefined);
    expect(() => engine.encrypt(handle, new Float64Array(1), undefined, undefined, undefined)).toThrow(
      expect.objectContaining({ code: 'OUT_OF_MEMORY' }) as Error,
    );
  });

  it('an ordinary error is passed on with its code and hurts nobody', () => {
    const glue = fakeGlue((op) => {
      if (op === 'encrypt') throw coded('LEVEL_MISMATCH', 'level 9');
    });
    const engine = new Engine(glue, memory());
    const { handle } = engine.keygen('toy10', true, undefined);
    expect(() => engine.encrypt(handle, new Float64Array(1), undefined, undefined, undefined)).toThrow(
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
    const module: Module<Glue, Engine> = { glue, engine: Engine, fallback: () => Promise.resolve(undefined), option: 'wasm' };
    const open = once((source) => openModule(module, source));
    const first = await open(new Uint8Array());
    expect(await open(new Uint8Array())).toBe(first);
    const { handle } = first.keygen('toy10', true, undefined);
    expect(() => first.encrypt(handle, new Float64Array(1), undefined, undefined, undefined)).toThrow(RefloatError);
    expect(reset).not.toHaveBeenCalled();
    const second = await open(new Uint8Array());
    expect(second).not.toBe(first);
    expect(reset).toHaveBeenCalledOnce();
    // What another opener puts in its place is gone too, although nothing had happened to it.
    await openModule(module, new Uint8Array());
    expect(() => second.keygen('toy10', true, undefined)).toThrow(expect.objectContaining({ code: 'FREED' }) as Error);
  });
});

describe('handles', () => {
  it('are gone once freed, of whatever kind', () => {
    const { engine } = fake();
    const key = engine.keygen('toy10', true, undefined);
    const ct = engine.encrypt(key.handle, new Float64Array(1), undefined, undefined, undefined);
    expect(engine.memory().objects).toBe(2);
    engine.free(ct.handle);
    engine.free(ct.handle);
    expect(() => engine.ciphertextToBytes(ct.handle)).toThrow(/free\(\) was called on the ciphertext/);
    const boot = engine.bootBegin('toy10', key.id);
    const other = engine.encrypt(key.handle, new Float64Array(1), undefined, undefined, undefined);
    const run = engine.runBegin(other.handle, boot, undefined, undefined, undefined);
    engine.free(run);
    expect(() => engine.runStep(run)).toThrow(/free\(\) was called on the run/);
    expect(() => engine.runFinish(run)).toThrow(RefloatError);
  });

  it('incomplete key sets are refused with the core’s own code', () => {
    const { engine } = fake();
    const key = engine.keygen('toy10', true, undefined);
    const boot = engine.bootBegin('toy10', key.id);
    engine.bootPart(boot, key.handle, 0);
    expect(() => engine.bootFinish(boot)).toThrow(expect.objectContaining({ code: 'MISSING_KEY' }) as Error);
  });

  it('the client artefact says where bootstrapping is', () => {
    const { BootstrapKeys, BootstrapRun, square, ...client } = fakeGlue();
    expect([BootstrapKeys, BootstrapRun, square]).not.toContain(undefined);
    const engine = new Engine(client, memory());
    expect(engine.describe().about.artefact).toBe('client');
    expect(() => engine.bootBegin('toy10', '00')).toThrow(/import from 'refloat' instead of 'refloat\/client'/);
  });
});

describe('gates', () => {
  it('are loaded with the first operation on them, again if that fails, and not before', async () => {
    const open = vi.fn(() => Promise.reject(coded('NETWORK', 'offline')));
    const { engine } = fake();
    const host = new Host(engine, open, open);
    await host.call('keygen', ['toy10', true, undefined]);
    expect(await host.call('memory', [])).toMatchObject({ objects: 1, instances: 1 });
    expect(open).not.toHaveBeenCalled();
    for (const times of [1, 2]) {
      await expect(host.call('gatePresets', [])).rejects.toMatchObject({ code: 'NETWORK' });
      expect(open).toHaveBeenCalledTimes(times);
    }
    expect(host.poisoned).toBe(false);
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
    request({ id: 0, op: 'free', args: [5] });
    request({ id: 4, op: 'ciphertextToBytes', args: [77] });
    await vi.waitFor(() => expect(replies).toHaveLength(4));
    expect(replies.map((r) => [r.id, r.ok])).toEqual([
      [1, false],
      [2, true],
      [3, true],
      [4, false],
    ]);
    expect(replies[3]).toMatchObject({ error: { code: 'FREED' } });
  });
});

describe('a worker that dies', () => {
  function mortal(): { port: WorkerPort; die: (reason: unknown) => void; worker: WorkerLike; busy: boolean[] } {
    let die: (reason: unknown) => void = () => undefined;
    const busy: boolean[] = [];
    const worker = { post: vi.fn(), terminate: vi.fn(), hold: (b: boolean) => void busy.push(b) };
    const port = new WorkerPort((_onReply, onDeath) => {
      die = onDeath;
      return worker;
    });
    return { port, die, worker, busy };
  }

  it('rejects what is under way and what comes after', async () => {
    const { port, die, busy } = mortal();
    const waiting = port.call('memory');
    die('killed');
    await expect(waiting).rejects.toMatchObject({ code: 'PANICKED', cause: 'killed' });
    await expect(port.call('memory')).rejects.toMatchObject({ code: 'PANICKED' });
    expect(port.dead).toBe(true);
    expect(busy.at(-1)).toBe(false);
  });

  it('is replaced by the next load()', async () => {
    const workers: { die: (reason: unknown) => void }[] = [];
    const load = loader(
      {
        hasWorkers: true,
        cores: () => 1,
        startWorker: (onReply, onDeath) => {
          workers.push({ die: onDeath });
          const { engine } = fake();
          return {
            post: ({ id, op }) =>
              queueMicrotask(() =>
                onReply({ id, ok: true, value: op === 'describe' ? engine.describe() : undefined }),
              ),
            terminate: () => undefined,
            hold: () => undefined,
          };
        },
        wrapWorker: () => () => expect.unreachable(),
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
        hasWorkers: false,
        cores: () => 8,
        startWorker: () => expect.unreachable(),
        wrapWorker: () => () => expect.unreachable(),
        openDirect: () => Promise.resolve(() => Promise.resolve(fake().host)),
      },
      (port) => ({ port }),
    );
    const { port } = await load({});
    expect(await port.call('memory')).toMatchObject({ objects: 0 });
  });
});
