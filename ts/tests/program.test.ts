// Programs: the bytes are those that the core writes; what is refused; and a run on the native server.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { Program, Refloat, type Numbers } from 'refloat';
import { outputsOf, programBody } from '../dist/remote/program.js';
import { rising } from './support/rising.js';
import { SERVER_BINARY, realServer } from './support/real-server.js';

/** One node of every kind, as in `tests/rust/circuits/program_graph.rs`. */
function sample(): Program {
  const p = new Program({ slots: 8 });
  const x = p.input('x');
  const y = p.input('y');
  const reals = p.constant([0.5, -0, 1e-300]);
  const complex = p.constant({ re: [0.5], im: [0.25] });
  const product = x.add(reals).sub(y).mul(complex);
  const mirror = product.neg().rotate(-7).conjugate().named('mirror image');
  const q = mirror.polynomial([0.1, 0, 0.3], { interval: [-2, 0.1] }).polynomial({ re: [0, 1], im: [1, 0] });
  const diagonals = new Map<number, Numbers>([
    [2, { re: [0, 0, 0, 0], im: [1, 1, 1, 1] }],
    [3, [1, 1, 1, 1]],
  ]);
  const fresh = q.linearTransform({ slots: 4, diagonals }).bootstrap();
  p.output('z', fresh);
  p.output('q', q);
  return p;
}

/** One reading of digits of every kind, as in that file. */
function digits(): Program {
  const p = new Program({ slots: 8 });
  const x = p.input('x');
  const centred = x.mod(0.25).mod(1, { bits: 10, centred: true });
  const integer = x.intMod(24);
  const bit = x.bit(10, 3);
  const lookedUp = x.lookUp([0.5, -1, 2]);
  const exact = lookedUp.lookUp({ re: [0, 1], im: [1, 0] }, { exact: true });
  const quantised = x.quantise(4, { nearest: true });
  p.output('centred', centred);
  p.output('integer', integer);
  p.output('bit', bit);
  p.output('looked up', lookedUp);
  p.output('exact', exact);
  p.output('quantised', quantised);
  return p;
}

/** One question of order of every kind, as in that file. */
function orders(): Program {
  const p = new Program({ slots: 8 });
  const x = p.input('x');
  const answers = {
    sign: x.sign(8),
    rank: x.rank(4, { bounds: { grid: 8 } }),
    argmax: x.argmax(4, { bounds: 'unit' }),
    argmin: x.argmin(4),
    top: x.top(4, 2, { bounds: 'unit' }),
  };
  for (const [name, answer] of Object.entries(answers)) p.output(name, answer);
  return p;
}

