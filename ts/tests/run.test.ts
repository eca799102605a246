import { describe, expect, it } from 'vitest';
import { Run, SteppableRun, type RunControl } from '../dist/run.js';

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

function counting(total: number, signal?: AbortSignal): SteppableRun<string, number> {
  return new SteppableRun(async (control: RunControl<number>) => {
    for (let i = 1; i <= total; i++) {
      await control.gate();
      await tick();
      control.emit(i);
    }
    return 'done';
  }, signal);
}

async function collect<E>(run: AsyncIterable<E>): Promise<E[]> {
  const seen: E[] = [];
  for await (const event of run) seen.push(event);
  return seen;
}

describe('Run', () => {
  it('is a promise and an iterable, for as many listeners as come, however late', async () => {
    const run = counting(3);
    const early = collect(run);
    expect(await run).toBe('done');
    expect(run.state).toBe('done');
    expect(await early).toEqual([1, 2, 3]);
    expect(await collect(run)).toEqual([1, 2, 3]);
    expect(run.events).toEqual([1, 2, 3]);
  });

  it('throws a failure to those who await and to those who iterate', async () => {
    const run = new Run<never, number>(async (control) => {
      control.emit(1);
      await tick();
      throw new Error('broken');
    });
    const seen: number[] = [];
    await expect(
      (async () => {
        for await (const e of run) seen.push(e);
      })(),
    ).rejects.toThrow('broken');
    await expect(run).rejects.toThrow('broken');
    expect(seen).toEqual([1]);
    expect(run.state).toBe('failed');
  });

  it('does not end the process when nobody looks', async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', listen);
    new Run(() => Promise.reject(new Error('nobody looks')));
    await tick();
    await tick();
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
  });

  it('rejects with ABORTED when cancelled in the middle, and does no more', async () => {
    const run = counting(100);
    for await (const e of run) if (e === 2) break;
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    expect(run.state).toBe('cancelled');
    const after = run.events.length;
    await tick();
    expect(run.events.length).toBe(after);
    expect(after).toBeLessThan(100);
  });

  it('rejects at once when cancelled in the middle of a part, and frees what that comes to', async () => {
    for (const wrapped of [false, true]) {
      let free = 0;
      let end = (): void => undefined;
      const object = { free: () => void (free += 1) };
      const run = new SteppableRun<unknown, number>(async (control) => {
        await control.gate();
        control.emit(1);
        await new Promise<void>((resolve) => (end = resolve));
        control.emit(2);
        return wrapped ? { a: object, list: [object], bytes: new Uint8Array(2) } : object;
      });
      for await (const e of run) if (e === 1) break;
      run.cancel();
      // The part has not ended, and only its end waits for it.
      await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
      await expect(collect(run)).rejects.toMatchObject({ code: 'ABORTED' });
      expect([run.state, free]).toEqual(['cancelled', 0]);
      end();
      await tick();
      expect([run.events, free]).toEqual([[1], wrapped ? 2 : 1]);
    }
  });

  it("rejects with the signal's own reason, before and after the start", async () => {
    const controller = new AbortController();
    const run = counting(100, controller.signal);
    await tick();
    controller.abort(new Error('enough'));
    await expect(run).rejects.toThrow('enough');
    await expect(counting(1, controller.signal)).rejects.toThrow('enough');
    const timeout = counting(100, AbortSignal.timeout(5));
    await expect(timeout).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('leaves an ended run as it is', async () => {
    const run = counting(1);
    await run;
    run.cancel();
    run.pause();
    await run.step();
    expect(run.state).toBe('done');
    expect(await run).toBe('done');
  });

  it('supports catch and finally', async () => {
    const run = new Run<number, never>(() => Promise.reject(new Error('x')));
    let ended = false;
    expect(await run.catch(() => 5)).toBe(5);
    await run.finally(() => (ended = true)).catch(() => undefined);
    expect(ended).toBe(true);
  });
});

describe('SteppableRun', () => {
  it('paused at once, does nothing until asked', async () => {
    const run = counting(5);
    run.pause();
    await tick();
    await tick();
    expect(run.events).toEqual([]);
    expect(run.state).toBe('paused');
    await run.step();
    expect(run.events).toEqual([1]);
    await Promise.all([run.step(), run.step()]);
    expect(run.events).toEqual([1, 2, 3]);
    run.resume();
    expect(await run).toBe('done');
    expect(run.events).toEqual([1, 2, 3, 4, 5]);
  });

  it('pauses in the middle and finishes by steps', async () => {
    const run = counting(4);
    for await (const e of run) {
      if (e === 1) {
        run.pause();
        break;
      }
    }
    await tick();
    await tick();
    const paused = run.events.length;
    await tick();
    expect(run.events.length).toBe(paused);
    while (run.state === 'paused') await run.step();
    expect(await run).toBe('done');
  });

  it('is cancelled or ends, and frees no result that it has given', async () => {
    const seen = new Set<string>();
    for (let turns = 0; turns < 10; turns++) {
      let [made, freed] = [0, 0];
      const run = new Run<object, number>(() => {
        made++;
        return Promise.resolve({ free: () => void freed++ });
      });
      const outcome = run.then(
        () => 'done',
        () => 'cancelled',
      );
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      run.cancel();
      const [ended] = [await outcome, await tick()];
      expect([ended, run.state, freed]).toEqual(ended === 'done' ? ['done', 'done', 0] : ['cancelled', 'cancelled', made]);
      seen.add(ended);
    }
    expect([...seen].sort()).toEqual(['cancelled', 'done']);
  });

  it('can be cancelled while paused', async () => {
    const run = counting(4);
    run.pause();
    const step = run.step();
    await step;
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    await run.step();
    expect(run.events).toEqual([1]);
  });

  it('settles a step whose run fails', async () => {
    const run = new SteppableRun<never, never>(async (control) => {
      await control.gate();
      throw new Error('broken');
    });
    run.pause();
    await run.step();
    await expect(run).rejects.toThrow('broken');
  });
});
