// Programs in the page: the numbers of the computation in the clear, the bytes of the native server, and what is refused.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program, Refloat, type Ciphertext, type IntegerCiphertext, type KeySet, type Value } from 'refloat';
import { SERVER_BINARY, realServer, type RealServer } from './support/real-server.js';
import { PATIENT } from './support/beside.js';

let rf: Refloat;
beforeAll(async () => {
  rf = await Refloat.load({ threads: 1 });
});
afterAll(() => rf.close());

/** A program of one input and its outputs. */
function program(keys: { readonly params: { readonly slots: number } }, body: (x: Value) => Record<string, Value>): Program {
  const p = new Program(keys.params);
  for (const [name, value] of Object.entries(body(p.input('x')))) p.output(name, value);
  return p;
}

const named = (out: Record<string, Ciphertext>, name: string): Ciphertext => out[name] ?? expect.unreachable(`no output ${name}`);
const toy = (name: string): Promise<KeySet> => rf.keygen(name, { allowInsecure: true });

describe('a program on numbers in the page', () => {
  it('is planned, bootstrapped where levels run out, and reports as it goes', async () => {
    using keys = await toy('toy-conventional10-sparse');
    using boot = await keys.bootstrapKeys();
    const p = new Program(keys.params);
    const [x, y] = [p.input('x'), p.input('y')];
    const deep = x.mul(y).rotate(1).polynomial([0, 0.5, 0, 0.25]).mul([0.5]);
    p.output('product', x.mul(y));
    p.output('deep', deep.mul(deep));
    p.output('again', deep.mul(deep));
    const numbers = Array.from({ length: keys.params.slots }, (_, i) => Math.cos(i));
    using encrypted = await keys.encrypt(numbers, { level: 2 });
    const run = boot.run(p, { x: encrypted, y: encrypted });
    const out = await run;
    expect(Object.keys(out)).toEqual(p.outputs);
    const product = await keys.decrypt(named(out, 'product'));
    numbers.forEach((number, i) => expect(product[i], `slot ${i}`).toBeCloseTo(number * number, 2));
    const found = await keys.decrypt(named(out, 'deep'));
    const turned = (numbers[1] ?? 0) ** 2;
    expect(found[0]).toBeCloseTo((0.5 * (0.5 * turned + 0.25 * turned ** 3)) ** 2, 2);
    expect(found[1]).toBeCloseTo(0, 2);
    const fractions = run.events.map((event) => event.fraction ?? NaN);
    fractions.forEach((fraction, i) => expect(fraction).toBeGreaterThanOrEqual(fractions[i - 1] ?? 0));
    expect([fractions.at(-1), run.events.at(-1)?.kind]).toEqual([1, 'exit']);
    const bootstraps = run.events.filter((event) => event.kind === 'exit' && event.stage === 'mod_raise').length;
    expect(bootstraps).toBeGreaterThan(0);
    expect(run.events.some((event) => event.kind === 'progress' && event.stage === 'arithmetic' && event.done > 0)).toBe(true);
  });

  it('runs on SHIP, with the bits of its operations', async () => {
    using keys = await toy('toy10');
    using boot = await keys.bootstrapKeys();
    using x = await keys.encrypt([0.5, -0.25, 1]);
    using square = await rf.square(x, boot);
    using wanted = await keys.bootstrap(square, boot);
    const out = await boot.run(program(keys, (x) => ({ y: x.mul(x).bootstrap() })), { x }, { bootstraps: 'as-written' });
    expect(await named(out, 'y').toBytes()).toEqual(await wanted.toBytes());
    await expect(boot.run(program(keys, (x) => ({ y: x.rotate(1) })), { x })).rejects.toMatchObject({ code: 'MISSING_KEY' });
    // Keys that are made again for each bootstrap.
    using made = await keys.bootstrapKeys({ resident: false });
    const again = await made.run(program(keys, (x) => ({ y: x.mul(x).bootstrap() })), { x });
    expect(await named(again, 'y').toBytes()).toEqual(await wanted.toBytes());
  });

  it('runs without bootstraps with keys for arithmetic', async () => {
    using keys = await toy('toy-conventional11');
    using arithmetic = await keys.arithmeticKeys({ rotations: [1] });
    using x = await keys.encrypt([0.5, -0.25, 1]);
    const out = await arithmetic.run(program(keys, (x) => ({ y: x.mul(x).rotate(2) })), { x });
    expect((await keys.decrypt(named(out, 'y')))[0]).toBeCloseTo(1, 3);
    const refused = async (code: string, body: (x: Value) => Value): Promise<string> => {
      const refusal: unknown = await arithmetic.run(program(keys, (x) => ({ y: body(x) })), { x }).then(() => undefined, (error: unknown) => error);
      expect(refusal).toMatchObject({ code });
      return (refusal as Error).message;
    };
    expect(await refused('MISSING_KEY', (x) => x.bootstrap())).toMatch(/no bootstrapping keys here; run it with the keys of bootstrapKeys\(\), or on a server/);
    expect(await refused('LEVEL_MISMATCH', (x) => Array.from({ length: 20 }).reduce<Value>((y) => y.mul(y), x))).toMatch(
      /at level 0; these keys have no bootstraps: .*, or run it with the keys of bootstrapKeys\(\), or on a server that has them$/,
    );
    expect(await refused('MISSING_KEY', (x) => x.conjugate())).toMatch(/; make it with arithmeticKeys\(\{ conjugation: true \}\)$/);
    await expect(arithmetic.conjugate(x)).rejects.toThrow(/no key for conjugation .*; make it with arithmeticKeys\(\{ conjugation: true \}\)$/);
    using none = await keys.arithmeticKeys({ rotations: [] });
    await expect(none.rotate(x, 1)).rejects.toThrow(/; arithmeticKeys\(\) makes keys for all powers of two, and arithmeticKeys\(\{ rotations: \[1\] \}\) one for/);
  });

  it('is paused, stepped and cancelled', async () => {
    using keys = await toy('toy-conventional10-sparse');
    using boot = await keys.bootstrapKeys();
    using x = await keys.encrypt([0.5]);
    const p = program(keys, (x) => ({ y: x.mul(x).bootstrap() }));
    const run = boot.run(p, { x });
    run.pause();
    await run.step();
    await run.step();
    const seen = run.events.length;
    expect(run.state).toBe('paused');
    for (let step = 0; step < 8 && run.events.length === seen; step++) await run.step();
    expect(run.events.length).toBeGreaterThan(seen);
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    await run.catch(() => undefined);
    const before = (await rf.memory()).objects;
    const stop = new AbortController();
    const other = boot.run(p, { x }, { signal: stop.signal });
    for await (const event of other) {
      if (event.kind === 'enter' && event.stage !== 'arithmetic') break;
    }
    stop.abort(new Error('enough'));
    await expect(other).rejects.toThrow('enough');
    await expect.poll(async () => (await rf.memory()).objects).toBe(before);
    // The keys still work.
    await boot.run(p, { x });
  });

  it('leaves nothing behind when it is cancelled and its inputs are freed at once', async () => {
    using keys = await toy('toy-conventional10-sparse');
    using boot = await keys.bootstrapKeys();
    const p = new Program(keys.params);
    p.output('z', p.input('x').add(p.input('y')));
    const before = (await rf.memory()).objects;
    for (let turns = 0; turns < 6; turns++) {
      using x = await keys.encrypt([0.5]);
      using y = await keys.encrypt([0.25]);
      const run = boot.run(p, { x, y });
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      run.cancel();
      await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    }
    await expect.poll(async () => (await rf.memory()).objects).toBe(before);
  });

  it('keeps imaginary parts, whichever input has them', async () => {
    using keys = await toy('toy-conventional10-sparse');
    using boot = await keys.bootstrapKeys();
    using x = await keys.encrypt([0.5]);
    using y = await keys.encrypt([0.25, 0.125], { mode: 'complex' });
    const p = new Program(keys.params);
    p.output('z', p.input('x').add(p.input('y')));
    for (const inputs of [{ x, y }, { x: y, y: x }]) {
      const { z } = await boot.run(p, inputs);
      expect(z?.mode).toBe('complex');
    }
  });

  it('refuses what does not fit, by name', async () => {
    using keys = await toy('toy-conventional10-sparse');
    using other = await toy('toy-conventional10-sparse');
    using boot = await keys.bootstrapKeys();
    using x = await keys.encrypt([0.5]);
    using foreign = await other.encrypt([0.5]);
    const p = program(keys, (x) => ({ y: x.mul(x) }));
    expect(() => boot.run(p, {})).toThrow(/^the program has an input "x", and run\(\) got none; pass a ciphertext for it, \{ x: ciphertext \}$/);
    expect(() => boot.run(p, { X: x })).toThrow(/and run\(\) got "X"; pass a ciphertext for it, \{ x: ciphertext \}$/);
    // @ts-expect-error -- inputs have names
    expect(() => boot.run(p, x)).toThrow(/and run\(\) got a ciphertext; pass a ciphertext for it, \{ x: ciphertext \}$/);
    // @ts-expect-error -- a ciphertext is not known when a program is written
    expect(() => program(keys, (v) => ({ y: v.mul(x) }))).toThrow(/values, and got a ciphertext; make it an input, const y = program\.input\('y'\), and pass \{ y: ciphertext \} to run\(\)$/);
    expect(() => boot.run(p, { x: foreign })).toThrow(/use what belongs to one key set/);
    // @ts-expect-error -- the bytes of a program are for servers
    expect(() => boot.run(p.toBytes(), { x })).toThrow(/takes a Program/);
    expect(() => boot.run(p, { x, y: x })).toThrow(/no input "y"/);
    // @ts-expect-error -- a program has inputs
    expect(() => boot.run(p)).toThrow(/an object with a ciphertext for each input/);
    // @ts-expect-error -- there is no such choice
    expect(() => boot.run(p, { x }, { bootstraps: 'as_written' })).toThrow(/'as-written'/);
    using low = await keys.encrypt([0.5], { level: 0 });
    await boot.run(p, { x: low });
    await expect(boot.run(p, { x: low }, { bootstraps: 'as-written' })).rejects.toMatchObject({ code: 'LEVEL_MISMATCH' });
    const digits = program(keys, (x) => ({ y: x.mod(0.5) }));
    await expect(boot.run(digits, { x })).rejects.toThrow(/node 1 .*modular reduction/);
  });
});