describe('Program', () => {
  it('gives the bytes of the core', async () => {
    const path = new URL('../../tests/vectors/program.json', import.meta.url);
    const vector = JSON.parse(await readFile(path, 'utf8')) as { bytes: string; digits: string; orders: string };
    expect(Buffer.from(sample().toBytes()).toString('hex')).toBe(vector.bytes);
    expect(Buffer.from(digits().toBytes()).toString('hex')).toBe(vector.digits);
    expect(Buffer.from(orders().toBytes()).toString('hex')).toBe(vector.orders);
    // If the program says how to compare, its version is one higher and the question has one bit more.
    const by = (way?: 'gates' | 'digits'): number[] => {
      const p = new Program({ slots: 8 });
      p.output('y', p.input('x').rank(4, { by: way }));
      return [...p.toBytes()];
    };
    const asked = by().findIndex((byte, i) => i > 7 && byte !== by('gates')[i]);
    expect([by()[6], by('gates')[6], by('digits')[6]]).toEqual([3, 4, 4]);
    expect([by('gates')[asked], by('digits')[asked]]).toEqual([(by()[asked] ?? 0) + 16, (by()[asked] ?? 0) + 32]);
    expect([sample().inputs, sample().outputs]).toEqual([['x', 'y'], ['z', 'q']]);
  });

  it('writes sums by rotations, numbers beside values, and matrices by rows', () => {
    const kinds = (body: (p: Program) => void): number => {
      const p = new Program({ slots: 16 });
      body(p);
      return new DataView(p.toBytes().buffer).getUint32(8, true);
    };
    expect(kinds((p) => p.output('y', p.input('x').rotateSum(16)))).toBe(1 + 2 * 4 + 1);
    expect(kinds((p) => p.output('y', p.input('x').mul(0.5).add([1, 2])))).toBe(6);
    const rows = (n: number): number[][] => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));
    const p = new Program({ slots: 16 });
    p.output('y', p.input('x').linearTransform(rows(4)));
    expect(p.toBytes().length).toBe(12 + 3 + (2 + 4 + 8 + 4 + 5 + 32) + 7);
    // Longer than the memory reserved at first.
    const large = new Program({ slots: 4096 });
    const numbers = Array.from({ length: 4096 }, (_, i) => i / 7);
    large.output('y', large.input('x').mul(numbers));
    const bytes = large.toBytes();
    expect([...new Float64Array(bytes.slice(22, 22 + 8 * 4096).buffer)]).toEqual(numbers);
  });

  it('keeps the numbers it was given', () => {
    const p = new Program({ slots: 4 });
    const [numbers, diagonal, im] = [new Float64Array([1, 2, 3, 4]), [5, 6, 7, 8], [0, 1]];
    const x = p.input('x').mul(numbers);
    const y = x.polynomial(numbers).polynomial({ re: [1, 0], im }).linearTransform({ slots: 4, diagonals: new Map([[-1, diagonal]]) });
    p.output('y', y);
    const before = p.toBytes();
    for (const list of [numbers, diagonal, im]) list.fill(0);
    expect(p.toBytes()).toEqual(before);
  });

  it('refuses what makes no sense', () => {
    const p = new Program({ slots: 4 });
    const x = p.input('x');
    const other = new Program({ slots: 4 }).input('x');
    const refusals: (() => unknown)[] = [
      () => p.input('x'),
      () => p.input('a"b'),
      () => p.constant([]),
      () => p.constant([1, 2, 3, 4, 5]),
      () => p.constant(NaN),
      () => p.constant({ re: [1], im: [] }),
      () => x.add(other),
      () => p.output('y', other),
      () => x.rotate(0.5),
      () => x.rotateSum(3),
      () => x.polynomial([]),
      () => x.polynomial([1], { interval: [1, 1] }),
      () => x.linearTransform([[1, 2], [3]]),
      () => x.linearTransform([[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
      () => x.linearTransform({ slots: 2, diagonals: new Map([[0, [1]]]) }),
      () => x.linearTransform({ slots: 0.5, diagonals: new Map() }),
      () => x.linearTransform({ slots: 2, diagonals: new Map([[0.5, [1, 1]]]) }),
      () => x.linearTransform({ slots: 2, diagonals: new Map([[1, [1, 1]], [-1, [1, 1]]]) }),
      () => x.polynomial([1], { interval: [-Infinity, 0] }),
      () => p.input('other').named('x'),
      () => x.mod(0),
      () => x.mod(1, { bits: 53 }),
      () => x.intMod(1),
      () => x.intMod(2.5),
      () => x.bit(3, 3),
      () => x.lookUp([1]),
      () => x.quantise(1),
      () => x.argmax(1),
      () => x.rank(17),
      () => x.top(4, 5),
      () => x.sign(0),
      () => x.argmin(4, { bounds: { grid: 0 } }),
    ];
    for (const [i, refusal] of refusals.entries()) {
      expect(refusal, String(i)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error);
    }
  });

  it('takes results apart, and says when they are none', () => {
    const frame = (payload: number): Uint8Array => {
      const bytes = new Uint8Array(64 + payload + 32);
      new DataView(bytes.buffer).setBigUint64(48, BigInt(payload), true);
      return bytes;
    };
    const both = new Uint8Array([...frame(3), ...frame(5)]);
    expect(outputsOf(['a', 'b'], both).map(([name, bytes]) => [name, bytes.length])).toEqual([['a', 99], ['b', 101]]);
    for (const bytes of [both.slice(1), both.slice(0, 150), new Uint8Array()]) {
      expect(() => outputsOf(['a', 'b'], bytes)).toThrow(expect.objectContaining({ code: 'SERVER' }) as Error);
    }
    const body = programBody(new Uint8Array([7, 8]), 'where-needed', [new Uint8Array([9])]);
    expect([...body]).toEqual([1, 2, 0, 0, 0, 7, 8, 9]);
  });
});

describe.skipIf(SERVER_BINARY === undefined)('with the native server', () => {
  it('runs a program with the bootstraps it needs', async () => {
    const rf = await Refloat.load();
    const real = await realServer();
    try {
      const server = rf.server(real.url);
      using keys = await rf.keygen('toy-conventional10-sparse', { allowInsecure: true });
      await server.uploadKeys(keys);
      const p = new Program(keys.params);
      const mean = p.input('x').mul(1 / 64).rotateSum(64);
      p.output('mean', mean);
      p.output('y', mean.polynomial([0, 0.5, 0, 0.5]).named('cube').mul(mean));
      const values = Array.from({ length: 64 }, (_, i) => (i % 9) / 9);
      using x = await keys.encrypt(values, { level: keys.params.inputLevel + 1 });
      const refused = server.run(p, { x }, { bootstraps: 'as-written' });
      await expect(refused).rejects.toMatchObject({
        code: 'LEVEL_MISMATCH',
        message: expect.stringContaining('"cube" (polynomial)') as unknown,
      });
      const run = server.run(p, { x }, { keys });
      const out = await run;
      const stages = run.events.filter((e) => e.kind === 'exit').map((e) => e.stage);
      rising(run.events);
      const expected = values.reduce((sum, v) => sum + v, 0) / 64;
      expect(stages).toEqual(['arithmetic', ...keys.params.stages.map((s) => s.id), 'arithmetic']);
      expect((await keys.decrypt(out['mean'] as never))[5]).toBeCloseTo(expected, 5);
      expect((await keys.decrypt(out['y'] as never))[5]).toBeCloseTo((expected + expected ** 3) * 0.5 * expected, 3);
      expect(() => server.run(p, {})).toThrow('input "x"');
      const inherited = new Program(keys.params);
      inherited.output('y', inherited.input('toString'));
      expect(() => server.run(inherited, { x })).toThrow('input "toString"');
    } finally {
      rf.close();
      await real.close();
    }
  });
});
