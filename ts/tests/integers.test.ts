// Exact integers on the real wasm, in a worker, with the toy set; keys and ciphertexts of the secure one.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refloat, type IntegerKeySet, type IntegerKeys } from 'refloat';
import { stagesTold } from './support/stages.js';
import { TOY, digest, seed, vectors } from './support/vectors.js';

const P = 65537;

let rf: Refloat;
let keys: IntegerKeySet;
let evaluation: IntegerKeys;
beforeAll(async () => {
  rf = await Refloat.load({ threads: 1 });
  keys = await rf.integers.keygen('toy-bgv10', TOY);
  evaluation = await keys.evaluationKeys();
});
afterAll(() => rf.close());

const times = (a: number, b: number): number => Number((BigInt(a) * BigInt(b)) % BigInt(P));
const values = (factor: number): number[] => Array.from({ length: keys.params.slots }, (_, i) => (factor * i * i + i) % P);

describe('sets of integers', () => {
  it('are listed with what they promise', async () => {
    const presets = await rf.integers.presets();
    expect(presets.map((set) => set.name)).toEqual(['bgv15', 'bgv16-gf4', 'bgv16-786433', 'toy-bgv10', 'toy-bgv7', 'toy-bgv-gf4']);
    expect(presets.map((set) => [set.slots, set.slotDegree])).toEqual([[32768, 1], [16384, 4], [65536, 1], [1024, 1], [128, 1], [256, 4]]);
    expect(presets[0]).toMatchObject({ method: 'bgv', scheme: 'bgv', mode: 'integers', modulus: P, secure: true, logFailure: -133, slots: 32768 });
    for (const set of presets) {
      expect(set.secure ? set.securityBits >= 128 : set.name.startsWith('toy'), set.name).toBe(true);
      expect(set.keyParts.reduce((sum, part) => sum + part.bytes, 0)).toBe(set.keyBytes);
      expect(new Set(set.keyParts.map((part) => part.label)).size).toBe(set.parts);
    }
    // Sets of approximate numbers are another list.
    expect((await rf.loadPresets()).map((set) => set.method)).not.toContain('bgv');
  });

  it('that are toys need a word, and secure ones draw their own randomness', async () => {
    await expect(rf.integers.keygen('toy-bgv10')).rejects.toMatchObject({
      code: 'INSECURE',
      message: expect.stringContaining('bgv15') as unknown,
    });
    await expect(rf.integers.keygen('bgv15', { seed: new Uint8Array(32) })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(rf.integers.keygen('bgv16')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(rf.keygen('toy-bgv10', TOY)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('encrypted integers', () => {
  it('come back exactly, over the wire too, whichever array they came in', async () => {
    const all = values(7);
    using x = await keys.encrypt(Uint32Array.from(all));
    expect(x.level).toBe(keys.params.outputLevel);
    expect(x.capacity).toBeGreaterThan(60);
    const bytes = await x.toBytes();
    expect(bytes.length).toBe(x.byteLength);
    expect(bytes.length).toBe(keys.params.ciphertextBytes[x.level]);
    using again = await rf.integers.ciphertextFromBytes(bytes);
    expect(await keys.decrypt(again)).toEqual(Uint32Array.from(all));
    using short = await keys.encrypt([1, 2, 65536], { level: 0 });
    expect([...(await keys.decrypt(short)).slice(0, 4)]).toEqual([1, 2, 65536, 0]);
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    await expect(rf.integers.ciphertextFromBytes(bytes)).rejects.toMatchObject({ code: 'BAD_BYTES' });
  });

  it('that are none, or too many, are named', async () => {
    for (const wrong of [-1, 0.5, P, Number.NaN, 2 ** 32]) {
      await expect(keys.encrypt([0, wrong])).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(`entry 1 is ${wrong}, and integers of toy-bgv10 are 0 to 65536; `) as unknown,
      });
    }
    await expect(keys.encrypt(new Uint32Array(1025))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(keys.encrypt([1], { level: keys.params.outputLevel + 1 })).rejects.toMatchObject({ code: 'LEVEL_MISMATCH' });
  });

  it('are for the owner of their key', async () => {
    using other = await rf.integers.keygen('toy-bgv10', TOY);
    using x = await other.encrypt([1]);
    await expect(keys.decrypt(x)).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
    await expect(evaluation.multiply(x, x)).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
    expect(() => evaluation.bootstrap(x)).toThrow(expect.objectContaining({ code: 'PARAMS_MISMATCH' }) as Error);
    using same = await rf.integers.importKeys(await other.exportSecret(), TOY);
    expect([...(await same.decrypt(x)).slice(0, 2)]).toEqual([1, 0]);
  });
});

describe('arithmetic on integers', () => {
  it('is exact, and adds products to what was not multiplied', async () => {
    const [a, b] = [values(3), values(11)];
    using x = await keys.encrypt(a);
    using y = await keys.encrypt(b);
    using product = await evaluation.multiply(x, y);
    using sum = await product.add(x);
    using difference = await y.subtract(product);
    using shifted = await x.addPlain(b);
    using scaled = await x.multiplyPlain(b);
    expect([product.level, sum.level, shifted.level, scaled.level]).toEqual([x.level - 1, x.level - 1, x.level, x.level - 1]);
    const each = (f: (a: number, b: number) => number): Uint32Array => Uint32Array.from(a, (value, i) => f(value, b[i] ?? 0));
    expect(await keys.decrypt(product)).toEqual(each(times));
    expect(await keys.decrypt(sum)).toEqual(each((u, v) => (times(u, v) + u) % P));
    expect(await keys.decrypt(difference)).toEqual(each((u, v) => (v + P - times(u, v)) % P));
    expect(await keys.decrypt(shifted)).toEqual(each((u, v) => (u + v) % P));
    expect(await keys.decrypt(scaled)).toEqual(each(times));
    using five = await x.addPlain(5);
    using sevenfold = await x.multiplyPlain(P - 7);
    using negative = await five.negate();
    expect(await keys.decrypt(negative)).toEqual(each((u) => (2 * P - u - 5) % P));
    expect(await keys.decrypt(sevenfold)).toEqual(each((u) => times(u, P - 7)));
    await expect(x.addPlain(0.5)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('needs no keys for sums, of secure sets either', async () => {
    using secure = await rf.integers.keygen('bgv15');
    using x = await secure.encrypt([1, 2, 3]);
    using y = await secure.encrypt([65536, 10]);
    using sum = await x.add(y);
    expect([...(await secure.decrypt(sum)).slice(0, 4)]).toEqual([0, 12, 3, 0]);
    using foreign = await rf.integers.keygen('bgv15');
    using z = await foreign.encrypt([1]);
    await expect(x.add(z)).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
  });

  it('moves slots within rows, and rows', async () => {
    const a = values(5);
    const row = a.length / 2;
    using x = await keys.encrypt(a);
    for (const steps of [0, 1, 8, row / 2, 3, -1, -row + 2, 5 * row + 7]) {
      using moved = await evaluation.rotate(x, steps);
      const wanted = a.map((_, i) => a[Math.floor(i / row) * row + ((((i + steps) % row) + row) % row)] ?? 0);
      expect(await keys.decrypt(moved), `by ${steps}`).toEqual(Uint32Array.from(wanted));
    }
    using swapped = await evaluation.swapRows(x);
    expect(await keys.decrypt(swapped)).toEqual(Uint32Array.from([...a.slice(row), ...a.slice(0, row)]));
    for (const steps of [0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(evaluation.rotate(x, steps)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
  });

  it('is refused where integers could be lost', async () => {
    using x = await keys.encrypt([2]);
    using low = await x.dropToLevel(0);
    await expect(evaluation.multiply(low, low)).rejects.toMatchObject({ code: 'LIMIT' });
    // Level 0 has 45 bits, plaintexts 17: noise that has grown 2^18-fold has no room.
    let sum = await low.add(low);
    const doubled = async (): Promise<void> => {
      for (let i = 0; i < 40; i += 1) {
        using before = sum;
        sum = await before.add(before);
      }
    };
    await expect(doubled()).rejects.toMatchObject({ code: 'LIMIT' });
    await expect(evaluation.bootstrap(low)).rejects.toMatchObject({ code: 'LEVEL_MISMATCH' });
    await expect(low.dropToLevel(1)).rejects.toMatchObject({ code: 'LEVEL_MISMATCH' });
    for (const level of [1.5, Number.NaN, -1]) {
      await expect(x.dropToLevel(level)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      await expect(keys.encrypt([1], { level })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
  });
});

describe('a bootstrapping of integers', () => {
  it('refreshes exactly what products have exhausted, stage by stage, again and again', async () => {
    let clear = values(13);
    let x = await keys.encrypt(clear);
    for (let round = 0; round < 2; round += 1) {
      while (x.level > keys.params.inputLevel) {
        using before = x;
        x = await evaluation.multiply(before, before);
        clear = clear.map((value) => times(value, value));
      }
      const run = evaluation.bootstrap(x);
      const stages = await stagesTold(run);
      using before = x;
      x = await run;
      expect(before.isFreed).toBe(false);
      expect(stages).toEqual(keys.params.stages.map((stage) => stage.id));
      expect(x.level).toBe(keys.params.outputLevel);
      expect(await keys.decrypt(x)).toEqual(Uint32Array.from(clear));
    }
    x.free();
  });

  it('tells the owner of the key the digits, which the removal takes off', async () => {
    const clear = values(21);
    using x = await keys.encrypt(clear, { level: keys.params.inputLevel });
    const run = evaluation.bootstrap(x, { inspect: keys });
    using refreshed = await run;
    const views = run.events.filter((event) => event.kind === 'view');
    expect(views.map((view) => view.stage)).toEqual(['input', ...keys.params.stages.map((stage) => stage.id)]);
    expect(views.map((view) => view.place)).toEqual(['slots', 'coefficients', 'coefficients', 'coefficients', 'slots', 'slots']);
    for (const view of views) if (view.place === 'slots') expect(view.high, view.stage).toEqual(Uint32Array.from(clear));
    const largest = views.map((view) => view.low.reduce((most, digit) => Math.max(most, Math.abs(digit)), 0));
    const removal = await rf.integers.removal('toy-bgv10');
    expect([largest[0], largest[1], largest[5]]).toEqual([0, 0, 0]);
    for (const most of largest.slice(2, 5)) {
      expect(most).toBeGreaterThan(3);
      expect(most).toBeLessThanOrEqual(removal.bound);
    }
    // The polynomial, in the clear, in every slot: it gives a multiple of p, namely y.
    const modulus = BigInt(removal.prime) ** BigInt(removal.exponent);
    const [slots] = views.filter((view) => view.stage === 'coeffs_to_slots');
    for (const [i, low] of [...(slots?.low ?? [])].entries()) {
      const argument = BigInt(low) + BigInt(P) * BigInt(i * i + 5);
      const value = removal.coefficients.reduceRight((sum, c) => (sum * argument + BigInt(c)) % modulus, 0n);
      expect((value - argument + BigInt(low)) % modulus, `slot ${i}`).toBe(0n);
    }
    expect([removal.levels, removal.keySwitches, removal.coefficients.length]).toEqual([6, 13, 62]);
    expect(await keys.decrypt(refreshed)).toEqual(Uint32Array.from(clear));
    using other = await rf.integers.keygen('toy-bgv10', TOY);
    await expect(evaluation.bootstrap(x, { inspect: other })).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
  });

  it('stops between stages', async () => {
    using x = await keys.encrypt([1]);
    const run = evaluation.bootstrap(x);
    for await (const event of run) if (event.kind === 'exit') break;
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

it('the secure set encrypts and decrypts in the page, and makes parts of its keys', async () => {
  using secure = await rf.integers.keygen();
  expect(secure.params.name).toBe('bgv15');
  const all = Uint32Array.from({ length: secure.params.slots }, (_, i) => (i * 40503) % P);
  using x = await secure.encrypt(all);
  expect(await secure.decrypt(x)).toEqual(all);
  const part = secure.params.keyParts[3];
  expect((await secure.keyPart(3)).length).toBe(part?.bytes);
});

/** The product of two slots of four integers, coordinates in Z, .., Z^4 with 1 + Z + .. + Z^4 = 0. */
function ofFields(x: Uint32Array, y: Uint32Array): Uint32Array {
  return x.map((_, i) => {
    const [slot, k] = [i - (i % 4), (i % 4) + 1];
    let [own, one] = [0, 0];
    for (let a = 1; a <= 4; a += 1) {
      for (let b = 1; b <= 4; b += 1) {
        const power = (a + b) % 5;
        const term = times(x[slot + a - 1] ?? 0, y[slot + b - 1] ?? 0);
        if (power === k) own = (own + term) % P;
        if (power === 0) one = (one + term) % P;
      }
    }
    return (own - one + P) % P;
  });
}

it('slots of fields are multiplied, turned and refreshed', async () => {
  using fields = await rf.integers.keygen('toy-bgv-gf4', TOY);
  const { slots, slotDegree, outputLevel } = fields.params;
  const all = Uint32Array.from({ length: slots * slotDegree }, (_, i) => (40503 * i * i + 7) % P);
  await expect(fields.encrypt(new Uint32Array(all.length + 1))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('1025 integers for the 256 slots of toy-bgv-gf4; give at most 4 a slot') as unknown,
  });
  using made = await fields.evaluationKeys();
  using x = await fields.encrypt(all);
  using square = await made.multiply(x, x);
  using turned = await made.rotate(square, 3);
  // The integer 5 is -5 in every coordinate.
  using sum = await turned.addPlain(5);
  using twice = await sum.multiplyPlain(2);
  const clear = ofFields(all, all);
  const moved = clear.map((_, i) => clear[(i - (i % 512)) + ((i % 512) + 12) % 512] ?? 0).map((value) => (2 * (value + P - 5)) % P);
  expect(await fields.decrypt(twice)).toEqual(moved);
  const run = made.bootstrap(twice, { inspect: fields });
  using fresh = await run;
  expect(fresh.level).toBe(outputLevel);
  expect(await fields.decrypt(fresh)).toEqual(moved);
  const views = run.events.filter((event) => event.kind === 'view');
  expect(views.map((view) => view.stage)).toEqual(['input', ...fields.params.stages.map((stage) => stage.id)]);
  expect(views.at(-1)?.high).toEqual(moved);
});

it.each(vectors.integers)('$name gives the same bytes in wasm as natively', async (set) => {
  using read = await rf.integers.importKeys(Buffer.from(set.secret, 'hex'), TOY);
  expect([read.params.name, read.params.fingerprint, read.id]).toEqual([set.name, set.fingerprint, set.keyId]);
  for (const [index, expected] of set.parts) expect(digest(await read.keyPart(index)), `part ${index}`).toBe(expected);
  if (set.fresh === undefined) return;
  using own = await rf.integers.keygen(set.name, { ...TOY, seed: seed(vectors.keySeed) });
  const all = Array.from({ length: own.params.slots * own.params.slotDegree }, (_, i) => (37 * i * i) % P);
  using fresh = await own.encrypt(all, { seed: seed(vectors.encryptionSeed) });
  using made = await own.evaluationKeys();
  using square = await made.multiply(fresh, fresh);
  using refreshed = await made.bootstrap(square);
  const found = await Promise.all([fresh, square, refreshed].map(async (x) => digest(await x.toBytes())));
  expect(found).toEqual([set.fresh, set.squared, set.bootstrapped]);
});

it('their module comes from where the page says', async () => {
  const integersWasm = await readFile(new URL('../dist/wasm/refloat_integers_bg.wasm', import.meta.url));
  using own = await Refloat.load({ integersWasm, threads: 1 });
  expect((await own.integers.params('toy-bgv10')).slots).toBe(1024);
  using nowhere = await Refloat.load({ integersWasm: new Uint8Array(8), threads: 1 });
  await expect(nowhere.integers.presets()).rejects.toMatchObject({
    code: 'BAD_BYTES',
    message: expect.stringContaining('{ integersWasm }') as unknown,
  });
});
