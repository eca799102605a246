// What is refused, and what is stopped.
import { expect } from 'vitest';
import type { Refloat, SteppableRun } from 'refloat';

/** Checks that something is refused with a code, in words that match. */
export async function refused(promise: PromiseLike<unknown>, code: string, words: RegExp): Promise<void> {
  await expect(promise).rejects.toMatchObject({ code, message: expect.stringMatching(words) as string });
}

/** Makes the first of several keys, cancels, and checks that nothing stays in memory. */
export async function expectStopped(rf: Refloat, make: () => SteppableRun<unknown, unknown>): Promise<void> {
  const before = (await rf.memory()).objects;
  const making = make();
  making.pause();
  await making.step();
  making.cancel();
  await expect(making).rejects.toMatchObject({ code: 'ABORTED' });
  // The key being made is freed once it has been made.
  await expect.poll(async () => (await rf.memory()).objects).toBeLessThanOrEqual(before);
}
