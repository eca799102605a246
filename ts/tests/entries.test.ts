// The other two entry points: the small module, and the direct form.
import { describe, expect, it } from 'vitest';
import { Refloat as Client } from 'refloat/client';
import { KeySet, Refloat as Direct, RefloatError } from 'refloat/sync';

const VALUES = Float64Array.from({ length: 512 }, (_, i) => Math.sin(i / 25));
const worst = (found: ArrayLike<number>, wanted: ArrayLike<number>): number =>
  Math.max(...Array.from(wanted, (w, i) => Math.abs((found[i] as number) - w)));

const keysOf = (rf: Direct): KeySet => rf.keygen('toy10', { allowInsecure: true });

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
    // The whole set is 1.5 GB; a part is at most 8 MiB and is dropped when it is sent.
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

describe('refloat/sync', () => {
  it('does the whole journey without a promise', async () => {
    const rf = await Direct.load();
    using keys = keysOf(rf);
    using fresh = keys.encrypt(VALUES);
    using spent = rf.exhaust(fresh);
    expect([fresh.level, spent.level]).toEqual([keys.params.outputLevel, keys.params.inputLevel]);
    const making = keys.bootstrapKeys();
    expect([...making].map((e) => e.done)).toEqual(keys.params.keyParts.map((_, i) => i + 1));
    using boot = making.result();
    expect(making.result()).toBe(boot);
    const run = keys.bootstrap(spent, boot, { inspect: { message: VALUES } });
    const seen = [...run];
    expect(seen.filter((e) => e.kind === 'exit').map((e) => e.stage)).toEqual(keys.params.stages.map((s) => s.id));
    expect(seen.some((e) => e.kind === 'view')).toBe(true);
    expect([...run]).toEqual(seen);
    using again = run.result();
    expect(worst(keys.decrypt(again), VALUES)).toBeLessThan(2 ** -keys.params.promisedBits);
    using square = rf.square(again, boot);
    using generated = keys.bootstrapKeys({ resident: false }).result();
    using last = keys.bootstrap(square, generated).result();
    expect(worst(keys.decrypt(last), VALUES.map((x) => x * x))).toBeLessThan(2 ** -8);
    using read = rf.ciphertextFromBytes(last.toBytes());
    expect(keys.decrypt(read)).toEqual(keys.decrypt(last));
  });

  it('steps, and gives up when told', async () => {
    const rf = await Direct.load();
    using keys = keysOf(rf);
    using boot = keys.bootstrapKeys({ resident: false }).result();
    using ct = keys.encrypt(VALUES);
    const run = keys.bootstrap(ct, boot);
    expect(run.step()?.map((e) => e.kind)).toEqual(['enter', 'exit']);
    const { objects } = rf.memory();
    run.cancel();
    run.cancel();
    expect(rf.memory().objects).toBe(objects - 1);
    expect(() => run.result()).toThrow(expect.objectContaining({ code: 'ABORTED' }) as Error);
    const making = keys.bootstrapKeys();
    making.step();
    making.cancel();
    expect(() => making.step()).toThrow(RefloatError);
    expect(rf.memory().objects).toBe(objects - 1);
  });

  it('throws the same errors', async () => {
    const rf = await Direct.load();
    const keys = keysOf(rf);
    using other = keysOf(rf);
    const ct = keys.encrypt([1]);
    const throws = (code: string, action: () => unknown): void =>
      expect(action).toThrow(expect.objectContaining({ code }) as Error);
    throws('INSECURE', () => rf.keygen('toy10'));
    throws('INVALID_ARGUMENT', () => rf.keygen('toy12'));
    throws('INVALID_ARGUMENT', () => keys.encrypt([7]));
    throws('PARAMS_MISMATCH', () => other.decrypt(ct));
    throws('BAD_BYTES', () => rf.ciphertextFromBytes(ct.toBytes().fill(0, 80, 90)));
    throws('INSECURE', () => rf.importKeys(keys.exportSecret()));
    expect(rf.importKeys(keys.exportSecret(), { allowInsecure: true }).id).toBe(keys.id);
    ct.free();
    throws('FREED', () => ct.toBytes());
    keys.free();
    keys.free();
    throws('FREED', () => keys.encrypt([1]));
    throws('FREED', () => keys.bootstrapKeys());
  });

  it('does not grow over many rounds', async () => {
    const rf = await Direct.load();
    using keys = keysOf(rf);
    const round = (): void => {
      using ct = keys.encrypt(VALUES);
      using back = rf.ciphertextFromBytes(ct.toBytes());
      keys.decrypt(back);
    };
    for (let i = 0; i < 5; i++) round();
    const before = rf.memory();
    for (let i = 0; i < 50; i++) round();
    expect(rf.memory()).toEqual(before);
  });
});

describe('secrets in wasm memory', () => {
  it('are gone once the key is freed, from heap and stack', async () => {
    const rf = await Direct.load();
    const glue = (await import('../dist/wasm/refloat_full.js')) as unknown as {
      default(): Promise<{ memory: WebAssembly.Memory }>;
    };
    const { memory } = await glue.default();
    const held = (bytes: Uint8Array): boolean => Buffer.from(memory.buffer).includes(Buffer.from(bytes));

    const keys = keysOf(rf);
    const secret = keys.exportSecret();
    const seed = secret.slice(64, 96); // what the key was made from: the payload of the wire form
    expect(held(seed)).toBe(true);
    using ct = keys.encrypt(VALUES);
    expect(held(new Uint8Array(VALUES.buffer, 8, 64))).toBe(false);
    const shown = keys.decrypt(ct);
    expect(held(new Uint8Array(shown.buffer, 8, 64))).toBe(false);
    keys.keyPart(5);
    using boot = keys.bootstrapKeys({ resident: false }).result();
    keys.free();
    expect(held(seed)).toBe(true); // keys made on the way need it
    boot.free();
    expect(held(seed)).toBe(false);
    expect(held(seed.slice(0, 16)) || held(seed.slice(16))).toBe(false);
  });
});
