// The small module, and everything in the caller's own thread.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Refloat, type Ciphertext, type KeySet, type StageEvent, type SteppableRun } from 'refloat';
import { Refloat as Client } from 'refloat/client';
import { doesNotGrow } from './support/rounds.js';

const VALUES = Float64Array.from({ length: 512 }, (_, i) => Math.sin(i / 25));
const worst = (found: ArrayLike<number>, wanted: ArrayLike<number>): number =>
  Math.max(...Array.from(wanted, (w, i) => Math.abs((found[i] as number) - w)));

const direct = (): Promise<Refloat> => Refloat.load({ worker: false });
const keysOf = (rf: Refloat): Promise<KeySet> => rf.keygen('toy10', { allowInsecure: true });

describe('refloat/client', () => {
  it('makes the keys of a 128-bit set part by part in little memory', async () => {
    using rf = await Client.load();
    expect(rf.about().artefact).toBe('client');
    using keys = await rf.keygen('ship13');
    const parts = keys.params.keyParts;
    const picked = [0, 1, 2, 3, parts.length - 2, parts.length - 1].map((i) => parts[i]);
    const peaks: number[] = [];
    for (const part of [...picked, ...picked]) {
      expect((await keys.keyPart(part?.index ?? -1)).length).toBe(part?.bytes);
      peaks.push((await rf.memory()).bytes);
    }
    // The whole set is 1.5 GB; a part is at most 8 MiB and is dropped once it has been sent.
    expect(keys.params.keyBytes).toBeGreaterThan(1e9);
    expect(Math.max(...peaks)).toBeLessThan(128 * 2 ** 20);
    expect(new Set(peaks.slice(picked.length)).size).toBe(1);
  });

  it('does not bootstrap in the page, and says who does', async () => {
    using rf = await Client.load();
    using keys = await rf.keygen('toy10', { allowInsecure: true });
    const refusal = { code: 'INVALID_ARGUMENT', message: expect.stringContaining("'refloat'") as unknown };
    await expect(keys.bootstrapKeys()).rejects.toMatchObject(refusal);
    await expect(keys.bootstrapKeys({ resident: false })).rejects.toMatchObject(refusal);
    await expect(rf.kernelSelfCheck()).rejects.toMatchObject(refusal);
  });
});

