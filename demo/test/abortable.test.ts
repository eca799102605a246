import { describe, expect, it } from 'vitest';
import { KeysOnce } from '../src/keys.js';
import { whileWanted } from '../src/abortable.js';

/** An object that is made when the test says so, and that counts how often it is freed. */
function later(): { readonly made: Promise<{ free(): void }>; readonly finish: () => void; readonly freed: () => number } {
  let [finish, freed] = [() => undefined as void, 0];
  const made = new Promise<{ free(): void }>((resolve) => (finish = () => resolve({ free: () => void (freed += 1) })));
  return { made, finish: () => finish(), freed: () => freed };
}

describe('waiting while something is wanted', () => {
  it('gives what was made, and passes failures on', async () => {
    const { signal } = new AbortController();
    expect(await whileWanted(signal, Promise.resolve(7))).toBe(7);
    await expect(whileWanted(signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('ends at once with the signal, and frees what comes afterwards', async () => {
    const stop = new AbortController();
    const thing = later();
    const waiting = whileWanted(stop.signal, thing.made);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(thing.freed()).toBe(0);
    thing.finish();
    await thing.made;
    await Promise.resolve();
    expect(thing.freed()).toBe(1);
    const late = later();
    const never = whileWanted(stop.signal, late.made);
    await expect(never).rejects.toThrow('enough');
    late.finish();
    await late.made;
    await Promise.resolve();
    expect(late.freed()).toBe(1);
  });

  it('keeps what was there before the signal', async () => {
    const stop = new AbortController();
    const thing = later();
    thing.finish();
    const made = await whileWanted(stop.signal, thing.made);
    stop.abort();
    await Promise.resolve();
    expect(thing.freed()).toBe(0);
    made.free();
  });
});

describe('keys that are given up', () => {
  it('are made anew by who asks next, even if the secret key is still being made', async () => {
    const secrets: ReturnType<typeof later>[] = [];
    const evaluation = { memoryBytes: 5, free: (): void => undefined };
    const making = { then: (resolve: (keys: typeof evaluation) => void) => resolve(evaluation), async *[Symbol.asyncIterator]() {} };
    const keys = new KeysOnce(
      () => {
        secrets.push(later());
        return (secrets.at(-1) as ReturnType<typeof later>).made;
      },
      () => making as never,
    );
    const stop = new AbortController();
    const first = keys.of(stop.signal, () => undefined);
    stop.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    const second = keys.of(new AbortController().signal, () => undefined);
    expect(secrets).toHaveLength(2);
    for (const { finish } of secrets) finish();
    expect((await second).evaluation).toBe(evaluation);
    expect(secrets.map(({ freed }) => freed())).toEqual([1, 0]);
  });
});
