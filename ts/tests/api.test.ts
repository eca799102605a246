// The package as users see it, on the real wasm, in a worker thread.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refloat, RefloatError, type Ciphertext, type KeySet, type StageEvent } from 'refloat';
import { doesNotGrow } from './support/rounds.js';
import { stagesTold } from './support/stages.js';

const VALUES = Float64Array.from({ length: 512 }, (_, i) => Math.sin(i / 40));

function worst(found: ArrayLike<number>, wanted: ArrayLike<number>): number {
  return Math.max(...Array.from(wanted, (w, i) => Math.abs((found[i] as number) - w)));
}

/** Bits of precision of the worst slot. */
const bits = (found: ArrayLike<number>, wanted: ArrayLike<number>): number => -Math.log2(worst(found, wanted));

let rf: Refloat;
let keys: KeySet;
beforeAll(async () => {
  rf = await Refloat.load();
  keys = await rf.keygen('toy10', { allowInsecure: true });
});
afterAll(() => rf.close());

describe('loading', () => {
  it('is idempotent, also for calls at the same time', async () => {
    expect(await Refloat.load()).toBe(rf);
    const [a, b] = await Promise.all([Refloat.load({ worker: false }), Refloat.load({ worker: false })]);
    expect(a).toBe(b);
    // Matchers read every field of what they compare, and one of the fields says that there are no copies.
    expect(a === rf).toBe(false);
  });

  it('takes the wasm as bytes, module, URL or response', async () => {
    const url = new URL('../dist/wasm/refloat_full_bg.wasm', import.meta.url);
    const { readFile } = await import('node:fs/promises');
    const bytes = await readFile(url);
    const before = bytes.length;
    const sources = [
      bytes,
      new WebAssembly.Module(bytes),
      new Response(bytes, { headers: { 'content-type': 'application/wasm' } }),
      `data:application/wasm;base64,${bytes.toString('base64')}`,
    ];
    for (const wasm of sources) {
      using own = await Refloat.load({ wasm });
      expect(own.about().artefact).toBe('full');
    }
    expect(bytes.length).toBe(before); // copied, not taken away
  });

  it('can be tried again after a failure', async () => {
    const wasm = new Uint8Array([0, 97, 115, 109, 9, 9, 9, 9]);
    const first = Refloat.load({ wasm });
    await expect(first).rejects.toMatchObject({ code: 'BAD_BYTES', message: expect.stringMatching(/^what \{ wasm \} gives is not the wasm module .*refloat\/refloat_full\.wasm/) as unknown });
    const second = Refloat.load({ wasm });
    expect(second).not.toBe(first);
    await expect(second).rejects.toBeInstanceOf(RefloatError);
    await expect(Refloat.load({ wasm: 'http://127.0.0.1:9/refloat.wasm' })).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringContaining('pass { wasm }') as unknown,
    });
  });

  it('refuses the module of another entry, and what is not a worker', async () => {
    const client = await readFile(new URL('../dist/wasm/refloat_client_bg.wasm', import.meta.url));
    await expect(Refloat.load({ wasm: client })).rejects.toMatchObject({
      code: 'BAD_BYTES',
      repair: 'pass that of refloat/refloat_full.wasm, in this version of the package, or leave { wasm } out',
    });
    for (const [given, name] of [[{}, 'an object'], [undefined, 'undefined'], [Promise.resolve(), 'a promise: await it first']] as const) {
      await expect(Refloat.load({ worker: () => given as never })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(`the function passed as { worker } has to return a Worker of the web, and gave ${name}; return one`) as unknown,
      });
    }
  });

  it('gives a fresh instance after close()', async () => {
    const one = await Refloat.load({ wasm: undefined as never, worker: true });
    const held = await one.keygen('toy10', { allowInsecure: true });
    one.close();
    await expect(held.encrypt([1])).rejects.toMatchObject({ code: 'FREED', message: expect.stringMatching(/equal options share one/) as unknown });
    const two = await Refloat.load({ wasm: undefined as never, worker: true });
    expect(two === one).toBe(false);
    two.close();
  });
});

