import { describe, expect, it } from 'vitest';
import { Refloat, type KeySet } from 'refloat';
import { Fraction, OfPlan } from '../dist/engine/fraction.js';
import { rising } from './support/rising.js';

describe('the fraction of a run', () => {
  it('counts steps, whatever comes', () => {
    const fraction = new Fraction([{ id: 'a', steps: 1 }, { id: 'b', steps: 3 }]);
    expect(fraction.after({ kind: 'enter', stage: 'a' }, false)).toBe(0);
    expect(fraction.after({ kind: 'exit', stage: 'a' }, false)).toBe(0.25);
    expect(fraction.after({ kind: 'progress', stage: 'b', done: 1, total: 3 }, false)).toBe(0.5);
    expect(fraction.after({ kind: 'progress', stage: 'b', done: 0, total: 3 }, false)).toBe(0.5); // never back
    expect(fraction.after({ kind: 'exit', stage: 'unknown' }, false)).toBe(0.5);
    expect(fraction.after({ kind: 'exit', stage: 'b' }, false)).toBeLessThan(1);
    expect(fraction.after({ kind: 'exit', stage: 'b' }, false)).toBeLessThan(1); // more than was foreseen
    expect(fraction.after({ kind: 'exit', stage: 'unknown' }, true)).toBe(1);
  });

  it('of a program on a server counts the steps of its plan', () => {
    const fraction = new OfPlan();
    const progress = (done: number): object => ({ kind: 'progress', stage: 'arithmetic', done, total: 4 });
    expect(fraction.after({ kind: 'enter', stage: 'arithmetic' }, false)).toBe(0);
    expect(fraction.after(progress(2), false)).toBe(0.5);
    expect(fraction.after({ kind: 'progress', stage: 'blind_rotate', done: 3, total: 3 }, false)).toBe(0.5);
    expect(fraction.after(progress(1), false)).toBe(0.5); // never back
    expect(fraction.after(progress(4), false)).toBeLessThan(1);
    expect(fraction.after({ kind: 'exit', stage: 'arithmetic' }, true)).toBe(1);
  });

  it('rises to 1 in the page', async () => {
    const rf = await Refloat.load({ worker: false });
    const whole = async (keys: KeySet, rounds?: number): Promise<void> => {
      const making = keys.bootstrapKeys();
      const boot = await making;
      rising(making.events);
      const x = await keys.encrypt([0.5], { level: keys.params.inputLevel });
      const run = keys.bootstrap(x, boot, rounds === undefined ? {} : { rounds });
      await run;
      rising(run.events);
      const half = run.events.filter((event) => event.kind === 'exit').map((event) => event.fraction ?? 0);
      expect(half.some((fraction) => fraction > 0.1 && fraction < 0.9)).toBe(true);
    };
    await whole(await rf.keygen('toy10', { allowInsecure: true }));
    await whole(await rf.keygen('toy-conventional10-sparse', { allowInsecure: true }), 2);
    using integers = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    using evaluation = await integers.evaluationKeys();
    const run = evaluation.bootstrap(await integers.encrypt([1]));
    await run;
    rising(run.events);
    rf.close();
  });
});
