// Tracks spread over workers, on the real wasm in worker threads: the same bits as in one.
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { Refloat, type Ciphertext, type KeySet, type StageEvent } from 'refloat';
import { Engine } from '../dist/engine/engine.js';
import type { GlueBootstrapKeys, GlueRun, GlueSecretKey, GlueTasks } from '../dist/engine/glue.js';
import { ckks, classOf, type Handle } from '../dist/engine/handle.js';
import { Host } from '../dist/engine/host.js';
import { DirectPort, WorkerPort } from '../dist/engine/port.js';
import { WorkerPool, threadCount } from '../dist/sharing/pool.js';
import { startWorker } from '../dist/platform/node-full.js';
import { withThreads } from './support/loaded.js';

const SEED = new Uint8Array(32).fill(5);

/** The same key and the same ciphertext in any instance. */
async function same(rf: Refloat, preset: string, complex = false): Promise<{ keys: KeySet; ct: Ciphertext }> {
  const keys = await rf.keygen(preset, { allowInsecure: true, seed: SEED });
  const values = Float64Array.from({ length: keys.params.slots * (complex ? 2 : 1) }, (_, i) => Math.sin(i / 9) / 1.5);
  const mode = complex ? 'complex' : 'real';
  return { keys, ct: await keys.encrypt(values, { level: 1, seed: SEED, mode }) };
}

/** What an event says, without the time. */
function timeless({ atMs: _, ...event }: StageEvent): object {
  return event;
}

