// Arithmetic on exact integers with keys of its own: the bytes are those of the native build, on one thread and on several, and mistakes
// are named. The expectations of bytes are written by tests/rust/bgv/arithmetic.rs.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program, Refloat, type IntegerCiphertext, type IntegerKeySet } from 'refloat';
import { Refloat as Client } from 'refloat/client';
import { expectStopped, refused } from './support/refused.js';
import { TOY, digest as digestOf, seed } from './support/vectors.js';

interface SetVectors {
  readonly name: string;
  readonly keyId: string;
  readonly x: string;
  readonly product: string;
  readonly rotated: string;
  readonly swapped: string;
}

interface Vectors {
  readonly keySeed: number;
  readonly encryptionSeed: number;
  readonly steps: number;
  readonly sets: readonly SetVectors[];
}

const path = new URL('../../tests/vectors/integers-arithmetic.json', import.meta.url);
const vectors = JSON.parse(await readFile(path, 'utf8')) as Vectors;
const digest = async (x: Promise<IntegerCiphertext>): Promise<string> => digestOf(await (await x).toBytes());

/** The integers of the vectors. */
const message = ({ params: { slots, slotDegree, modulus } }: IntegerKeySet): number[] =>
  Array.from({ length: slots * slotDegree }, (_, i) => (37 * i * i) % modulus);

let rf: Refloat;
let worker: Refloat;
let helped: Refloat;
beforeAll(async () => {
  rf = await Refloat.load({ worker: false });
  worker = await Refloat.load({ threads: 1 });
  helped = await Refloat.load({ threads: 3 });
});
afterAll(() => [rf, worker, helped].forEach((instance) => instance.close()));

describe.each(vectors.sets)('$name in wasm', (set) => {
  it.each([
    ['in this thread', () => rf],
    ['in a worker', () => worker],
    ['with helpers', () => helped],
  ] as const)('gives the bytes of the native build %s', async (_, where) => {
    const own = where();
    using keys = await own.integers.keygen(set.name, { ...TOY, seed: seed(vectors.keySeed) });
    expect(keys.id).toBe(set.keyId);
    const making = keys.arithmeticKeys({ swapRows: true });
    using arithmetic = await making;
    const [first, last] = [making.events[0], making.events.at(-1)];
    expect(first).toMatchObject({ done: 0, bytes: 0, fraction: 0, totalBytes: arithmetic.memoryBytes });
    expect(last).toMatchObject({ bytes: arithmetic.memoryBytes, done: last?.total, fraction: 1, label: 'swap of the rows' });
    expect(making.events.map((event) => event.label).slice(1, 3)).toEqual(['products', 'rotation by 1']);
    using theirs = await own.integers.publicKeyFromBytes(await (await keys.publicKey()).toBytes(), TOY);
    using x = await theirs.encrypt(message(keys), { seed: seed(vectors.encryptionSeed) });
    using y = await keys.encrypt(message(keys), { seed: seed(vectors.encryptionSeed) });
    expect(digestOf(await x.toBytes())).toBe(set.x);
    expect(await digest(arithmetic.multiply(x, y))).toBe(set.product);
    expect(await digest(arithmetic.rotate(x, vectors.steps))).toBe(set.rotated);
    expect(await digest(arithmetic.swapRows(x))).toBe(set.swapped);
  });

  it('gives the integers that all evaluation keys give, in a fraction of their memory', async () => {
    using keys = await rf.integers.keygen(set.name, TOY);
    using arithmetic = await keys.arithmeticKeys({ swapRows: true });
    using evaluation = await keys.evaluationKeys();
    expect(arithmetic.memoryBytes).toBeLessThan(evaluation.memoryBytes / 2);
    using x = await (await keys.publicKey()).encrypt(message(keys));
    const computed = async (by: typeof arithmetic | typeof evaluation): Promise<Uint32Array[]> => {
      using product = await by.multiply(x, x);
      using sum = await (await product.add(x)).addPlain(5);
      using turned = await by.rotate(sum, -3);
      using swapped = await by.swapRows(await turned.multiplyPlain(2));
      return Promise.all([product, sum, turned, swapped].map((found) => keys.decrypt(found)));
    };
    expect(await computed(arithmetic)).toEqual(await computed(evaluation));
    // Where the keys of a bootstrap begin.
    using product = await arithmetic.multiply(x, x);
    using fresh = await evaluation.bootstrap(product);
    using again = await arithmetic.multiply(fresh, x);
    expect(again.level).toBe(keys.params.outputLevel - 1);
  });
});

