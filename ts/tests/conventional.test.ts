// Conventional bootstrapping: the same calls as SHIP, on a module of its own, and the same bytes as natively.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program, Refloat, type StageEvent, type StageView } from 'refloat';
import { Refloat as Client } from 'refloat/client';
import { TOY, digest, seed, vectors } from './support/vectors.js';

const message = (count: number): number[] => Array.from({ length: count }, (_, i) => (((37 * i) % 101) - 50) / 64);
const worst = (found: ArrayLike<number>, wanted: ArrayLike<number>): number =>
  Math.max(...Array.from(wanted, (w, i) => Math.abs((found[i] as number) - w)));
const views = (events: readonly StageEvent[]): StageView[] => events.filter((e) => e.kind === 'view');

describe.each(vectors.conventional)('$name in wasm', (set) => {
  it('gives the same bytes as natively', async () => {
    const rf = await Refloat.load({ worker: false });
    using keys = await rf.importKeys(Buffer.from(set.secret, 'hex'), TOY);
    expect(keys.params).toMatchObject({ name: set.name, fingerprint: set.fingerprint, method: 'ckks-conventional' });
    expect(keys.id).toBe(set.keyId);
    expect(Buffer.from(await keys.exportSecret()).toString('hex')).toBe(set.secret);
    for (const [index, expected] of set.parts) {
      const part = await keys.keyPart(index);
      expect(part.length).toBe(keys.params.keyParts[index]?.bytes);
      expect(digest(part), `part ${index}`).toBe(expected);
    }
    if (set.fresh === undefined) return; // only toys take seeds
    using seeded = await rf.keygen(set.name, { ...TOY, seed: seed(vectors.keySeed) });
    expect(seeded.id).toBe(set.keyId);
    const { slots, inputLevel, outputLevel } = keys.params;
    const encrypted = (mode: 'real' | 'complex', level: number) =>
      keys.encrypt(message(mode === 'real' ? slots : 2 * slots), { mode, level, seed: seed(vectors.encryptionSeed) });
    using fresh = await encrypted('real', outputLevel);
    using exhausted = await encrypted('complex', inputLevel);
    expect([digest(await fresh.toBytes()), digest(await exhausted.toBytes())]).toEqual([set.fresh, set.exhausted]);
    using boot = await keys.bootstrapKeys();
    using once = await keys.bootstrap(exhausted, boot);
    expect(digest(await once.toBytes())).toBe(set.bootstrapped);
    using square = await rf.square(once, boot);
    expect(digest(await square.toBytes())).toBe(set.squared);
    expect(worst(await keys.decrypt(once), message(2 * slots))).toBeLessThan(2 ** -keys.params.promisedBits);
  });
});

