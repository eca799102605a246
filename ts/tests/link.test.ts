// The order of slots: in the page on a module of its own, with the same bytes as natively, and on the native server.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program, Refloat, type BootstrapKeys, type KeySet, type StageEvent, type StageView } from 'refloat';
import { SERVER_BINARY, realServer, type RealServer } from './support/real-server.js';
import { PATIENT } from './support/beside.js';
import { TOY, digest, seed, vectors } from './support/vectors.js';

const BACK = ['to_slots', 'mod_raise', 'eval_mod'];
const GRID = { bounds: { grid: 4 } } as const;

const exits = (events: readonly StageEvent[]): string[] => events.filter((e) => e.kind === 'exit').map((e) => e.stage);
/** The first `count` slots; all others are 0. */
async function answer(keys: KeySet, ct: Parameters<KeySet['decrypt']>[0], count: number): Promise<number[]> {
  const slots = [...(await keys.decrypt(ct))];
  expect(Math.max(...slots.slice(count).map(Math.abs))).toBeLessThan(1e-2);
  for (const x of slots) expect(Math.abs(x - Math.round(x))).toBeLessThan(2e-2);
  return slots.slice(0, count).map((x) => Math.round(x) + 0);
}

describe.each(vectors.link)('$name in wasm', (set) => {
  it('gives the same bytes as natively', async () => {
    const rf = await Refloat.load({ worker: false });
    using keys = await rf.importKeys(Buffer.from(set.secret, 'hex'), TOY);
    expect(keys.params).toMatchObject({ name: set.name, fingerprint: set.fingerprint, method: 'scheme-switching', scheme: 'ckks' });
    expect(keys.id).toBe(set.keyId);
    for (const [index, expected] of set.parts) expect(digest(await keys.keyPart(index)), `part ${index}`).toBe(expected);
    using seeded = await rf.keygen(set.name, { ...TOY, seed: seed(vectors.keySeed) });
    expect(seeded.id).toBe(set.keyId);
    const numbers = Array.from({ length: 5 }, (_, i) => ((37 * i) % 16) / 16);
    using x = await keys.encrypt(numbers, { seed: seed(vectors.encryptionSeed) });
    expect(digest(await x.toBytes())).toBe(set.fresh);
    const boot = await seeded.bootstrapKeys();
    using largest = await boot.argmax(x, 3, { bounds: 'unit' });
    expect(digest(await largest.toBytes())).toBe(set.argmax);
  });
});

