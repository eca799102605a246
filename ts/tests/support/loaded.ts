// Instances of the library that are closed after each test.
import { afterEach } from 'vitest';
import { Refloat } from 'refloat';

const loaded: Refloat[] = [];
afterEach(() => {
  for (const rf of loaded.splice(0)) rf.close();
});

/** An instance with `threads` threads. */
export async function withThreads(threads: number): Promise<Refloat> {
  const rf = await Refloat.load({ threads });
  loaded.push(rf);
  return rf;
}