describe('about and parameter sets', () => {
  it('names version, kernels and artefact', () => {
    expect(rf.about()).toMatchObject({ version: '0.1.0', backend: 'simd128', artefact: 'full', target: 'wasm32' });
  });

  it('checks the vector kernels it runs on against the scalar ones', async () => {
    for (const seed of [1, 2]) expect(await rf.kernelSelfCheck(seed)).toMatch(/32-bit words: scalar, simd128 agree/);
  });

  it('lists the sets, toys marked as insecure', () => {
    const names = rf.presets().map((p) => p.name);
    expect(names).toEqual(expect.arrayContaining(['toy10', 'toy11', 'ship13', 'ship13-bits', 'ship13-he2018']));
    for (const p of rf.presets()) {
      expect(p.secure, p.name).toBe(!p.name.startsWith('toy'));
      expect(p.keyBytes, p.name).toBe(p.keyParts.reduce((sum, part) => sum + part.bytes, 0));
      expect(Math.max(...p.keyParts.map((part) => part.bytes)), p.name).toBeLessThanOrEqual(8 * 2 ** 20);
      expect(p.slots).toBe(2 ** (p.logN - 1));
      expect(p.stages.map((s) => s.id)).toEqual(['slots_to_coeffs', 'encapsulate', 'encode_phase', 'blind_rotate', 'product_tree', 'conjugate']);
      expect(p.fingerprint).toMatch(/^[0-9a-f]{32}$/);
    }
    expect(rf.params('ship13').securityBits).toBeGreaterThanOrEqual(128);
    expect(rf.params('ship13').logQP).toBeLessThanOrEqual(214);
    expect(rf.params('ship13').logQ0P).toBeLessThanOrEqual(40);
    expect(rf.params('ship13-he2018').securityBits).toBeLessThan(128);
  });

  it('says which names there are', () => {
    expect(() => rf.params('ship12')).toThrow(/no parameter set of numbers is called "ship12"; there are .*ship13.*rf.gates/);
  });
});