describe('the order of slots', () => {
  let rf: Refloat;
  let keys: KeySet;
  let boot: BootstrapKeys;
  beforeAll(async () => {
    rf = await Refloat.load({ threads: 1 });
    keys = await rf.keygen('toy-link', TOY);
    boot = await keys.bootstrapKeys();
  });
  afterAll(() => rf.close());

  it('is of sets that are listed once their module is loaded', async () => {
    using other = await Refloat.load({ threads: 1, worker: false });
    const sets = await other.loadPresets('scheme-switching');
    expect(sets.map((set) => set.name)).toEqual(['n15+fbs16-50', 'n16+fbs16-50', 'toy-link']);
    expect(sets[0]).toMatchObject({ secure: true, slots: 16384, scheme: 'ckks' });
    await expect(other.keygen('toy-link')).rejects.toMatchObject({ code: 'INSECURE', message: expect.stringContaining('n15+fbs16-50') as unknown });
    await expect(other.keygen('n15+fbs16-50', { seed: seed(1) })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    using nowhere = await Refloat.load({ linkWasm: new Uint8Array(8), threads: 1 });
    await expect(nowhere.keygen('toy-link', TOY)).rejects.toMatchObject({ code: 'BAD_BYTES', message: expect.stringContaining('{ linkWasm }') as unknown });
  });

  it('is answered in the page, for real numbers and on a grid with ties', async () => {
    using real = await keys.encrypt([0.25, -0.75, 0.5]);
    for (const [question, wanted] of [
      [() => boot.argmax(real, 3), [0, 0, 1]],
      [() => boot.argmin(real, 3), [0, 1, 0]],
      [() => boot.rank(real, 3), [1, 0, 2]],
      [() => boot.sign(real, 3), [1, 0, 1]],
    ] as const) {
      using found = await question();
      expect(await answer(keys, found, 3)).toEqual(wanted);
    }
    for (const ask of [() => boot.argmax(real, 3, { by: 'digits' }), () => boot.sign(real, 3, { by: 'digits' })]) {
      await expect(ask()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('by digits, where gates compare') as unknown });
    }
    using tied = await keys.encrypt([0.25, 0.875, 0.5, 0.875, 0]);
    using top = await boot.top(tied, 5, 2, GRID);
    expect(await answer(keys, top, 5)).toEqual([0, 1, 0, 1, 0]);
    using ranks = await boot.rank(tied, 5, GRID);
    expect(await answer(keys, ranks, 5)).toEqual([1, 4, 2, 3, 0]);
    // The answer has levels left: it can mask the numbers.
    expect(top.level).toBeGreaterThan(0);
  });

  it('is shown to the owner of the key: phases, ranks, bits, slots', async () => {
    const numbers = [0.2, 0.9, 0.5, 0.1];
    using x = await keys.encrypt(numbers);
    const run = boot.argmax(x, 4, { bounds: 'unit', inspect: keys });
    using winner = await run;
    expect(await answer(keys, winner, 4)).toEqual([0, 1, 0, 0]);
    expect(exits(run.events)).toEqual(['slots_to_coeffs', 'to_gates', 'compare', 'look_up', ...BACK]);
    const counted = run.events.filter((e) => e.kind === 'progress').map((e) => [e.stage, e.total]);
    expect(counted).toContainEqual(['compare', 6]);
    expect(counted).toContainEqual(['look_up', 4]);
    const views = run.events.filter((e): e is StageView => e.kind === 'view');
    expect(views.map((view) => view.stage)).toEqual(['slots_to_coeffs', 'to_gates', 'compare', 'look_up', 'eval_mod']);
    const [, phases, ranks, bits] = views as [StageView, StageView, StageView, StageView];
    expect(phases.view).toBe('phases');
    // 14/32 of a turn stands for 1.
    expect(phases.unit).toBe(14 / 32);
    numbers.forEach((x, i) => expect(Math.abs((phases.data[i] ?? NaN) - phases.unit * x)).toBeLessThan(2e-5));
    expect(phases.maxError).toBeGreaterThan(0);
    const reals = (data: Float64Array): number[] => [...data].filter((_, i) => i % 2 === 0);
    expect(reals(ranks.data)).toEqual([1, 3, 2, 0]);
    expect(reals(bits.data)).toEqual([0, 1, 0, 0]);
    expect([ranks.maxError, bits.maxError]).toEqual([0, 0]);
  });

  it('takes equal numbers of a grid as equal where the owner looks', async () => {
    using x = await keys.encrypt([0.25, 0.875, 0.5, 0.875, 0]);
    const run = boot.rank(x, 5, { ...GRID, inspect: keys });
    (await run).free();
    const views = run.events.filter((e): e is StageView => e.kind === 'view');
    expect(views.length).toBeGreaterThan(3);
    for (const view of views) expect(view.maxError, view.stage).toBeLessThan(0.1);
    // Three bits of each rank come back one after the other.
    const back = run.events.filter((e) => e.kind === 'exit' && e.stage === 'eval_mod').map((e) => ('fraction' in e ? e.fraction : NaN));
    expect(back).toHaveLength(3);
    expect(back[0]).toBeCloseTo(7 / 15);
  });

  it('is cancelled between two steps', async () => {
    using x = await keys.encrypt([0.2, 0.9]);
    const run = boot.argmax(x, 2);
    const reading = (async () => {
      for await (const e of run) if (e.kind === 'exit' && e.stage === 'to_gates') run.cancel();
    })();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    await reading.catch(() => undefined);
    // The step under way may have ended, but none after it.
    expect(exits(run.events)).toContain('to_gates');
    expect(exits(run.events)).not.toContain('eval_mod');
  });

  it('refuses what it cannot answer before anything is computed', async () => {
    using x = await keys.encrypt([0.5]);
    const refused = async (act: () => PromiseLike<unknown>, message: string): Promise<void> => {
      const failed = (async () => act())();
      await expect(failed).rejects.toMatchObject({ message: expect.stringContaining(message) as unknown });
    };
    await refused(() => boot.argmax(x, 17), '17 numbers');
    await refused(() => boot.argmax(x, 1), '1 slots to compare');
    await refused(() => boot.top(x, 3, 4), '4 of the largest');
    await refused(() => boot.rank(x, 3, { bounds: { grid: 11 } }), '11 bits');
    await refused(() => boot.mod(x, 1), 'reads no digits');
    using other = await rf.keygen('toy10', TOY);
    using digits = await other.bootstrapKeys();
    using y = await other.encrypt([0.5]);
    await refused(() => digits.argmax(y, 2), 'toy10 compares no slots');
    await refused(() => boot.argmax(y, 2), 'encrypted under key');
  });

  describe.skipIf(SERVER_BINARY === undefined)('on the native server', () => {
    let real: RealServer;
    beforeAll(async () => {
      real = await realServer();
    });
    afterAll(() => real.close());

    it('is the same bytes as in the page, by a method of the keys and in a program', async () => {
      const server = rf.server(real.url, PATIENT);
      const remote = await server.uploadKeys(keys);
      using x = await keys.encrypt([0.25, 0.875, 0.5, 0.875, 0]);
      for (const question of ['argmax', 'argmin', 'rank'] as const) {
        const job = remote[question](x, 5, GRID);
        using there = await job;
        using here = await boot[question](x, 5, GRID);
        expect(await there.toBytes(), question).toEqual(await here.toBytes());
        expect(job.events.some((e) => e.kind === 'exit' && e.stage === 'compare')).toBe(true);
      }
      using top = await remote.top(x, 5, 2, GRID);
      using topHere = await boot.top(x, 5, 2, GRID);
      expect(await top.toBytes()).toEqual(await topHere.toBytes());
      expect(await answer(keys, top, 5)).toEqual([0, 1, 0, 1, 0]);
      using shifted = await keys.encrypt([0.25, -0.5]);
      using signs = await remote.sign(shifted, 2);
      using signsHere = await boot.sign(shifted, 2);
      expect(await signs.toBytes()).toEqual(await signsHere.toBytes());
      expect(await answer(keys, signs, 2)).toEqual([1, 0]);
      // The largest number itself: the mask times the numbers.
      const program = new Program(keys.params);
      const value = program.input('x');
      program.output('largest', value.argmax(5, GRID).mul(value));
      const { largest } = await server.run(program, { x });
      expect([...(await keys.decrypt(largest as NonNullable<typeof largest>))].slice(0, 5).map((v) => Math.round(v * 1000) / 1000 + 0)).toEqual([0, 0.875, 0, 0, 0]);
      largest?.free();
      const known = await server.keys(keys);
      await expect(known?.argmax(x, 17)).rejects.toMatchObject({ message: expect.stringContaining('17') as unknown });
      using other = await rf.keygen('toy-link', TOY);
      using foreign = await other.encrypt([0.5]);
      expect(() => remote.argmax(foreign, 2)).toThrow(/encrypted under key/);
    });
  });
});
