// Runs shared by many workers: the same bits with one to eight of them, and when some are killed in the middle of a task.
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refloat, type BootstrapKeys, type Ciphertext, type CircuitInfo, type GateCiphertext, type GateKeys, type KeySet } from 'refloat';
import { withThreads } from './support/loaded.js';

const SEED = new Uint8Array(32).fill(9);
const TOY = { allowInsecure: true, seed: SEED };
const INPUTS = Array.from({ length: 16 }, (_, i) => i % 5 < 2);

/** The threads that this process starts, in order: the first of an instance is its own worker, the others are its pool. */
let threads: Worker[] = [];
const started = (worker: Worker): void => void threads.push(worker);
beforeEach(() => {
  threads = [];
  process.on('worker', started);
});
afterEach(() => {
  process.off('worker', started);
});

/** The same keys and the same ciphertexts in any instance. */
interface Same {
  readonly keys: KeySet;
  readonly ct: Ciphertext;
  readonly boot: BootstrapKeys;
  readonly gates: GateKeys;
  readonly bits: GateCiphertext;
  readonly adder: CircuitInfo;
}

async function same(rf: Refloat): Promise<Same> {
  const keys = await rf.keygen('toy10', TOY);
  const values = Float64Array.from({ length: keys.params.slots }, (_, i) => Math.cos(i / 7) / 1.25);
  const secret = await rf.gates.keygen('toy-bool', TOY);
  return {
    keys,
    ct: await keys.encrypt(values, { level: keys.params.inputLevel, seed: SEED }),
    boot: await keys.bootstrapKeys({ resident: false }),
    gates: await secret.evaluationKeys(),
    bits: await secret.encrypt(INPUTS, { seed: SEED }),
    adder: await rf.gates.adder(8, 'prefix'),
  };
}

async function bootstrapped({ keys, ct, boot }: Same): Promise<Uint8Array> {
  using fresh = await keys.bootstrap(ct, boot);
  return fresh.toBytes();
}

async function added({ gates, bits, adder }: Same): Promise<Uint8Array> {
  using sum = await gates.run(adder, bits);
  return sum.toBytes();
}

/** The results of one thread. */
let alone: Promise<{ readonly fresh: Uint8Array; readonly sum: Uint8Array }> | undefined;
function ofOneThread(): NonNullable<typeof alone> {
  return (alone ??= (async () => {
    using rf = await Refloat.load({ threads: 1 });
    const there = await same(rf);
    return { fresh: await bootstrapped(there), sum: await added(there) };
  })());
}

interface Message {
  readonly op: string;
  readonly args: readonly unknown[];
}

/** Watches the messages that a thread is sent. */
function watch(thread: Worker, heard: (method: string) => void): void {
  const post = thread.postMessage.bind(thread);
  thread.postMessage = (message: Message, transfer) => {
    post(message, transfer);
    if (message.op === 'call' || message.op === 'step') heard(String(message.args[1]));
  };
}

/** The methods that make a helper in a worker; a helper computes the tasks of one stage. */
const BEGIN = ['begin', 'helper'];

/** The stages whose tasks are shared, counted from 1: those of a bootstrapping, and that of a circuit. */
const [PRODUCTS, TRACKS, GATES] = [1, 2, 1];

/** Listens to the tasks that a thread is given for one stage of its next run. */
function watchTasks(thread: Worker, stage: number, given: () => void): void {
  let begun = 0;
  watch(thread, (method) => {
    if (BEGIN.includes(method)) begun += 1;
    if (method === 'compute' && begun === stage) given();
  });
}

/** Kills a thread while it computes its first task of a stage; the returned function tells how many tasks it was given. */
function killAt(thread: Worker, stage: number): () => number {
  let given = 0;
  watchTasks(thread, stage, () => {
    given += 1;
    if (given === 1) void thread.terminate();
  });
  return () => given;
}

/** Counts the tasks whose results the other workers hand to the instance's own. */
function handedIn(): () => number {
  let results = 0;
  watch(threads[0] as Worker, (method) => {
    if (method === 'supply') results += 1;
  });
  return () => results;
}

/** The threads of the pool that still run: one that has ended has no number. */
function pool(): Worker[] {
  return threads.slice(1).filter(({ threadId }) => threadId !== -1);
}

/**
 * Kills so many threads of the pool, each while it computes a task of a stage: the first that are given any. The returned function ends this,
 * waits for those killed, and tells their number.
 */
