// Modular reduction in the page: readings of digits on a module of their own, with the same bytes as natively.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refloat, type BootstrapKeys, type KeySet, type StageEvent, type StageView } from 'refloat';
import { stagesTold } from './support/stages.js';
import { TOY, digest, seed, vectors } from './support/vectors.js';

const PASS = ['slots_to_coeffs', 'to_ephemeral', 'mod_raise', 'coeffs_to_slots', 'eval_exp', 'look_up'];

const exits = (events: readonly StageEvent[]): string[] => events.filter((e) => e.kind === 'exit').map((e) => e.stage);
/** The distance between two residues of a modulus, divided by the modulus. */
const apart = (a: number, b: number, modulus = 1): number => Math.abs((a - b) / modulus - Math.round((a - b) / modulus));

describe.each(vectors.reduction)('$name in wasm', (set) => {
  it('gives the same bytes as natively', async () => {
    const rf = await Refloat.load({ worker: false });
    using keys = await rf.importKeys(Buffer.from(set.secret, 'hex'), TOY);
    expect(keys.params).toMatchObject({ name: set.name, fingerprint: set.fingerprint, method: 'ckks-msb' });
    expect(keys.id).toBe(set.keyId);
    for (const [index, expected] of set.parts) expect(digest(await keys.keyPart(index)), `part ${index}`).toBe(expected);
    using seeded = await rf.keygen(set.name, { ...TOY, seed: seed(vectors.keySeed) });
    expect(seeded.id).toBe(set.keyId);
    const { slots, inputLevel } = keys.params;
    const message = Array.from({ length: slots }, (_, i) => ((37 * i) % 64) / 64);
    using x = await keys.encrypt(message, { level: inputLevel, seed: seed(vectors.encryptionSeed) });
    expect(digest(await x.toBytes())).toBe(set.fresh);
    using boot = await keys.bootstrapKeys();
    using refreshed = await keys.bootstrap(x, boot);
    expect(digest(await refreshed.toBytes())).toBe(set.bootstrapped);
    const bits = await boot.bits(x, 3);
    const wanted = [2, 0].map((index) => bits[index]?.toBytes());
    expect((await Promise.all(wanted)).map((bytes) => digest(bytes ?? new Uint8Array()))).toEqual(set.readings);
    for (const bit of bits) bit.free();
  });
});

