// Public keys of exact integers: what others encrypt can be computed with like the owner's, and wrong bytes are refused.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refloat } from 'refloat';

let rf: Refloat;
beforeAll(async () => {
  rf = await Refloat.load({ worker: false });
});
afterAll(() => rf.close());

describe('integers', () => {
  it('are encrypted by two parties for one owner', async () => {
    using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    using made = await keys.publicKey();
    const bytes = await made.toBytes();
    await expect(rf.integers.publicKeyFromBytes(bytes)).rejects.toMatchObject({ code: 'INSECURE' });
    using theirs = await rf.integers.publicKeyFromBytes(bytes, { allowInsecure: true });
    expect([theirs.keyId, theirs.params.name]).toEqual([keys.id, 'toy-bgv10']);
    expect(await theirs.toBytes()).toEqual(bytes);
    using x = await theirs.encrypt([7, 65536]);
    using y = await made.encrypt([35, 1]);
    using own = await keys.encrypt([1, 1]);
    expect(x.capacity).toBeLessThan(own.capacity);
    using sum = await (await x.add(y)).add(own);
    expect([...(await keys.decrypt(sum)).slice(0, 3)]).toEqual([43, 1, 0]);
    using evaluation = await keys.evaluationKeys();
    using product = await evaluation.multiply(x, y);
    expect([...(await keys.decrypt(product)).slice(0, 2)]).toEqual([245, 65536]);
    using fresh = await evaluation.bootstrap(product);
    expect([...(await keys.decrypt(fresh)).slice(0, 2)]).toEqual([245, 65536]);
    await expect(theirs.encrypt([65537])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(rf.integers.publicKeyFromBytes(bytes.slice(1), { allowInsecure: true })).rejects.toMatchObject({ code: 'BAD_BYTES' });
    using numbers = await rf.keygen('toy10', { allowInsecure: true });
    const foreign = await (await numbers.publicKey()).toBytes();
    await expect(rf.integers.publicKeyFromBytes(foreign, { allowInsecure: true })).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
  });
});