describe('keys', () => {
  it('refuses toys without the word', async () => {
    await expect(rf.keygen('toy10')).rejects.toMatchObject({
      code: 'INSECURE',
      message: expect.stringContaining('allowInsecure') as unknown,
    });
  });

  it('refuses seeds of one’s own for secure sets', async () => {
    await expect(rf.keygen('ship13', { seed: new Uint8Array(32) })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(
      rf.keygen('toy10', { allowInsecure: true, seed: new Uint8Array(31) }),
    ).rejects.toThrow(/32 bytes, and this one 31/);
  });

  it('draws different keys each time, and the same from a seed', async () => {
    using a = await rf.keygen('toy10', { allowInsecure: true });
    expect(a.id).not.toBe(keys.id);
    const seed = new Uint8Array(32).fill(7);
    using b = await rf.keygen('toy10', { allowInsecure: true, seed });
    using c = await rf.keygen('toy10', { allowInsecure: true, seed });
    expect(b.id).toBe(c.id);
    expect(await b.keyPart(0)).toEqual(await c.keyPart(0));
    expect(seed.every((x) => x === 7)).toBe(true);
  });

  it('goes out and comes back only by name', async () => {
    const secret = await keys.exportSecret();
    using ct = await keys.encrypt([0.5]);
    using again = await rf.importKeys(secret, { allowInsecure: true });
    expect(again.id).toBe(keys.id);
    expect((await again.decrypt(ct))[0]).toBeCloseTo(0.5, 3);
    await expect(rf.importKeys(secret)).rejects.toMatchObject({ code: 'INSECURE' });
    secret[70] = (secret[70] as number) ^ 1;
    await expect(rf.importKeys(secret, { allowInsecure: true })).rejects.toMatchObject({ code: 'BAD_BYTES' });
  });

  it('makes parts of the length the set promises', async () => {
    for (const part of keys.params.keyParts.slice(0, 4)) {
      expect((await keys.keyPart(part.index)).length).toBe(part.bytes);
    }
    await expect(keys.keyPart(10_000)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('encryption', () => {
  it('gives back what went in, padded with zeros', async () => {
    using ct = await keys.encrypt([0.5, -0.25, 1]);
    const out = await keys.decrypt(ct);
    expect(out).toHaveLength(512);
    expect(bits(out, [0.5, -0.25, 1, 0, 0, 0])).toBeGreaterThan(12);
    expect(ct.level).toBe(keys.params.outputLevel);
    expect(ct.keyId).toBe(keys.id);
    expect(ct.byteLength).toBe(keys.params.ciphertextBytes[ct.level]);
  });

  it('leaves the input alone and hands out an array of the caller’s own', async () => {
    const input = Float64Array.from(VALUES);
    using ct = await keys.encrypt(input);
    expect(input).toEqual(VALUES);
    const a = await keys.decrypt(ct);
    const b = await keys.decrypt(ct);
    a.fill(9);
    expect(b[0]).not.toBe(9);
    structuredClone(a, { transfer: [a.buffer] });
    expect((await keys.decrypt(ct))[1]).toBeCloseTo(VALUES[1] as number, 3);
  });

  it('packs complex numbers', async () => {
    const z = Float64Array.from({ length: 1024 }, (_, i) => Math.cos(i) / 2);
    using ct = await keys.encrypt(z, { mode: 'complex' });
    expect(ct.mode).toBe('complex');
    expect(bits(await keys.decrypt(ct), z)).toBeGreaterThan(12);
  });

  it('refuses what does not fit, saying what does', async () => {
    await expect(keys.encrypt(new Float64Array(513))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(keys.encrypt([2])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(keys.encrypt([Number.NaN])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(keys.encrypt([0], { level: 5 })).rejects.toMatchObject({ code: 'LEVEL_MISMATCH' });
  });

  it('stops before it starts when the signal is aborted', async () => {
    const signal = AbortSignal.abort(new Error('not now'));
    await expect(keys.encrypt([1], { signal })).rejects.toThrow('not now');
    await expect(rf.keygen('ship13', { signal })).rejects.toThrow('not now');
  });
});

describe('wire form', () => {
  it('round-trips', async () => {
    using ct = await keys.encrypt(VALUES);
    const bytes = await ct.toBytes();
    expect(bytes.length).toBe(ct.byteLength);
    using back = await rf.ciphertextFromBytes(bytes);
    expect(back).toMatchObject({ preset: 'toy10', level: ct.level, logScale: ct.logScale, keyId: keys.id });
    expect(bits(await keys.decrypt(back), VALUES)).toBeGreaterThan(12);
    expect(await back.toBytes()).toEqual(bytes);
  });

  it('refuses damaged, cut, extended and foreign bytes', async () => {
    using ct = await keys.encrypt([1]);
    const bytes = await ct.toBytes();
    const flipped = bytes.slice();
    flipped[100] = (flipped[100] as number) ^ 4;
    for (const bad of [flipped, bytes.slice(0, -1), bytes.slice(0, 10), new Uint8Array(0), new Uint8Array(5000)]) {
      await expect(rf.ciphertextFromBytes(bad)).rejects.toMatchObject({ code: 'BAD_BYTES' });
    }
    const longer = new Uint8Array(bytes.length + 1);
    longer.set(bytes);
    await expect(rf.ciphertextFromBytes(longer)).rejects.toMatchObject({ code: 'BAD_BYTES' });
    await expect(rf.ciphertextFromBytes(await keys.keyPart(0))).rejects.toBeInstanceOf(RefloatError);
  });
});

describe('exhausting', () => {
  it('spends the levels and keeps the message', async () => {
    using ct = await keys.encrypt(VALUES);
    using spent = await rf.exhaust(ct);
    expect(spent.level).toBe(keys.params.inputLevel);
    expect(bits(await keys.decrypt(spent), VALUES)).toBeGreaterThan(12);
  });
});

describe('mixing', () => {
  it('refuses another key, another set and another instance', async () => {
    using other = await rf.keygen('toy10', { allowInsecure: true });
    using larger = await rf.keygen('toy11', { allowInsecure: true });
    using ct = await keys.encrypt([1]);
    await expect(other.decrypt(ct)).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
    await expect(larger.decrypt(ct)).rejects.toThrow(/set toy10.*use what belongs to one key set/);
    const direct = await Refloat.load({ worker: false });
    using there = await direct.importKeys(await keys.exportSecret(), { allowInsecure: true });
    await expect(there.decrypt(ct)).rejects.toThrow(/another instance of Refloat/);
  });
});

describe('use after free', () => {
  it('throws FREED for everything', async () => {
    const own = await rf.keygen('toy10', { allowInsecure: true });
    const ct = await own.encrypt([1]);
    ct.free();
    ct.free();
    expect(ct.isFreed).toBe(true);
    await expect(ct.toBytes()).rejects.toMatchObject({ code: 'FREED' });
    await expect(own.decrypt(ct)).rejects.toMatchObject({ code: 'FREED' });
    own.free();
    await expect(own.encrypt([1])).rejects.toMatchObject({ code: 'FREED' });
    await expect(own.exportSecret()).rejects.toMatchObject({ code: 'FREED' });
    expect(() => own.bootstrapKeys()).toThrow(/free\(\) was called on the key set/);
  });

  it('frees at the end of a block', async () => {
    let kept: Ciphertext;
    {
      using ct = await keys.encrypt([1]);
      kept = ct;
    }
    await expect(kept.toBytes()).rejects.toMatchObject({ code: 'FREED' });
  });

  it('does not grow over many rounds', async () => {
    await doesNotGrow(rf, keys, VALUES);
  });
});

describe('bootstrapping in the page', () => {
  it('refreshes, reports every stage in order, and leaves a level to compute with', async () => {
    using ct = await keys.encrypt(VALUES, { level: keys.params.inputLevel });
    const making = keys.bootstrapKeys();
    using boot = await making;
    expect(making.events).toHaveLength(keys.params.keyParts.length);
    expect(making.events.at(-1)).toMatchObject({ done: making.events.length, bytes: keys.params.keyBytes });

    const run = keys.bootstrap(ct, boot);
    using fresh = await run;
    expect(fresh.level).toBe(keys.params.outputLevel);
    expect(bits(await keys.decrypt(fresh), VALUES)).toBeGreaterThan(keys.params.promisedBits);
    checkEvents(run.events, keys);

    using squared = await rf.square(fresh, boot);
    expect(squared.level).toBe(keys.params.inputLevel);
    using again = await keys.bootstrap(squared, boot);
    expect(bits(await keys.decrypt(again), VALUES.map((x) => x * x))).toBeGreaterThan(8);
    await expect(rf.square(squared, boot)).rejects.toMatchObject({ code: 'LEVEL_MISMATCH' });
  });

  it('tells of a stage when it begins, not when it is over', async () => {
    using ct = await keys.encrypt(VALUES, { level: 1 });
    for (const resident of [true, false]) {
      using boot = await keys.bootstrapKeys({ resident });
      const run = keys.bootstrap(ct, boot);
      expect(await stagesTold(run)).toEqual(keys.params.stages.map(({ id }) => id));
      (await run).free();
    }
  });

  it('takes complex slots, two halves under the same keys', async () => {
    const z = Float64Array.from({ length: 1024 }, (_, i) => Math.sin(i * i) / 2);
    using boot = await keys.bootstrapKeys();
    using ct = await keys.encrypt(z, { mode: 'complex', level: 1 });
    using fresh = await keys.bootstrap(ct, boot);
    expect(fresh.mode).toBe('complex');
    expect(bits(await keys.decrypt(fresh), z)).toBeGreaterThan(9);
  });

  it('works with keys made track by track', async () => {
    using small = await keys.bootstrapKeys({ resident: false });
    using all = await keys.bootstrapKeys();
    expect(small.memoryBytes).toBeLessThan(all.memoryBytes / 4);
    using ct = await keys.encrypt(VALUES, { level: 1 });
    using a = await keys.bootstrap(ct, small);
    using b = await keys.bootstrap(ct, all);
    expect(await a.toBytes()).toEqual(await b.toBytes());
  });

  it('shows what the ciphertexts hold, and how exact they are', async () => {
    using boot = await keys.bootstrapKeys({ resident: false });
    using ct = await keys.encrypt(VALUES, { level: 1 });
    const run = keys.bootstrap(ct, boot, { inspect: { message: VALUES } });
    using fresh = await run;
    const views = run.events.filter((e) => e.kind === 'view');
    expect(views.map((v) => v.view)).toContain('phases');
    expect(views.filter((v) => v.stage === 'blind_rotate').map((v) => v.track)).toEqual(
      Array.from({ length: keys.params.tracks }, (_, i) => i),
    );
    expect(views.filter((v) => v.stage === 'product_tree').map((v) => v.levelOfTree)).toEqual([1, 2, 3, 4]);
    for (const view of views) {
      const width = view.view === 'slots' ? 2 : 1;
      expect(view.data).toHaveLength(width * view.indices.length);
      expect(view.expected).toHaveLength(view.data.length);
      expect(view.indices.length).toBeLessThanOrEqual(1024);
      expect(worst(view.data, view.expected)).toBeLessThanOrEqual(view.maxError + 1e-12);
      expect(view.rmsError).toBeLessThanOrEqual(view.maxError);
      expect(view.bitsMax).toBeGreaterThan(9);
    }
    const last = views.at(-1);
    expect(last?.stage).toBe('conjugate');
    // The view is the decryption, and its error is the error against the message.
    const shown = Array.from(last?.indices ?? [], (_, i) => last?.data[2 * i] as number);
    const plain = await keys.decrypt(fresh);
    expect(worst(shown, Array.from(last?.indices ?? [], (i) => plain[i] as number))).toBeLessThan(1e-9);
    expect(bits(plain, VALUES)).toBeGreaterThan(keys.params.promisedBits);
  });

  it('stops in the middle, by signal or by hand, and can be started again', async () => {
    using boot = await keys.bootstrapKeys();
    using ct = await keys.encrypt(VALUES, { level: 1 });
    const objects = (await rf.memory()).objects;
    const controller = new AbortController();
    const run = keys.bootstrap(ct, boot, { signal: controller.signal });
    for await (const e of run) {
      if (e.kind === 'progress' && e.done === 3) {
        controller.abort(new Error('seen enough'));
        break;
      }
    }
    await expect(run).rejects.toThrow('seen enough');
    expect(run.state).toBe('cancelled');
    expect(run.events.some((e) => e.kind === 'exit' && e.stage === 'blind_rotate')).toBe(false);

    const second = keys.bootstrap(ct, boot);
    second.cancel();
    await expect(second).rejects.toMatchObject({ code: 'ABORTED' });
    const making = keys.bootstrapKeys();
    for await (const e of making) if (e.done === 2) break;
    making.cancel();
    await expect(making).rejects.toMatchObject({ code: 'ABORTED' });
    // The step under way ends unseen, and frees everything it holds.
    await expect.poll(async () => (await rf.memory()).objects).toBe(objects);

    using fresh = await keys.bootstrap(ct, boot);
    expect(bits(await keys.decrypt(fresh), VALUES)).toBeGreaterThan(keys.params.promisedBits);
  });

  it('pauses, goes step by step, and resumes', async () => {
    using boot = await keys.bootstrapKeys();
    using ct = await keys.encrypt(VALUES, { level: 1 });
    const run = keys.bootstrap(ct, boot);
    run.pause();
    await run.step();
    expect(run.events.map((e) => `${e.kind} ${e.stage}`)).toEqual(['enter slots_to_coeffs', 'exit slots_to_coeffs']);
    await run.step();
    await run.step();
    await run.step();
    expect(run.events.at(-1)).toMatchObject({ kind: 'progress', stage: 'blind_rotate', done: 1 });
    run.resume();
    using fresh = await run;
    checkEvents(run.events, keys);
    expect(fresh.level).toBe(2);
  });

  it('tells when something it needs was freed', async () => {
    const boot = await keys.bootstrapKeys();
    using ct = await keys.encrypt(VALUES, { level: 1 });
    const run = keys.bootstrap(ct, boot);
    for await (const e of run) if (e.kind === 'progress') break;
    boot.free();
    await expect(run).rejects.toMatchObject({ code: 'FREED' });
    expect(() => keys.bootstrap(ct, boot)).toThrow(/free\(\) was called on the bootstrapping keys/);
  });

  it('refuses keys of another key set', async () => {
    using other = await rf.keygen('toy10', { allowInsecure: true });
    using boot = await other.bootstrapKeys({ resident: false });
    using ct = await keys.encrypt([1], { level: 1 });
    expect(() => keys.bootstrap(ct, boot)).toThrow(/these bootstrapping keys/);
  });
});

describe('secure sets', () => {
  it('encrypts and decrypts at 128 bits', async () => {
    using own = await rf.keygen();
    expect(own.params.name).toBe('ship13');
    using ct = await own.encrypt(VALUES);
    expect(bits(await own.decrypt(ct), VALUES)).toBeGreaterThan(8);
  });
});

function checkEvents(events: readonly StageEvent[], of: KeySet): void {
  const { stages, tracks, treeLevels } = of.params;
  expect(events.filter((e) => e.kind === 'enter').map((e) => e.stage)).toEqual(stages.map((s) => s.id));
  expect(events.filter((e) => e.kind === 'exit').map((e) => e.stage)).toEqual(stages.map((s) => s.id));
  const progress = events.filter((e) => e.kind === 'progress');
  expect(progress.filter((e) => e.stage === 'blind_rotate').map((e) => e.done)).toEqual(
    Array.from({ length: tracks }, (_, i) => i + 1),
  );
  expect(progress.filter((e) => e.stage === 'product_tree').map((e) => e.done)).toEqual(
    Array.from({ length: treeLevels }, (_, i) => i + 1),
  );
  const times = events.map((e) => e.atMs);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(0);
}
