import type { Refloat } from 'refloat';

/** Readings that must agree, and milliseconds between them: longer than a gate of a toy set takes. */
const READINGS = 10;
const APART = 20;

/** Objects in memory once the helpers of finished runs, which still complete their tasks, have been freed. */
export async function settledObjects(rf: Refloat): Promise<number> {
  let [last, same] = [-1, 0];
  while (same < READINGS) {
    const { objects } = await rf.memory();
    same = objects === last ? same + 1 : 1;
    last = objects;
    await new Promise((resolve) => setTimeout(resolve, APART));
  }
  return last;
}
