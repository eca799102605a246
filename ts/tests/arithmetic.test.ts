// Arithmetic on encrypted numbers in the page, and public keys: the bytes are those of the native build, and the numbers those of
// arithmetic in the clear. The expectations of bytes are written by tests/rust/circuits/arithmetic.rs.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refloat, type ArithmeticKeys, type Ciphertext, type KeySet } from 'refloat';
import { Refloat as Client } from 'refloat/client';
import { expectStopped, refused } from './support/refused.js';
import { digest as digestOf, seed } from './support/vectors.js';

interface SetVectors {
  readonly name: string;
  readonly keyId: string;
  readonly publicKey: string;
  readonly x: string;
  readonly sum: string;
  readonly negative: string;
  readonly product: string;
  readonly difference: string;
  readonly plus: string;
  readonly times: string;
  readonly quarter: string;
  readonly rotated: string;
  readonly conjugate: string;
}

interface Vectors {
  readonly keySeed: number;
  readonly encryptionSeed: number;
  readonly numbers: readonly number[];
  readonly steps: number;
  readonly sets: readonly SetVectors[];
}

const path = new URL('../../tests/vectors/arithmetic.json', import.meta.url);
const vectors = JSON.parse(await readFile(path, 'utf8')) as Vectors;
const digest = async (x: Promise<Ciphertext>): Promise<string> => digestOf(await (await x).toBytes());

let rf: Refloat;
beforeAll(async () => {
  rf = await Refloat.load({ worker: false });
});
afterAll(() => rf.close());

describe.each(vectors.sets)('$name in wasm', (set) => {
  let keys: KeySet;
  let arithmetic: ArithmeticKeys;
  let x: Ciphertext;
  let y: Ciphertext;
  let message: readonly number[];
  beforeAll(async () => {
    keys = await rf.keygen(set.name, { allowInsecure: true, seed: seed(vectors.keySeed) });
    const making = keys.arithmeticKeys({ conjugation: true });
    arithmetic = await making;
    const [first, last] = [making.events[0], making.events.at(-1)];
    expect(first).toMatchObject({ done: 0, bytes: 0, totalBytes: arithmetic.memoryBytes });
    expect(last).toMatchObject({ bytes: arithmetic.memoryBytes, done: last?.total, label: 'conjugation' });
    message = Array.from({ length: keys.params.slots }, (_, i) => (((37 * i) % 101) - 50) / 64);
    const made = await keys.publicKey();
    const bytes = await made.toBytes();
    expect(digestOf(bytes)).toBe(set.publicKey);
    const theirs = await rf.publicKeyFromBytes(bytes, { allowInsecure: true });
    expect([theirs.keyId, theirs.params.name]).toEqual([set.keyId, set.name]);
    x = await theirs.encrypt(message, { seed: seed(vectors.encryptionSeed) });
    y = await keys.encrypt(message, { seed: seed(vectors.encryptionSeed) });
  });

  it('gives the bytes of the native build', async () => {
    const product = arithmetic.multiply(x, y);
    expect(digestOf(await x.toBytes())).toBe(set.x);
    expect(await digest(x.add(y))).toBe(set.sum);
    expect(await digest(x.negate())).toBe(set.negative);
    expect(await digest(product)).toBe(set.product);
    expect(await digest((await product).subtract(x))).toBe(set.difference);
    expect(await digest(x.addPlain(vectors.numbers))).toBe(set.plus);
    expect(await digest(x.multiplyPlain(vectors.numbers))).toBe(set.times);
    expect(await digest(x.multiplyPlain(vectors.numbers[0] ?? 0))).toBe(set.quarter);
    expect(await digest(arithmetic.rotate(x, vectors.steps))).toBe(set.rotated);
    expect(await digest(arithmetic.conjugate(x))).toBe(set.conjugate);
  });

  it('computes what arithmetic in the clear does', async () => {
    const near = async (found: Ciphertext, wanted: (x: number, i: number) => number): Promise<void> => {
      const numbers = await keys.decrypt(found);
      for (const [i, own] of message.entries()) expect(numbers[i], `slot ${i}`).toBeCloseTo(wanted(own, i), 2);
    };
    await near(await x.add(y), (x) => 2 * x);
    await near(await (await arithmetic.multiply(x, y)).add(x), (x) => x * x + x);
    await near(await x.multiplyPlain(-3), (x) => -3 * x);
    await near(await x.addPlain(0.25), (x) => x + 0.25);
    await near(await arithmetic.rotate(x, -1), (_, i) => message.at(i - 1) ?? NaN);
    await near(await x.dropToLevel(x.level - 1), (x) => x);
  });
});