describe('a program on integers in the page', () => {
  it('is exact, whatever it takes', async () => {
    using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    using evaluation = await keys.evaluationKeys();
    const p = new Program(keys.params);
    const [x, y] = [p.input('x'), p.input('y')];
    let z = x.mul(y);
    for (let step = 0; step < 6; step++) z = z.mul(z).add(x);
    p.output('z', z);
    using a = await keys.encrypt([2, 3]);
    using b = await keys.encrypt([5, 7]);
    const run = evaluation.run(p, { x: a, y: b });
    const { z: found } = await run;
    const clear = (x: number, y: number): number => {
      let z = BigInt(x * y);
      for (let step = 0; step < 6; step++) z = (z * z + BigInt(x)) % 65537n;
      return Number(z);
    };
    expect([...(await keys.decrypt(found as IntegerCiphertext)).slice(0, 3)]).toEqual([clear(2, 5), clear(3, 7), 0]);
    expect(run.events.some((event) => event.kind === 'exit' && event.stage === 'digit_removal')).toBe(true);
    expect(run.events.at(-1)).toMatchObject({ fraction: 1 });
    await expect(evaluation.run(program(keys, (x) => ({ y: x.mul(0.5) })), { x: a })).rejects.toThrow(/node/);
    expect(() => evaluation.run(p, { x: a })).toThrow(/an input "y", and run\(\) got "x"; .*\{ y: ciphertext \}$/);
  });
});

