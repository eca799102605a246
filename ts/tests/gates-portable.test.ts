// Gates give the same bytes in wasm as natively. The expected bytes are written by
// wasm/tests/portable.rs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refloat, type GateKeySet, type GateKeys } from 'refloat';
import { digest, seed, vectors } from './support/vectors.js';

let rf: Refloat;
beforeAll(async () => {
  rf = await Refloat.load();
});
afterAll(() => rf.close());

describe.each(vectors.gates)('$name in wasm', (set) => {
  it('reads the same secret key and makes the same parts from it', async () => {
    using keys = await rf.gates.importKeys(Buffer.from(set.secret, 'hex'), { allowInsecure: true });
    expect(keys.params.fingerprint).toBe(set.fingerprint);
    expect(keys.id).toBe(set.keyId);
    for (const [index, expected] of set.parts) {
      const bytes = await keys.keyPart(index);
      expect(digest(bytes), `part ${index}`).toBe(expected);
      expect(bytes).toHaveLength(keys.params.keyParts[index]?.bytes ?? 0);
    }
    expect(Buffer.from(await keys.exportSecret()).toString('hex')).toBe(set.secret);
  });
});

// Only toys take seeds.
describe.each(vectors.gates.filter((set) => set.fresh !== undefined))('$name in wasm, from seeds', (set) => {
  let keys: GateKeySet;
  let evaluation: GateKeys;
  beforeAll(async () => {
    keys = await rf.gates.keygen(set.name, { allowInsecure: true, seed: seed(vectors.keySeed) });
    evaluation = await keys.evaluationKeys();
  });

  it('makes the same key', () => expect(keys.id).toBe(set.keyId));

  it.runIf(set.lookedUp === undefined)('encrypts and evaluates gates and a circuit to the same bytes', async () => {
    const bits = Array.from({ length: 5 }, (_, i) => ((0b10110 >> i) & 1) === 1);
    using list = await keys.encrypt(bits, { seed: seed(vectors.encryptionSeed) });
    expect(digest(await list.toBytes())).toBe(set.fresh);
    using a = await list.slice(0, 1);
    using b = await list.slice(1, 2);
    using nand = await evaluation.nand(a, b);
    expect(digest(await nand.toBytes())).toBe(set.nand);
    using stepped = await evaluation.gateRun('nand', [a, b], { productsPerStep: 7 });
    expect(digest(await stepped.toBytes())).toBe(set.nand);
    using inputs = await list.slice(0, 4);
    using sum = await evaluation.run(await rf.gates.adder(2), inputs);
    expect(digest(await sum.toBytes())).toBe(set.sum);
  });

  it.runIf(set.lookedUp !== undefined)('encrypts and looks integers up to the same bytes', async () => {
    const { messages } = keys.params.gates;
    const integers = Array.from({ length: 5 }, (_, i) => (13 * i) % messages);
    using list = await keys.encryptIntegers(integers, { seed: seed(vectors.encryptionSeed) });
    expect(digest(await list.toBytes())).toBe(set.fresh);
    const table = Array.from({ length: messages }, (_, m) => (m * m + 1) % messages);
    using result = await evaluation.lookUp(list, table);
    expect(digest(await result.toBytes())).toBe(set.lookedUp);
    expect(await keys.decryptIntegers(result)).toEqual(integers.map((m) => table[m]));
  });
});
