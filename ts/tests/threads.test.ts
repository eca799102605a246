// Tracks spread over workers, on the real wasm in worker threads: the same bits as in one.
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { Refloat, type Ciphertext, type KeySet, type StageEvent } from 'refloat';
import { Engine } from '../dist/engine/engine.js';
import { TrackPool, threadCount } from '../dist/engine/pool.js';
import { WorkerPort } from '../dist/engine/port.js';
import type { Glue } from '../dist/engine/glue.js';
import { startWorker } from '../dist/platform/node-full.js';

const SEED = new Uint8Array(32).fill(5);
const loaded: Refloat[] = [];
afterEach(() => {
  for (const rf of loaded.splice(0)) rf.close();
});

async function withThreads(threads: number): Promise<Refloat> {
  const rf = await Refloat.load({ threads });
  loaded.push(rf);
  return rf;
}

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

describe('a worker of the pool', () => {
  it('computes tracks that a run takes in', async () => {
    const pool = new TrackPool(1, async () => {
      const port = new WorkerPort(startWorker);
      await port.init({}, []);
      return port;
    });
    const engine = await direct();
    const { run, secret } = atTheTracks(engine);
    const phases = engine.runPhases(run);
    const bytes = engine.secretForPool(secret);
    const [helper] = await Promise.all(pool.helpers({ mode: 'real', phases, secret: () => Promise.resolve(bytes) }));
    expect(bytes).toHaveLength(0); // moved, not copied
    const result = await helper!.compute(0);
    engine.runSupply(run, 0, result);
    expect(() => engine.runSupply(run, 15, result)).toThrow(/track 15/);
    expect(() => engine.runSupply(run, 1, { ...result, bytes: result.bytes.slice(8) })).toThrow();
    expect(engine.runStep(run).nextTrack).toBe(1);
    expect((await pool.memory()).objects).toBe(1);
    helper!.release();
    expect((await pool.memory()).objects).toBe(0);
    pool.close();
  });

  it('multiplies groups that a run takes in', async () => {
    const pool = new TrackPool(1, async () => {
      const port = new WorkerPort(startWorker);
      await port.init({}, []);
      return port;
    });
    const engine = await direct();
    const finished = (prepare: (run: number) => Promise<void>): Promise<Uint8Array> => {
      const { handle: secret } = engine.keygen('toy10', true, SEED);
      const { handle: ct } = engine.encrypt(secret, Float64Array.of(0.5, -0.25), 'real', 1, SEED);
      const run = engine.runBegin(ct, engine.bootGenerated(secret).handle, 'real', undefined, undefined);
      return prepare(run).then(() => {
        while (!engine.runStep(run).finished);
        expect(engine.runGroups(run)).toBe(0);
        return engine.ciphertextToBytes(engine.runFinish(run).handle);
      });
    };
    const alone = await finished(() => Promise.resolve());
    const shared = await finished(async (run) => {
      const { events, input } = engine.runMatrix(run);
      expect(events).toMatchObject([{ kind: 'enter', stage: 'slots_to_coeffs' }]);
      const [helper] = await Promise.all(pool.multipliers('toy10', input));
      expect(input.steps.length).toBeGreaterThan(0); // copied, not moved
      for (let group = 1; group < engine.runGroups(run); group += 2) {
        const words = await helper!.group(group);
        expect(() => engine.runSupplyGroup(run, group, words.slice(1))).toThrow();
        engine.runSupplyGroup(run, group, words);
      }
      engine.runMultiply(run, 0);
      await expect(helper!.group(1000)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      helper!.release();
    });
    expect(shared).toEqual(alone);
    expect((await pool.memory()).objects).toBe(0);
    pool.close();
  });

  it('that cannot start is done without', async () => {
    const pool = new TrackPool(1, () => Promise.reject(new Error('no worker today')));
    const job = { mode: 'real' as const, phases: new Float64Array(2), secret: () => expect.unreachable() };
    expect(await Promise.all(pool.helpers(job))).toEqual([undefined]);
    const input = { scale: new Float64Array(2), steps: new Uint32Array(1) };
    expect(await Promise.all(pool.multipliers('toy10', input))).toEqual([undefined]);
    expect(await pool.memory()).toEqual({ bytes: 0, objects: 0, instances: 0 });
  });

  it('wipes the secret key it was lent', async () => {
    const engine = await direct();
    const { memory } = await (await glue()).default();
    const held = (bytes: Uint8Array): boolean => Buffer.from(memory.buffer).includes(Buffer.from(bytes));
    const { run, secret } = atTheTracks(engine);
    const phases = engine.runPhases(run);
    const lent = engine.secretForPool(secret);
    const seed = lent.slice(64, 96); // what the key was made from: the payload of the wire form
    for (const handle of everything(engine, secret)) engine.free(handle);
    expect(held(seed)).toBe(false);
    const tracks = engine.tracksBegin(lent, 'real', phases);
    expect(lent.every((byte) => byte === 0)).toBe(true);
    engine.tracksCompute(tracks, 3);
    expect(held(seed)).toBe(true);
    engine.free(tracks);
    expect(held(seed)).toBe(false);
    expect(held(seed.slice(0, 16)) || held(seed.slice(16))).toBe(false);
  });
});

async function glue(): Promise<Glue> {
  return (await import('../dist/wasm/refloat_full.js')) as unknown as Glue;
}

/** An engine in this thread. */
async function direct(): Promise<Engine> {
  const module = await glue();
  const bytes = readFileSync(new URL('../dist/wasm/refloat_full_bg.wasm', import.meta.url));
  const { memory } = await module.default({ module_or_path: bytes });
  return new Engine(module, memory);
}

/** A run of toy10 that has come to its tracks. */
function atTheTracks(engine: Engine): { run: number; secret: number } {
  const { handle: secret } = engine.keygen('toy10', true, undefined);
  const { handle: ct } = engine.encrypt(secret, Float64Array.of(0.5, -0.25), 'real', 1, undefined);
  const { handle: boot } = engine.bootGenerated(secret);
  const run = engine.runBegin(ct, boot, 'real', undefined, undefined);
  expect(() => engine.runPhases(run)).toThrow(/step it up/);
  while (engine.runStep(run).nextTrack === undefined);
  return { run, secret };
}

/** The handles from the secret key's on: those `atTheTracks` has made. */
function everything(engine: Engine, secret: number): number[] {
  return Array.from({ length: engine.memory().objects }, (_, i) => secret + i);
}