describe.skipIf(SERVER_BINARY === undefined)('a program in the page and on the native server', () => {
  let real: RealServer;
  beforeAll(async () => {
    real = await realServer();
  });
  afterAll(async () => real.close());

  const told = (events: readonly { readonly kind: string }[]): unknown[] =>
    events.map((event) => ({ ...event, atMs: undefined, fraction: undefined }));

  it.each([
    ['toy-conventional10-sparse', (x: Value): Record<string, Value> => ({ y: x.mul(x).rotate(3).polynomial([0, 0.5, 0, 0.25]).mul(x), z: x.conjugate() })],
    ['toy-msb10', (x: Value): Record<string, Value> => ({ y: x.mod(0.5).add(x.bit(3, 1)), z: x.mul(0.25).bootstrap() })],
    ['toy-link', (x: Value): Record<string, Value> => ({ y: x.argmax(3, { bounds: 'unit' }), z: x.mul(x).bootstrap() })],
  ])('gives the same bytes and events: %s', async (name, body) => {
    const server = rf.server(real.url, PATIENT);
    using keys = await toy(name);
    using boot = await keys.bootstrapKeys();
    await server.uploadKeys(keys);
    using x = await keys.encrypt([0.25, 0.875, 0.5]);
    const p = program(keys, body);
    const [here, there] = [boot.run(p, { x }), server.run(p, { x })];
    const [mine, theirs] = [await here, await there];
    expect(Object.keys(mine)).toEqual(Object.keys(theirs));
    for (const output of p.outputs) expect(await named(mine, output).toBytes()).toEqual(await named(theirs, output).toBytes());
    expect(told(here.events)).toEqual(told(there.events));
  });

  it('gives the same bytes on integers', async () => {
    const server = rf.server(real.url, PATIENT);
    using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    using evaluation = await keys.evaluationKeys();
    await server.uploadKeys(keys);
    using x = await keys.encrypt([3, 1, 4]);
    const p = program(keys, (x) => ({ y: x.mul(x).rotate(1).polynomial([1, 2, 3]).bootstrap(), z: x.conjugate() }));
    const [here, there] = [evaluation.run(p, { x }), server.run(p, { x })];
    const [mine, theirs] = [await here, await there];
    for (const output of p.outputs) expect(await mine[output]?.toBytes()).toEqual(await theirs[output]?.toBytes());
    expect(told(here.events)).toEqual(told(there.events));
  });
});