describe('digits', () => {
  let rf: Refloat;
  let keys: KeySet;
  let boot: BootstrapKeys;
  beforeAll(async () => {
    rf = await Refloat.load({ threads: 1 });
    keys = await rf.keygen('toy-msb10', TOY);
    boot = await keys.bootstrapKeys();
  });
  afterAll(() => rf.close());

  it('are of sets that are listed once their module is loaded', async () => {
    using other = await Refloat.load({ threads: 1, worker: false });
    const sets = await other.loadPresets('ckks-msb');
    expect(sets.map((set) => set.name)).toEqual(['msb16', 'msb16-paper', 'toy-msb11', 'toy-msb10']);
    expect(sets[0]).toMatchObject({ secure: true, slots: 32768, scheme: 'ckks' });
    await expect(other.keygen('toy-msb10')).rejects.toMatchObject({ code: 'INSECURE', message: expect.stringContaining('msb16') as unknown });
    await expect(other.keygen('msb16', { seed: seed(1) })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('are told of stage by stage, in every pass of a bootstrap and of a reading', async () => {
    using x = await keys.encrypt([0.25, -0.125], { level: keys.params.inputLevel });
    const bootstrap = keys.bootstrap(x, boot);
    const begun = await stagesTold(bootstrap);
    (await bootstrap).free();
    // Only the first pass rounds, and only it begins with slots.
    const pass = PASS.slice(2);
    expect(begun.slice(0, 3)).toEqual(['slots_to_coeffs', 'to_ephemeral', 'discretise']);
    expect(begun.filter((stage) => stage === 'discretise')).toHaveLength(1);
    expect(begun.slice(3, 7)).toEqual(pass);
    expect(begun.length).toBeGreaterThan(2 * pass.length);
    const reading = boot.bits(x, 3);
    expect((await stagesTold(reading)).length).toBeGreaterThanOrEqual(3 * pass.length);
    for (const bit of await reading) bit.free();
  });

  it('reduce numbers of up to 2^20 modulo a real, as stages of every digit tell', async () => {
    const { slots } = keys.params;
    const values = Array.from({ length: slots }, (_, i) => (i % 2 ? -1 : 1) * 2 ** 20 * (i / slots) ** 3 + Math.sin(i));
    using x = await keys.encrypt(values);
    const run = boot.mod(x, 1, { inspect: keys });
    using fraction = await run;
    const found = await keys.decrypt(fraction);
    // 15 bits, and a rounding error of 1.66 points: six standard deviations.
    values.forEach((value, i) => expect(apart(found[i] ?? NaN, value), `slot ${i}`).toBeLessThan(10 / 2 ** 15));
    expect(Math.min(...found)).toBeGreaterThan(-1e-6);
    expect(Math.max(...found)).toBeLessThan(1);
    const first = [...PASS.slice(0, 2), 'discretise', ...PASS.slice(2)];
    expect(exits(run.events)).toEqual([...first, ...PASS, ...PASS]);
    const progress = run.events.filter((e) => e.kind === 'progress');
    expect(progress.map((e) => [e.stage, e.done, e.total])).toEqual([0, 1, 2, 3].map((done) => ['look_up', done, 3]));
    // The owner sees quotients, the circle and the digit that is removed, three times; the last digit is the result's.
    const views = run.events.filter((e): e is StageView => e.kind === 'view');
    const pass = ['coeffs_to_slots', 'eval_exp', 'look_up'];
    expect(views.map((view) => view.stage)).toEqual([...pass, ...pass, ...pass.slice(0, 2)]);
    for (const view of views) {
      expect(view.data.length, view.stage).toBe(view.view === 'slots' ? 2 * slots : slots);
      // Every one lies close to its place: within a thousandth of a digit.
      expect(view.maxError, view.stage).toBeLessThan(2 ** -12);
    }
    const clouds = views.filter((view) => view.stage === 'eval_exp').map((view) => view.maxError);
    const digits = views.filter((view) => view.stage === 'look_up').map((view) => view.maxError);
    digits.forEach((after, i) => expect(after).toBeLessThan((clouds[i] ?? 0) / 2 ** 4));
  });

  it('reduce around zero, and to fewer bits in one pass', async () => {
    const values = Array.from({ length: 64 }, (_, i) => 0.3 * i - 9.05);
    using x = await keys.encrypt(values);
    const run = boot.mod(x, 4, { bits: 5, centred: true });
    using y = await run;
    const found = await keys.decrypt(y);
    values.forEach((value, i) => expect(apart(found[i] ?? NaN, value, 4), `slot ${i}`).toBeLessThan(10 / 32));
    expect(Math.max(...found.map(Math.abs))).toBeLessThan(2.01);
    // Only the first pass of fractions has rounding, and it does not count.
    const shares = run.events.filter((e) => e.kind === 'exit').map((e) => [e.stage, Math.round(6 * (e.fraction ?? NaN))]);
    expect(shares).toEqual([['slots_to_coeffs', 1], ['to_ephemeral', 2], ['discretise', 2], ['mod_raise', 3], ['coeffs_to_slots', 4], ['eval_exp', 5], ['look_up', 6]]);
  });

  it('reduce integers exactly, negative ones and a composite modulus too', async () => {
    const values = Array.from({ length: keys.params.slots }, (_, i) => (i - 256) * 4001);
    using x = await keys.encrypt(values);
    for (const n of [2, 24, 1000]) {
      using y = await boot.intMod(x, n);
      const found = await keys.decrypt(y);
      const wanted = values.map((value) => ((value % n) + n) % n);
      expect([...found].map(Math.round).map((r) => r + 0), `modulo ${n}`).toEqual(wanted);
    }
  });

  it('give bits, values of tables, and multiples of a step', async () => {
    const { slots } = keys.params;
    const values = Array.from({ length: slots }, (_, i) => (i + 0.5) / slots);
    using x = await keys.encrypt(values);
    const bits = await boot.bits(x, 10);
    expect(bits).toHaveLength(10);
    const found = await Promise.all(bits.map((bit) => keys.decrypt(bit)));
    const wrong = (wanted: (v: number) => number, got: ArrayLike<number>): number =>
      values.filter((value, i) => Math.abs((got[i] ?? NaN) - wanted(value)) > 1e-3).length;
    // Every number lies on the end of a step of the lowest bit, and far from those of the other bits.
    found.slice(1).forEach((bit, b) => expect(wrong((v) => (Math.floor(1024 * v) >> (b + 1)) & 1, bit), `bit ${b + 1}`).toBe(0));
    // Near the end of a step a slot may have the neighbour's value: 1.33 / 32 of the slots do.
    for (const bit of bits) bit.free();
    const table = [3, 1, 4, 1, 5, 9, 2, 6];
    using looked = await boot.lookUp(x, table);
    expect(wrong((v) => table[Math.floor(8 * v)] ?? NaN, await keys.decrypt(looked))).toBeLessThan(slots / 10);
    using down = await boot.quantise(x, 8);
    expect(wrong((v) => Math.floor(8 * v) / 8, await keys.decrypt(down))).toBeLessThan(slots / 10);
    using near = await boot.quantise(x, 8, { nearest: true });
    expect(wrong((v) => (Math.floor(8 * v + 0.5) % 8) / 8, await keys.decrypt(near))).toBeLessThan(slots / 10);
    using grid = await keys.encrypt(values.map((v) => Math.floor(8 * v) / 8));
    using exact = await boot.lookUp(grid, table, { exact: true });
    expect(wrong((v) => table[Math.floor(8 * v)] ?? NaN, await keys.decrypt(exact))).toBe(0);
  });

  it('can be cancelled, and leave nothing behind', async () => {
    using x = await keys.encrypt([0.5]);
    const { objects } = await rf.memory();
    const run = boot.mod(x, 1);
    for await (const event of run) if (event.kind === 'exit') break;
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    await expect.poll(async () => (await rf.memory()).objects).toBe(objects);
    using again = await boot.mod(x, 1, { bits: 5 });
    expect(apart((await keys.decrypt(again))[0] ?? NaN, 0.5)).toBeLessThan(10 / 32);
  });

  it('are refused in words before anything is computed', async () => {
    using x = await keys.encrypt([0.5]);
    const refused = async (run: PromiseLike<unknown> & { events: readonly unknown[] }, ...words: string[]): Promise<void> => {
      await expect(run).rejects.toThrow();
      const error = await run.then(() => undefined, (thrown: unknown) => thrown as { code: string; message: string });
      expect(['INVALID_ARGUMENT', 'LEVEL_MISMATCH', 'PARAMS_MISMATCH']).toContain(error?.code);
      for (const word of words) expect(error?.message).toContain(word);
      expect(run.events).toHaveLength(0);
    };
    await refused(boot.intMod(x, 37), '37', 'factor');
    // At the scale of integers modulo 2^20, values may be anything up to 2^21 times that.
    using large = await boot.intMod(x, 2 ** 20);
    await refused(boot.intMod(large, 2 ** 20), '1048576', 'noise');
    await refused(boot.mod(x, 2 ** 30), '1073741824');
    await refused(boot.mod(x, 1, { bits: 21 }), '21 bits', '20');
    await refused(boot.lookUp(x, Array.from({ length: 64 }, () => 0)), '64', 'toy-msb10');
    await refused(boot.bits(x, 16), '16 bits', '15');
    using low = await keys.encrypt([5], { level: keys.params.inputLevel });
    await refused(boot.intMod(low, 24), 'level');
    using lowest = await keys.encrypt([5], { level: 0 });
    await refused(boot.mod(lowest, 1), 'level');
    for (const bad of [0, -1, NaN, Infinity]) expect(() => boot.mod(x, bad)).toThrow(/above 0/);
    expect(() => boot.bits(x, 0)).toThrow(/bits/);
    expect(() => boot.lookUp(x, [1])).toThrow(/table of 1/);
    await expect(keys.bootstrap(x, boot, { rounds: 2 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('one round') as unknown });

    using other = await rf.keygen('toy-msb10', TOY);
    using foreign = await other.encrypt([0.5]);
    expect(() => boot.mod(foreign, 1)).toThrow(expect.objectContaining({ code: 'PARAMS_MISMATCH' }) as Error);
    expect(() => boot.mod(x, 1, { inspect: other })).toThrow(expect.objectContaining({ code: 'PARAMS_MISMATCH' }) as Error);
    using comb = await rf.keygen('toy-conventional10-sparse', TOY);
    using combKeys = await comb.bootstrapKeys();
    using y = await comb.encrypt([0.5]);
    expect(() => combKeys.mod(y, 1)).toThrow(/toy-conventional10-sparse reads no digits.*toy-msb10/);
  });

  it('come from where they are said to be', async () => {
    using nowhere = await Refloat.load({ digitsWasm: new Uint8Array(8), threads: 1 });
    await expect(nowhere.keygen('toy-msb10', TOY)).rejects.toMatchObject({ code: 'BAD_BYTES', message: expect.stringContaining('{ digitsWasm }') as unknown });
    // Sets that do not need the module do not load it.
    expect((await nowhere.keygen('toy-conventional10-sparse', TOY)).params.slots).toBe(64);
  });
});