function killFirst(number: number, stage: number): () => Promise<number> {
  const gone: Promise<unknown>[] = [];
  let over = false;
  for (const thread of pool()) {
    watchTasks(thread, stage, () => {
      if (over || gone.length === number) return;
      gone.push(new Promise((resolve) => thread.once('exit', resolve)));
      void thread.terminate();
    });
  }
  return async () => {
    over = true;
    return (await Promise.all(gone)).length;
  };
}

/** One thread computes alone; each further one is a worker of the pool. */
const COUNTS = [2, 3, 4, 5, 6, 7, 8, 9];

describe('from one to nine threads', () => {
  for (const count of COUNTS) {
    it(`${count} give the bits of one`, async () => {
      const { fresh, sum } = await ofOneThread();
      threads = [];
      const rf = await withThreads(count);
      const there = await same(rf);
      // Once this is answered, the whole pool is ready for tracks and has the keys of gates.
      await rf.memory();
      const tracks = handedIn();
      expect(await bootstrapped(there)).toEqual(fresh);
      expect(tracks()).toBeGreaterThan(0);
      await added(there);
      await rf.memory();
      const gates = handedIn();
      expect(await added(there)).toEqual(sum);
      expect(gates()).toBeGreaterThan(0);
      expect(threads).toHaveLength(count);
    });
  }
});

describe('a worker killed in the middle', () => {
  for (const [what, stage, run] of [
    ['a product of a bootstrapping’s first stage', PRODUCTS, bootstrapped],
    ['a track of a bootstrapping', TRACKS, bootstrapped],
    ['a gate of a circuit', GATES, added],
  ] as const) {
    it(`of ${what} loses nothing, and another takes its place`, async () => {
      const one = await ofOneThread();
      threads = [];
      const wanted = run === bootstrapped ? one.fresh : one.sum;
      const rf = await withThreads(3);
      const there = await same(rf);
      // The pool exists, with everything it keeps for such runs.
      expect(await run(there)).toEqual(wanted);
      await rf.memory();
      expect(threads).toHaveLength(3);
      const objects = (await rf.memory()).objects;
      const instances = (await rf.memory()).instances;

      const killed = threads[1] as Worker;
      const gone = new Promise((resolve) => killed.once('exit', resolve));
      const given = killAt(killed, stage);
      expect(await run(there)).toEqual(wanted);
      expect(given()).toBeGreaterThanOrEqual(1);
      await gone;

      // The next shared run has another worker in its place, which does its share once it is ready.
      expect(await run(there)).toEqual(wanted);
      expect(threads).toHaveLength(4);
      await expect.poll(async () => (await rf.memory()).objects).toBeLessThanOrEqual(objects);
      expect((await rf.memory()).instances).toBe(instances);
      let helps = 0;
      watchTasks(threads[3] as Worker, stage, () => (helps += 1));
      expect(await run(there)).toEqual(wanted);
      expect(helps).toBeGreaterThan(0);
    });
  }

  for (const count of COUNTS) {
    it(`of a track or of a gate changes no bit, with ${count} threads: one of the pool, then all but one`, async () => {
      const one = await ofOneThread();
      threads = [];
      const rf = await withThreads(count);
      const there = await same(rf);
      // With one worker in the pool, the run is left to its own; with two, all but one is one.
      const numbers = new Set([1, Math.max(1, count - 2)]);
      for (const [wanted, stage, run] of [
        [one.fresh, TRACKS, bootstrapped],
        [one.sum, GATES, added],
      ] as const) {
        // After this the whole pool is ready, with everything it keeps for such runs.
        await run(there);
        await rf.memory();
        for (const number of numbers) {
          expect(pool()).toHaveLength(count - 1);
          const killed = killFirst(number, stage);
          expect(await run(there)).toEqual(wanted);
          expect(await killed()).toBeGreaterThan(0);
          // The next run puts others in their places.
          await run(there);
          await rf.memory();
        }
        const helped = handedIn();
        expect(await run(there)).toEqual(wanted);
        expect(helped()).toBeGreaterThan(0);
      }
    });
  }

  it('however often, one after the other', async () => {
    const { fresh } = await ofOneThread();
    threads = [];
    const rf = await withThreads(4);
    const there = await same(rf);
    await rf.memory();
    for (let round = 0; round < 3; round++) {
      for (const thread of threads.slice(1)) killAt(thread, TRACKS);
      expect(await bootstrapped(there)).toEqual(fresh);
      await rf.memory();
    }
    expect(threads.length).toBeGreaterThan(4);
  });
});
