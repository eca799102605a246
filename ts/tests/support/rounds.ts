// Memory of the wasm instance after many rounds through it.
import { expect } from 'vitest';
import type { KeySet, Refloat } from 'refloat';

/** Encrypting, writing, reading and decrypting, over and over, takes no more memory than doing it a few times. */
export async function doesNotGrow(rf: Refloat, keys: KeySet, values: ArrayLike<number>): Promise<void> {
  const round = async (): Promise<void> => {
    using ct = await keys.encrypt(values);
    using back = await rf.ciphertextFromBytes(await ct.toBytes());
    await keys.decrypt(back);
  };
  for (let i = 0; i < 5; i++) await round();
  const before = await rf.memory();
  for (let i = 0; i < 50; i++) await round();
  expect(await rf.memory()).toEqual(before);
}