describe('a conventional set through the calls of SHIP', () => {
  let rf: Refloat;
  beforeAll(async () => {
    rf = await Refloat.load({ threads: 1 });
  });
  afterAll(() => rf.close());

  it('is listed once its module is loaded', async () => {
    using other = await Client.load({ threads: 1 });
    const before = other.presets().map((p) => p.method);
    expect(new Set(before)).toEqual(new Set(['ckks-ship']));
    expect((await other.memory()).instances).toBe(1);
    expect((await other.loadPresets('ckks-conventional')).map((p) => p.method)).not.toContain('ckks-ship');
    expect((await other.memory()).instances).toBe(2);
    const names = (await other.loadPresets()).map((p) => p.name);
    expect(names).toEqual(expect.arrayContaining(['ship13', 'n15', 'n16', 'toy-conventional11']));
    expect((await other.loadPresets()).length).toBe(names.length);
    expect(other.params('n15')).toMatchObject({ secure: true, slots: 16384, tracks: 1 });
    // The instances of the entry point, of conventional sets, of those for modular reduction and of those that link numbers to gates.
    expect((await other.memory()).instances).toBe(4);
    await expect(other.keygen('n17')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(other.keygen('toy-conventional11')).rejects.toMatchObject({ code: 'INSECURE' });
  });

  it('bootstraps stage by stage, shows what is inside, and squares', async () => {
    using keys = await rf.keygen('toy-conventional10-50bit', TOY);
    const { slots, stages, inputLevel, outputLevel, promisedBits } = keys.params;
    const values = Array.from({ length: slots }, (_, i) => Math.cos(i * i));
    const making = keys.bootstrapKeys();
    using boot = await making;
    expect(making.events.at(-1)).toMatchObject({ done: keys.params.keyParts.length, bytes: keys.params.keyBytes });
    using fresh = await keys.encrypt(values);
    using spent = await rf.exhaust(fresh);
    expect([fresh.level, spent.level]).toEqual([outputLevel, inputLevel]);
    const run = keys.bootstrap(spent, boot, { inspect: { message: values } });
    using again = await run;
    expect(again.level).toBe(outputLevel);
    expect(worst(await keys.decrypt(again), values)).toBeLessThan(2 ** -promisedBits);
    expect(run.events.filter((e) => e.kind === 'exit').map((e) => e.stage)).toEqual(stages.map((s) => s.id));

    const seen = views(run.events);
    expect(seen.map((v) => v.view)).toEqual(['slots', 'quotients', 'quotients', 'quotients', 'slots']);
    for (const view of seen) expect(view.bitsMax, view.stage).toBeGreaterThan(promisedBits);
    const [, raised, inSlots, reduced] = seen as [StageView, StageView, StageView, StageView, StageView];
    const integers = (view: StageView): number[] => Array.from(view.data, (x) => Math.round(x) + 0);
    expect(integers(raised)).toEqual(integers(inSlots));
    expect(new Set(integers(raised)).size).toBeGreaterThan(4);
    expect(new Set(integers(reduced).map(Math.abs))).toEqual(new Set([0]));

    using square = await rf.square(again, boot);
    expect(worst(await keys.decrypt(square), values.map((x) => x * x))).toBeLessThan(2 ** (2 - promisedBits));
    // The other artefact reads what this one wrote.
    const bytes = await square.toBytes();
    using copy = await rf.ciphertextFromBytes(bytes);
    expect(copy).toMatchObject({ preset: keys.params.name, level: square.level, mode: 'real' });
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await expect(rf.ciphertextFromBytes(bytes)).rejects.toMatchObject({ code: 'BAD_BYTES' });
  });

  it('gains bits by a second round, a level lower', async () => {
    using keys = await rf.keygen('toy-conventional10-sparse', TOY);
    const { slots, stages, inputLevel, outputLevel } = keys.params;
    const values = Array.from({ length: slots }, (_, i) => Math.cos(i * i));
    using boot = await keys.bootstrapKeys();
    using spent = await keys.encrypt(values, { level: inputLevel });
    using once = await keys.bootstrap(spent, boot);
    const run = keys.bootstrap(spent, boot, { rounds: 2 });
    using twice = await run;
    expect([once.level, twice.level]).toEqual([outputLevel, outputLevel - 1]);
    const ids = stages.map((s) => s.id);
    for (const kind of ['enter', 'exit']) {
      expect(run.events.filter((e) => e.kind === kind).map((e) => e.stage)).toEqual([...ids, ...ids, 'meta_correct']);
    }
    expect(worst(await keys.decrypt(twice), values)).toBeLessThan(worst(await keys.decrypt(once), values) / 2);
    for (const rounds of [0, -1, 2.5, Number.NaN, 1000, 2 ** 40]) {
      await expect(keys.bootstrap(spent, boot, { rounds }), String(rounds)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    await expect(keys.bootstrap(spent, boot, { rounds: 2, inspect: true })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('can be cancelled, and says what it cannot do', async () => {
    using keys = await rf.keygen('toy-conventional10-sparse', TOY);
    using ship = await rf.keygen('toy10', TOY);
    await expect(keys.bootstrapKeys({ resident: false })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(keys.encrypt([1], { mode: 'bits' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(keys.encrypt([1, 0, 1], { mode: 'complex' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    using ct = await keys.encrypt([0.5, -0.25]);
    await expect(ship.decrypt(ct)).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
    using boot = await keys.bootstrapKeys();
    const { objects } = await rf.memory();
    const run = keys.bootstrap(ct, boot);
    for await (const event of run) {
      if (event.kind === 'exit') break;
    }
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    await expect.poll(async () => (await rf.memory()).objects).toBe(objects);
    ct.free();
    await expect(keys.decrypt(ct)).rejects.toMatchObject({ code: 'FREED' });
    expect((await rf.memory()).objects).toBe(objects - 1);
  });

  it('tells its polynomial', async () => {
    const points = [3 + 2 ** -9, -7 - 2 ** -9, 0.25, 15.5];
    const own = await rf.reduction('toy-conventional11-sine', points);
    expect(own).toMatchObject({ kind: 'sine', range: 16, degree: 58, doubleAngles: 2, arcsineDegree: 0, shift: 0.25 });
    // A sine of turns, over 2 pi.
    points.forEach((x, i) => expect(own.values[i]).toBeCloseTo(Math.sin(2 * Math.PI * x) / (2 * Math.PI), 12));
    // The coefficients belong to the values.
    const [from, to] = own.interval as unknown as [number, number];
    points.forEach((x, i) => {
      const t = (2 * (x - own.shift) - from - to) / (to - from);
      let c = own.coefficients.reduce((sum, a, k) => sum + a * Math.cos(k * Math.acos(t)), 0);
      for (let r = 0; r < own.doubleAngles; r++) c = 2 * c * c - 1;
      expect(c / (2 * Math.PI)).toBeCloseTo(own.values[i] as number, 10);
    });
    const coarse = await rf.reduction('toy-conventional11-sine', points, { degree: 30 });
    expect(coarse.fitError).toBeGreaterThan(1e3 * own.fitError);
    // Two harmonics are linear where a sine is not.
    const straight = await rf.reduction('toy-conventional11', points);
    expect(straight).toMatchObject({ kind: 'harmonics', range: 16, degree: 31, doubleAngles: 3, arcsineDegree: 0 });
    expect(Math.abs((straight.values[0] as number) - 2 ** -9)).toBeLessThan(2 ** -38);
    expect(Math.abs((own.values[0] as number) - 2 ** -9)).toBeGreaterThan(2 ** -25);
    await expect(rf.reduction('toy-conventional11', points, { degree: 30 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(rf.reduction('ship13')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('makes clamps for programs', async () => {
    const { interval, coefficients, error } = await rf.clamp({ overshoot: 0.05, margin: 0.125, degree: 31 });
    expect(interval).toEqual([-1.05, 1.05]);
    expect(error).toBeLessThan(2 ** -12);
    const clamped = (x: number): number => coefficients.reduce((sum, a, k) => sum + a * Math.cos(k * Math.acos(x / 1.05)), 0);
    for (const [x, y] of [[0.5, 0.5], [-0.875, -0.875], [1, 1], [1.05, 1], [-1.02, -1]] as const) {
      expect(Math.abs(clamped(x) - y)).toBeLessThan(error * 1.001);
    }
    const p = new Program({ slots: 1024 });
    p.output('kept', p.input('x').polynomial(coefficients, { interval }));
    expect(p.outputs).toEqual(['kept']);
    for (const bad of [{ overshoot: 2, degree: 31 }, { overshoot: 0.1, degree: 30 }, { overshoot: 0.1, degree: 2 ** 32 + 31 }, { overshoot: 0.1, degree: 1.5 }, { overshoot: NaN, degree: 31 }]) {
      await expect(rf.clamp(bad)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
  });

  it('reads secret keys of an earlier version, and makes none of its sets', async () => {
    const old = new URL('../../tests/vectors/retired.json', import.meta.url);
    const { name, secret } = JSON.parse(await readFile(old, 'utf8')) as { name: string; secret: string };
    const bytes = Buffer.from(secret, 'hex');
    await expect(rf.importKeys(bytes)).rejects.toMatchObject({ code: 'INSECURE' });
    using keys = await rf.importKeys(bytes, TOY);
    expect(keys.params).toMatchObject({ name, successor: 'toy-conventional10-sparse' });
    using x = await keys.encrypt(message(keys.params.slots));
    using boot = await keys.bootstrapKeys();
    using fresh = await keys.bootstrap(x, boot);
    expect(worst(await keys.decrypt(fresh), message(keys.params.slots))).toBeLessThan(2 ** -8);
    await expect(rf.keygen(name, TOY)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('comes from where it is said to be', async () => {
    const conventionalWasm = await readFile(new URL('../dist/wasm/refloat_conventional_bg.wasm', import.meta.url));
    using own = await Refloat.load({ conventionalWasm, threads: 1 });
    using keys = await own.keygen('toy-conventional10-sparse', TOY);
    expect(keys.params.slots).toBe(64);
    using nowhere = await Refloat.load({ conventionalWasm: new Uint8Array(8), threads: 1 });
    for (let i = 0; i < 2; i++) {
      await expect(nowhere.loadPresets()).rejects.toMatchObject({
        code: 'BAD_BYTES',
        message: expect.stringContaining('{ conventionalWasm }') as unknown,
      });
    }
    expect((await nowhere.keygen('toy10', TOY)).params.name).toBe('toy10');
  });
});