describe('complex numbers', () => {
  it('are added, multiplied and conjugated', async () => {
    using keys = await rf.keygen('toy-conventional11', { allowInsecure: true });
    using arithmetic = await keys.arithmeticKeys({ rotations: [], conjugation: true });
    using z = await keys.encrypt([0.5, 0.25], { mode: 'complex' });
    using real = await keys.encrypt([0.5]);
    const found = async (x: Promise<Ciphertext>): Promise<number[]> => {
      const result = await x;
      expect(result.mode).toBe('complex');
      return Array.from((await keys.decrypt(result)).slice(0, 2), (part) => Math.round(part * 512) / 512 + 0);
    };
    expect(await found(arithmetic.conjugate(z))).toEqual([0.5, -0.25]);
    expect(await found(arithmetic.multiply(z, z))).toEqual([0.1875, 0.25]);
    expect(await found(real.add(z))).toEqual([1, 0.25]);
    expect(await found(z.multiplyPlain([0, 1]))).toEqual([-0.25, 0.5]);
    expect(await found(z.addPlain(0.25))).toEqual([0.75, 0.25]);
  });
});

describe('mistakes', () => {
  it('are named with what to do', async () => {
    using keys = await rf.keygen('toy10', { allowInsecure: true });
    using others = await rf.keygen('toy10', { allowInsecure: true });
    using arithmetic = await keys.arithmeticKeys({ rotations: [2] });
    using x = await keys.encrypt([0.5]);
    using foreign = await others.encrypt([0.5]);
    using low = await x.dropToLevel(keys.params.inputLevel);
    await refused(x.add(foreign), 'PARAMS_MISMATCH', /use what belongs to one key set/);
    await refused(arithmetic.multiply(x, foreign), 'PARAMS_MISMATCH', /use what belongs to one key set/);
    await refused(x.add(undefined as unknown as Ciphertext), 'INVALID_ARGUMENT', /a ciphertext was expected/);
    await refused(x.addPlain([Infinity]), 'INVALID_ARGUMENT', /finite/);
    await refused(x.addPlain(NaN), 'INVALID_ARGUMENT', /finite/);
    await refused(x.multiplyPlain('2' as unknown as number), 'INVALID_ARGUMENT', /the string "2"/);
    await refused(x.addPlain(new Float64Array(keys.params.slots + 1)), 'INVALID_ARGUMENT', /one a slot/);
    await refused(arithmetic.multiply(low, low), 'LEVEL_MISMATCH', /bootstrap it first/);
    await refused(x.dropToLevel(-1), 'INVALID_ARGUMENT', /level is -1/);
    await refused(low.dropToLevel(x.level), 'LEVEL_MISMATCH', /level/);
    await refused(arithmetic.rotate(x, 1), 'MISSING_KEY', /\[2\]/);
    await refused(arithmetic.rotate(x, 0.5), 'INVALID_ARGUMENT', /integer/);
    await refused(arithmetic.conjugate(x), 'MISSING_KEY', /conjugation/);
    expect(() => keys.arithmeticKeys({ rotations: [0.5] })).toThrow(/name integers/);
    const bytes = await (await keys.publicKey()).toBytes();
    await refused(rf.publicKeyFromBytes(bytes), 'INSECURE', /allowInsecure/);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    await refused(rf.publicKeyFromBytes(bytes, { allowInsecure: true }), 'BAD_BYTES', /./);
    await refused(rf.publicKeyFromBytes(await x.toBytes(), { allowInsecure: true }), 'BAD_BYTES', /public key/);
    using theirs = await keys.publicKey();
    await refused(theirs.encrypt([2]), 'INVALID_ARGUMENT', /outside \[-1, 1\]/);
    await refused(theirs.encrypt([0.5], { level: 9 }), 'LEVEL_MISMATCH', /public key's level/);
  });

  it('stop the making of keys between two of them', async () => {
    using keys = await rf.keygen('toy10', { allowInsecure: true });
    await expectStopped(rf, () => keys.arithmeticKeys());
  });
});

describe('the client artefact', () => {
  it('encrypts with public keys, and says where arithmetic is', async () => {
    const client = await Client.load({ worker: false });
    using keys = await client.keygen('toy10', { allowInsecure: true });
    using theirs = await client.publicKeyFromBytes(await (await keys.publicKey()).toBytes(), { allowInsecure: true });
    using x = await theirs.encrypt([0.5]);
    expect((await keys.decrypt(x))[0]).toBeCloseTo(0.5, 2);
    await expect(x.add(x)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining("'refloat'") as string });
    client.close();
  });
});