describe('a program on integers without bootstraps', () => {
  it('runs with keys for arithmetic, and others are refused', async () => {
    using keys = await rf.integers.keygen('toy-bgv10', TOY);
    using arithmetic = await keys.arithmeticKeys({ rotations: [1], swapRows: true });
    const { slots } = keys.params;
    using x = await keys.encrypt([2, 3, 5]);
    const p = new Program(keys.params);
    const given = p.input('x');
    p.output('y', given.mul(given).rotate(2).conjugate());
    const run = arithmetic.run(p, { x });
    const { y } = await run;
    if (!y) throw new Error('no output');
    expect((await keys.decrypt(y))[slots / 2]).toBe(25);
    expect(run.events.at(-1)).toMatchObject({ kind: 'exit', stage: 'arithmetic', fraction: 1 });
    const refreshed = new Program(keys.params);
    refreshed.output('y', refreshed.input('x').bootstrap());
    await expect(arithmetic.run(refreshed, { x })).rejects.toMatchObject({ code: 'MISSING_KEY' });
    const deep = new Program(keys.params);
    deep.output('y', Array.from({ length: 20 }).reduce((y: typeof given) => y.mul(y), deep.input('x')));
    await expect(arithmetic.run(deep, { x })).rejects.toMatchObject({ code: expect.stringMatching(/^(LEVEL_MISMATCH|LIMIT)$/) as string });
    using few = await keys.arithmeticKeys({ rotations: [] });
    await expect(few.run(p, { x })).rejects.toMatchObject({ code: 'MISSING_KEY', message: expect.stringContaining('rotation by 2') as string });
    using others = await rf.integers.keygen('toy-bgv10', TOY);
    using foreign = await others.encrypt([1]);
    expect(() => arithmetic.run(p, { x: foreign })).toThrow(/use what belongs to one key set/);
  });
});

describe('mistakes', () => {
  it('are named with what to do', async () => {
    using keys = await rf.integers.keygen('toy-bgv10', TOY);
    using others = await rf.integers.keygen('toy-bgv10', TOY);
    using another = await rf.integers.keygen('toy-bgv7', TOY);
    using arithmetic = await keys.arithmeticKeys({ rotations: [2, -2, 514] });
    using x = await keys.encrypt([3, 1, 4]);
    using foreign = await others.encrypt([1]);
    using stranger = await another.encrypt([1]);
    using low = await x.dropToLevel(0);
    for (const wrong of [foreign, stranger]) {
      await refused(arithmetic.multiply(x, wrong), 'PARAMS_MISMATCH', /use what belongs to one key set/);
      await refused(arithmetic.rotate(wrong, 2), 'PARAMS_MISMATCH', /use what belongs to one key set/);
      await refused(arithmetic.swapRows(wrong), 'PARAMS_MISMATCH', /use what belongs to one key set/);
    }
    await refused(arithmetic.multiply(undefined as unknown as IntegerCiphertext, x), 'INVALID_ARGUMENT', /a ciphertext was expected/);
    await refused(arithmetic.multiply(low, x), 'LEVEL_MISMATCH', /are at levels 0 and \d; encrypt at a level up to \d, or bootstrap before/);
    await refused(arithmetic.rotate(x, 1), 'MISSING_KEY', /\[2, 510\]; arithmeticKeys\(\) makes keys for all powers of two/);
    await refused(arithmetic.rotate(x, 0.5), 'INVALID_ARGUMENT', /pass an integer/);
    await refused(arithmetic.rotate(x, NaN), 'INVALID_ARGUMENT', /pass an integer/);
    await refused(arithmetic.swapRows(x), 'MISSING_KEY', /swap of the rows among these; make it with arithmeticKeys\({ swapRows: true }\)/);
    using turned = await arithmetic.rotate(low, 2 ** 40 + 2);
    expect((await keys.decrypt(turned))[0]).toBe(4);
    expect(() => keys.arithmeticKeys({ rotations: [0.5] })).toThrow(/name integers/);
    expect(() => keys.arithmeticKeys({ rotations: [2 ** 40] })).toThrow(/name integers/);
    await refused(keys.arithmeticKeys({ rotations: Array.from({ length: 513 }, (_, i) => i) }), 'INVALID_ARGUMENT', /513 rotations of rows of 512 slots/);
    arithmetic.free();
    await refused(arithmetic.multiply(x, x), 'FREED', /./);
  });

  it('stop the making of keys between two of them', async () => {
    using keys = await rf.integers.keygen('toy-bgv10', TOY);
    await expectStopped(rf, () => keys.arithmeticKeys());
    const before = (await rf.memory()).objects;
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    await expect(keys.arithmeticKeys({ signal: stop.signal })).rejects.toThrow('enough');
    await expect.poll(async () => (await rf.memory()).objects).toBeLessThanOrEqual(before);
  });
});

describe('the client artefact', () => {
  it('has arithmetic on integers too', async () => {
    using client = await Client.load({ worker: false });
    using keys = await client.integers.keygen('toy-bgv10', TOY);
    using arithmetic = await keys.arithmeticKeys({ rotations: [] });
    using x = await keys.encrypt([7]);
    using square = await arithmetic.multiply(x, x);
    expect((await keys.decrypt(square))[0]).toBe(49);
  });
});

it('secure sets whose evaluation keys no page holds have keys for arithmetic, and say so', async () => {
  using keys = await rf.integers.keygen('bgv16-786433');
  expect(() => keys.evaluationKeys()).toThrow(/or make arithmeticKeys\(\)/);
  const making = keys.arithmeticKeys();
  making.pause();
  await making.step();
  expect(making.events[0]?.totalBytes).toBeLessThan(1e9);
  making.cancel();
  await expect(making).rejects.toMatchObject({ code: 'ABORTED' });
});