describe('threads', () => {
  for (const [preset, threads, complex] of [
    ['toy10', 3, true],
    ['toy11-31', 2, false],
  ] as const) {
    it(`${preset} on ${threads} threads gives the bits and the events of one`, async () => {
      const outcome = async (count: number): Promise<{ bytes: Uint8Array; events: object[]; instances: number }> => {
        const rf = await withThreads(count);
        expect(rf.about().threads).toBe(count);
        const { keys, ct } = await same(rf, preset, complex);
        using boot = await keys.bootstrapKeys({ resident: false });
        const run = keys.bootstrap(ct, boot);
        using fresh = await run;
        const bytes = await fresh.toBytes();
        return { bytes, events: run.events.map(timeless), instances: (await rf.memory()).instances };
      };
      const [one, many] = [await outcome(1), await outcome(threads)];
      expect(many.bytes).toEqual(one.bytes);
      expect(many.events).toEqual(one.events);
      expect([one.instances, many.instances]).toEqual([1, threads]);
    });
  }

  it('do some of the groups and of the tracks', async () => {
    // This copy of the package starts the workers that are watched.
    const { Refloat: Watched } = await import('../dist/index.js');
    const ask = vi.spyOn(WorkerPort.prototype, 'ask');
    using rf = await Watched.load({ threads: 2 });
    const { keys, ct } = await same(rf, 'toy11-31');
    using boot = await keys.bootstrapKeys({ resident: false });
    await rf.memory(); // answered when the workers are ready
    using _fresh = await keys.bootstrap(ct, boot);
    // The calls for each of the two stages, beginning with its helper's.
    const stages: unknown[][] = [];
    for (const [target, method] of ask.mock.calls.map(([, args]) => args as unknown as [Handle | undefined, string])) {
      if (target?.object === 'Helper' && method === 'begin') stages.push([]);
      stages.at(-1)?.push(method);
    }
    expect(stages).toHaveLength(2);
    for (const asked of stages) for (const what of ['compute', 'supply']) expect(asked).toContain(what);
    ask.mockRestore();
  });

  it('do every round of several', async () => {
    const outcome = async (count: number): Promise<[Uint8Array, object[]]> => {
      const rf = await withThreads(count);
      const { keys, ct } = await same(rf, 'toy10');
      using boot = await keys.bootstrapKeys({ resident: false });
      const run = keys.bootstrap(ct, boot, { rounds: 2 });
      using fresh = await run;
      expect(fresh.level).toBe(keys.params.outputLevel - 1);
      return [await fresh.toBytes(), run.events.map(timeless)];
    };
    const [one, two] = [await outcome(1), await outcome(2)];
    expect(two).toEqual(one);
    expect(one[1].at(-1)).toMatchObject({ kind: 'exit', stage: 'meta_correct' });
  });

  it('decrypt on the way when asked to, in the order of the tracks', async () => {
    const rf = await withThreads(2);
    const { keys, ct } = await same(rf, 'toy10');
    using boot = await keys.bootstrapKeys({ resident: false });
    const run = keys.bootstrap(ct, boot, { inspect: true });
    using fresh = await run;
    const tracks = run.events.flatMap((e) => (e.kind === 'view' && e.stage === 'blind_rotate' ? [e.track] : []));
    expect(tracks).toEqual(Array.from({ length: keys.params.tracks }, (_, i) => i));
    expect(fresh.level).toBe(keys.params.outputLevel);
  });

  it('leave nothing behind after a run, finished or cancelled', async () => {
    const rf = await withThreads(2);
    const { keys, ct } = await same(rf, 'toy10');
    using boot = await keys.bootstrapKeys({ resident: false });
    const before = (await rf.memory()).objects;
    const run = keys.bootstrap(ct, boot);
    for await (const e of run) if (e.kind === 'progress' && e.done === 3) break;
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    expect(run.events.filter((e) => e.kind === 'progress').length).toBeLessThan(keys.params.tracks);
    (await keys.bootstrap(ct, boot)).free();
    await expect.poll(async () => (await rf.memory()).objects).toBe(before);
  });

  it('wait while a run is paused, and go on step by step', async () => {
    const rf = await withThreads(2);
    const { keys, ct } = await same(rf, 'toy10');
    using boot = await keys.bootstrapKeys({ resident: false });
    const run = keys.bootstrap(ct, boot);
    run.pause();
    for (let step = 0; step < 5; step++) await run.step();
    expect(run.events.filter((e) => e.kind === 'progress')).toHaveLength(2);
    run.resume();
    using fresh = await run;
    expect(fresh.level).toBe(keys.params.outputLevel);
  });

  it('end with the instance', async () => {
    const rf = await withThreads(2);
    const { keys, ct } = await same(rf, 'toy10');
    const boot = await keys.bootstrapKeys({ resident: false });
    const run = keys.bootstrap(ct, boot);
    for await (const e of run) if (e.kind === 'progress') break;
    rf.close();
    await expect(run).rejects.toMatchObject({ code: 'FREED' });
  });

  it('are refused where there are no workers, or no such number', async () => {
    await expect(Refloat.load({ worker: false, threads: 2 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    for (const threads of [0, 1.5, -1, 1000, Number.NaN]) {
      await expect(Refloat.load({ threads })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    expect([threadCount('auto', 1), threadCount(undefined, 2), threadCount('auto', 64)]).toEqual([1, 2, 4]);
  });
});

const MAIN = ckks('main');
const HELPER = classOf(MAIN, 'Helper');
/** Tasks of bootstraps need no results of other tasks. */
const NOTHING = new Uint8Array();

describe('a worker of the pool', () => {
  it('computes tracks that a run takes in', async () => {
    const pool = onePool();
    const { port } = await direct();
    const { run, secret, rest } = await atTheTracks(port);
    const boot = rest[1] as Handle<GlueBootstrapKeys>;
    const { value: brief } = await port.step(run, 'brief', boot);
    const lent = await port.call(secret, 'exportSecret');
    const [helper] = await Promise.all(
      pool.each(async (worker) => ({ worker, tracks: await worker.move(HELPER, 'begin', 'toy10', brief.slice(), lent) })),
    );
    const { worker, tracks } = helper!;
    expect(lent).toHaveLength(0); // moved, not copied
    const track = await worker.call(tracks, 'compute', 0, NOTHING);
    await port.call(run, 'supply', 0, track);
    await expect(port.call(run, 'supply', 15, track)).rejects.toThrow(/task 15/);
    await expect(port.call(run, 'supply', 1, track.slice(8))).rejects.toThrow();
    // The step takes in the supplied track and computes none itself.
    expect((await port.step(run, 'step', boot)).state.tasks).toMatchObject({ next: 1, perStep: 1, secret: true });
    expect((await pool.memory()).objects).toBe(1);
    worker.release(tracks);
    expect((await pool.memory()).objects).toBe(0);
    pool.close();
  });

  it('multiplies groups that a run takes in', async () => {
    const pool = onePool();
    const { port } = await direct();
    const finished = async (prepare: (run: Handle<GlueRun>, boot: Awaited<ReturnType<typeof bootOf>>) => Promise<void>): Promise<Uint8Array> => {
      const secret = await port.call(classOf(MAIN, 'SecretKey'), 'generate', 'toy10', true, SEED);
      const ct = await port.call(secret, 'encrypt', Float64Array.of(0.5, -0.25), 'real', 1, SEED);
      const run = await port.call(classOf(MAIN, 'BootstrapRun'), 'begin', ct, 'real');
      const boot = await bootOf(port, secret);
      await prepare(run, boot);
      for (;;) {
        const { value, state } = await port.step(run, 'step', boot);
        const tasks: GlueTasks | undefined = state.tasks;
        expect(tasks?.secret).not.toBe(false);
        if (value) break;
      }
      return port.call(await port.call(run, 'finish'), 'toBytes');
    };
    const alone = await finished(() => Promise.resolve());
    const shared = await finished(async (run, boot) => {
      const { events, value: brief, state } = await port.step(run, 'brief', boot);
      const tasks: GlueTasks = state.tasks;
      expect(tasks).toMatchObject({ next: 0, perStep: tasks.total, secret: false });
      expect(events).toMatchObject([{ kind: 'enter', stage: 'slots_to_coeffs' }]);
      const [helper] = await Promise.all(
        pool.each(async (worker) => ({ worker, groups: await worker.call(HELPER, 'begin', 'toy10', brief) })),
      );
      const { worker, groups } = helper!;
      expect(brief.length).toBeGreaterThan(0); // copied, not moved
      for (let group = 1; group < tasks.total; group += 2) {
        const sum = await worker.call(groups, 'compute', group, NOTHING);
        await expect(port.call(run, 'supply', group, sum.slice(1))).rejects.toThrow();
        await port.call(run, 'supply', group, sum);
      }
      await port.step(run, 'ahead', boot, 0);
      await expect(worker.call(groups, 'compute', 1000, NOTHING)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      worker.release(groups);
    });
    expect(shared).toEqual(alone);
    expect((await pool.memory()).objects).toBe(0);
    pool.close();
  });

  it('that cannot start or prepare is dropped', async () => {
    const pool = new WorkerPool(1, () => Promise.reject(new Error('no worker today')));
    expect(await Promise.all(pool.each(() => expect.unreachable()))).toEqual([undefined]);
    expect(await Promise.all(pool.copies({ module: 'main', object: 1 }, () => expect.unreachable()))).toEqual([undefined]);
    expect(await pool.memory()).toEqual({ bytes: 0, objects: 0, instances: 0 });
    const other = onePool();
    expect(await Promise.all(other.each(() => Promise.reject(new Error('not ready'))))).toEqual([undefined]);
    other.close();
  });

  it('wipes the secret key it was lent', async () => {
    const { port, memory } = await direct();
    const held = (bytes: Uint8Array): boolean => Buffer.from(memory.buffer).includes(Buffer.from(bytes));
    const { run, secret, rest } = await atTheTracks(port);
    const { value: brief } = await port.step(run, 'brief', rest[1] as Handle<GlueBootstrapKeys>);
    const lent = await port.call(secret, 'exportSecret');
    const seed = lent.slice(64, 96); // what the key was made from: the payload of the wire form
    for (const handle of [run, secret, ...rest]) port.release(handle);
    expect(held(seed)).toBe(false);
    const tracks = await port.call(HELPER, 'begin', 'toy10', brief, lent);
    expect(lent.every((byte) => byte === 0)).toBe(true);
    await port.call(tracks, 'compute', 3, NOTHING);
    expect(held(seed)).toBe(true);
    port.release(tracks);
    expect(held(seed)).toBe(false);
    expect(held(seed.slice(0, 16)) || held(seed.slice(16))).toBe(false);
  });

  it('wipes the bytes of a key that it cannot use', async () => {
    const { port } = await direct();
    const lent = new Uint8Array(200).fill(7);
    await expect(port.call(HELPER, 'begin', 'toy10', NOTHING, lent)).rejects.toMatchObject({ code: 'BAD_BYTES' });
    expect(lent.every((byte) => byte === 0)).toBe(true);
  });
});

/** A pool of one worker. */
function onePool(): WorkerPool {
  return new WorkerPool(1, async () => {
    const port = new WorkerPort(startWorker);
    await port.init({}, []);
    return port;
  });
}

/** The full module in this thread, in an instance of its own. */
async function direct(): Promise<{ port: DirectPort; memory: WebAssembly.Memory }> {
  const glue = await import('../dist/wasm/refloat_full.js');
  const bytes = readFileSync(new URL('../dist/wasm/refloat_full_bg.wasm', import.meta.url));
  const { memory } = await glue.default({ module_or_path: bytes });
  const host = new Host(() => Promise.resolve(new Engine('main', glue, memory)));
  return { port: new DirectPort(host), memory };
}

const bootOf = (port: DirectPort, secret: Handle<GlueSecretKey>) => port.call(classOf(MAIN, 'BootstrapKeys'), 'generated', secret);

/** A run of toy10 that has reached its tracks, and everything else that was made for it. */
async function atTheTracks(port: DirectPort): Promise<{ run: Handle<GlueRun>; secret: Handle<GlueSecretKey>; rest: Handle[] }> {
  const secret = await port.call(classOf(MAIN, 'SecretKey'), 'generate', 'toy10', true);
  const ct = await port.call(secret, 'encrypt', Float64Array.of(0.5, -0.25), 'real', 1);
  const boot = await bootOf(port, secret);
  const run = await port.call(classOf(MAIN, 'BootstrapRun'), 'begin', ct, 'real');
  for (let tasks: GlueTasks | undefined; !tasks?.secret; ) ({ tasks } = (await port.step(run, 'step', boot)).state);
  return { run, secret, rest: [ct, boot] };
}