describe('{ worker: false }', () => {
  it('rejects with the errors that a worker gives', async () => {
    const rf = await direct();
    const keys = await keysOf(rf);
    using other = await keysOf(rf);
    const ct = await keys.encrypt([1]);
    const damaged = (await ct.toBytes()).fill(0, 80, 90);
    const secret = await keys.exportSecret();
    const rejects = (code: string, action: () => unknown): Promise<void> =>
      expect((async () => action())()).rejects.toMatchObject({ name: 'RefloatError', code });
    await rejects('INSECURE', () => rf.keygen('toy10'));
    await rejects('INVALID_ARGUMENT', () => rf.keygen('toy12'));
    await rejects('INVALID_ARGUMENT', () => keys.encrypt([7]));
    await rejects('PARAMS_MISMATCH', () => other.decrypt(ct));
    await rejects('BAD_BYTES', () => rf.ciphertextFromBytes(damaged));
    await rejects('INVALID_ARGUMENT', () => rf.ciphertextFromBytes(damaged.buffer as unknown as Uint8Array));
    await rejects('INSECURE', () => rf.importKeys(secret));
    using taken = await rf.importKeys([...secret] as unknown as Uint8Array, { allowInsecure: true });
    expect(taken.id).toBe(keys.id);
    ct.free();
    await rejects('FREED', () => ct.toBytes());
    keys.free();
    keys.free();
    await rejects('FREED', () => keys.encrypt([1]));
    await rejects('FREED', () => keys.bootstrapKeys());
  });

  it('frees what was made with an instance when that is closed', async () => {
    const rf = await direct();
    const before = (await rf.memory()).objects;
    const keys = await keysOf(rf);
    const spent = await rf.exhaust(await keys.encrypt(VALUES));
    const run = keys.bootstrap(spent, await keys.bootstrapKeys());
    rf.close();
    await expect(run).rejects.toMatchObject({ code: 'FREED' });
    await expect(keys.encrypt(VALUES)).rejects.toMatchObject({ code: 'FREED' });
    const again = await direct();
    await expect.poll(async () => (await again.memory()).objects).toBe(before);
    spent.free();
    expect((await again.memory()).objects).toBe(before);
  });

  it('keeps the keys of one entry point when another is used', async () => {
    const [full, client] = [await direct(), await Client.load({ worker: false })];
    using gates = await full.gates.keygen('toy-fbs', { allowInsecure: true });
    using numbers = await full.keygen('toy-conventional10-sparse', { allowInsecure: true });
    using _gates = await client.gates.keygen('toy-fbs', { allowInsecure: true });
    using _numbers = await client.keygen('toy-conventional10-sparse', { allowInsecure: true });
    expect((await gates.exportSecret()).length).toBeGreaterThan(0);
    using taken = await client.importKeys(await numbers.exportSecret(), { allowInsecure: true });
    expect(await taken.exportSecret()).toEqual(await numbers.exportSecret());
  });

  it('does the whole journey in this thread', async () => {
    const rf = await direct();
    using keys = await keysOf(rf);
    using fresh = await keys.encrypt(VALUES);
    using spent = await rf.exhaust(fresh);
    expect([fresh.level, spent.level]).toEqual([keys.params.outputLevel, keys.params.inputLevel]);
    const making = keys.bootstrapKeys();
    using boot = await making;
    expect(making.events.map((e) => e.done)).toEqual(keys.params.keyParts.map((_, i) => i + 1));
    const run = keys.bootstrap(spent, boot, { inspect: { message: VALUES } });
    using again = await run;
    expect(run.events.filter((e) => e.kind === 'exit').map((e) => e.stage)).toEqual(keys.params.stages.map((s) => s.id));
    expect(run.events.some((e) => e.kind === 'view')).toBe(true);
    expect(worst(await keys.decrypt(again), VALUES)).toBeLessThan(2 ** -keys.params.promisedBits);
    using square = await rf.square(again, boot);
    using generated = await keys.bootstrapKeys({ resident: false });
    using last = await keys.bootstrap(square, generated);
    expect(worst(await keys.decrypt(last), VALUES.map((x) => x * x))).toBeLessThan(2 ** -8);
    using read = await rf.ciphertextFromBytes(await last.toBytes());
    expect(await keys.decrypt(read)).toEqual(await keys.decrypt(last));
  });

  it('gives promises of what is done already', async () => {
    const rf = await direct();
    using keys = await keysOf(rf);
    const order: string[] = [];
    const later = new Promise<void>((resolve) => setImmediate(() => resolve(void order.push('a task of others'))));
    using ct = await keys.encrypt(VALUES);
    const bytes = await ct.toBytes();
    using back = await rf.ciphertextFromBytes(bytes);
    expect(worst(await keys.decrypt(back), VALUES)).toBeLessThan(2 ** -12);
    order.push('encrypted and decrypted');
    await later;
    expect(order).toEqual(['encrypted and decrypted', 'a task of others']);
  });

  it('leaves the thread to others between the steps of a run', async () => {
    const rf = await direct();
    using keys = await keysOf(rf);
    using boot = await keys.bootstrapKeys({ resident: false });
    using ct = await keys.encrypt(VALUES);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      turning = setImmediate(count);
    };
    let turning = setImmediate(count);
    using _fresh = await keys.bootstrap(ct, boot);
    clearImmediate(turning);
    expect(turns).toBeGreaterThan(keys.params.tracks);
  });

  it('steps, and gives up when told', async () => {
    const rf = await direct();
    using keys = await keysOf(rf);
    using boot = await keys.bootstrapKeys({ resident: false });
    using ct = await keys.encrypt(VALUES);
    const { objects } = await rf.memory();
    const run = keys.bootstrap(ct, boot);
    run.pause();
    await run.step();
    expect(run.events.map((e) => e.kind)).toEqual(['enter', 'exit']);
    expect((await rf.memory()).objects).toBe(objects + 1);
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await rf.memory()).objects).toBe(objects);
    const making = keys.bootstrapKeys();
    making.pause();
    await making.step();
    making.cancel();
    await expect(making).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await rf.memory()).objects).toBe(objects);
  });

  it('keeps what a run needs as long as it lasts, and frees what nobody holds', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const collected = async (): Promise<void> => {
      gc();
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    const rf = await direct();
    using keys = await keysOf(rf);
    await collected();
    const { objects } = await rf.memory();
    // In a function of its own, so that nothing else holds the ciphertext and the keys.
    const begun = async (): Promise<{ readonly run: SteppableRun<Ciphertext, StageEvent> }> => {
      const run = keys.bootstrap(await keys.encrypt(VALUES), await keys.bootstrapKeys({ resident: false }));
      run.pause();
      await run.step();
      return { run };
    };
    const finished = async (): Promise<number> => {
      const { run } = await begun();
      await collected();
      run.resume();
      return (await run).level;
    };
    expect(await finished()).toBe(keys.params.outputLevel);
    await expect
      .poll(async () => {
        await collected();
        return (await rf.memory()).objects;
      })
      .toBe(objects);
  });

  it('does not grow over many rounds', async () => {
    const rf = await direct();
    using keys = await keysOf(rf);
    await doesNotGrow(rf, keys, VALUES);
  });
});

describe('secrets in wasm memory', () => {
  it('are gone once the key is freed, from heap and stack', async () => {
    const rf = await direct();
    const glue = (await import('../dist/wasm/refloat_full.js')) as unknown as {
      default(): Promise<{ memory: WebAssembly.Memory }>;
    };
    const { memory } = await glue.default();
    const held = (bytes: Uint8Array): boolean => Buffer.from(memory.buffer).includes(Buffer.from(bytes));

    const keys = await keysOf(rf);
    const secret = await keys.exportSecret();
    const seed = secret.slice(64, 96); // what the key was made from: the payload of the wire form
    expect(held(seed)).toBe(true);
    using ct = await keys.encrypt(VALUES);
    expect(held(new Uint8Array(VALUES.buffer, 8, 64))).toBe(false);
    const shown = await keys.decrypt(ct);
    expect(held(new Uint8Array(shown.buffer, 8, 64))).toBe(false);
    await keys.keyPart(5);
    using boot = await keys.bootstrapKeys({ resident: false });
    keys.free();
    expect(held(seed)).toBe(true); // keys made on the way need it
    boot.free();
    expect(held(seed)).toBe(false);
    expect(held(seed.slice(0, 16)) || held(seed.slice(16))).toBe(false);
  });
});
