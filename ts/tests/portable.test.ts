// The same seeds give the same bytes in wasm as natively: keys, ciphertexts and whole
// bootstrappings. The expected bytes are written by wasm/tests/portable.rs.
import { beforeAll, describe, expect, it } from 'vitest';
import { Refloat, type Ciphertext, type KeySet } from 'refloat';
import { digest, seed, vectors } from './support/vectors.js';

let rf: Refloat;
beforeAll(async () => {
  rf = await Refloat.load({ worker: false });
});

describe.each(vectors.sets)('$name in wasm', (set) => {
  it('reads the same secret key and makes the same parts from it', async () => {
    using keys = await rf.importKeys(Buffer.from(set.secret, 'hex'), { allowInsecure: true });
    expect(keys.params.fingerprint).toBe(set.fingerprint);
    expect(keys.id).toBe(set.keyId);
    for (const [index, expected] of set.parts) expect(digest(await keys.keyPart(index)), `part ${index}`).toBe(expected);
    expect(Buffer.from(await keys.exportSecret()).toString('hex')).toBe(set.secret);
  });
});

// Only toys take seeds for encryption.
describe.each(vectors.sets.filter((set) => set.name.startsWith('toy')))('$name in wasm, from seeds', (set) => {
  let keys: KeySet;
  beforeAll(async () => {
    keys = await rf.keygen(set.name, { allowInsecure: true, seed: seed(vectors.keySeed) });
  });

  const encrypted = (level: number, mode: 'real' | 'complex'): Promise<Ciphertext> => {
    const count = mode === 'complex' ? 2 * keys.params.slots : keys.params.slots;
    const values = Array.from({ length: count }, (_, i) => (((37 * i) % 101) - 50) / 64);
    return keys.encrypt(values, { level, mode, seed: seed(vectors.encryptionSeed) });
  };

  it('makes the same key from a seed', () => {
    expect(keys.id).toBe(set.keyId);
    expect(set.parts).toHaveLength(keys.params.keyParts.length);
  });

  it('makes the same ciphertexts', async () => {
    expect(digest(await (await encrypted(2, 'real')).toBytes())).toBe(set.fresh);
    expect(digest(await (await encrypted(1, 'real')).toBytes())).toBe(set.exhausted);
    expect(digest(await (await encrypted(2, 'complex')).toBytes())).toBe(set.complex);
  });

  if (set.bootstrapped === undefined) return; // one set is enough

  it('bootstraps to the same ciphertext, twice', async () => {
    const boot = await keys.bootstrapKeys();
    const once = await keys.bootstrap(await encrypted(1, 'real'), boot);
    expect(digest(await once.toBytes())).toBe(set.bootstrapped);
    const square = await rf.square(once, boot);
    expect(digest(await square.toBytes())).toBe(set.squared);
    expect(digest(await (await keys.bootstrap(square, boot)).toBytes())).toBe(set.bootstrappedAgain);
  });
});
