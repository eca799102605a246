import { expect, test } from 'vitest';
import { KeysOnce } from '../src/keys.js';

/** Keys that count how often they were made and freed; making them can fail. */
function counted(failing: () => boolean) {
  const made = { secret: 0, evaluation: 0, freed: 0 };
  const free = (): void => {
    made.freed += 1;
  };
  const keys = new KeysOnce(
    () => {
      made.secret += 1;
      return Promise.resolve({ free });
    },
    () => {
      async function* events() {
        yield { kind: 'progress', done: 1, total: 2, bytes: 500, totalBytes: 1000, label: 'a part' } as const;
      }
      const result = failing() ? Promise.reject(new Error('cancelled')) : Promise.resolve({ free, memoryBytes: 2e6 });
      result.catch(() => undefined);
      made.evaluation += 1;
      return { [Symbol.asyncIterator]: events, then: result.then.bind(result) } as never;
    },
  );
  return { keys, made };
}

const { signal } = new AbortController();

test('keys are made once, and tell how far they are', async () => {
  const { keys, made } = counted(() => false);
  const heard: [number, number][] = [];
  const [first, second] = await Promise.all([keys.of(signal, (...progress) => heard.push(progress)), keys.of(signal, () => undefined)]);
  expect(second).toBe(first);
  expect(heard).toEqual([[500, 1000]]);
  expect(made).toEqual({ secret: 1, evaluation: 1, freed: 0 });
  expect((await keys.made())?.megabytes).toBe(2);
});

test('keys that were not made leave nothing behind, and are made by the next use', async () => {
  let fails = true;
  const { keys, made } = counted(() => fails);
  await expect(keys.of(signal, () => undefined)).rejects.toThrow('cancelled');
  expect(made.freed).toBe(1);
  expect(await keys.made()).toBeUndefined();
  fails = false;
  await keys.of(signal, () => undefined);
  expect(made).toEqual({ secret: 2, evaluation: 2, freed: 1 });
});

test('forgotten keys are freed, both of them', async () => {
  const { keys, made } = counted(() => false);
  await keys.of(signal, () => undefined);
  keys.forget();
  await Promise.resolve().then(() => undefined);
  await new Promise((done) => setTimeout(done));
  expect(made.freed).toBe(2);
  await keys.of(signal, () => undefined);
  expect(made.secret).toBe(2);
});
