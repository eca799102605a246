// The package with the native server: the page encrypts, the server refreshes, the page decrypts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program } from '../dist/index.js';
import { SERVER_BINARY } from './support/real-server.js';
import { rising } from './support/rising.js';
import { uploadedKeys, type UploadedKeys } from './support/beside.js';

const VALUES = Float64Array.from({ length: 512 }, (_, i) => Math.cos(i / 30));

const bits = (found: ArrayLike<number>, wanted: ArrayLike<number>): number =>
  -Math.log2(Math.max(...Array.from(wanted, (w, i) => Math.abs((found[i] as number) - w))));

describe.skipIf(SERVER_BINARY === undefined)('with the native server', () => {
  let { rf, real, server, keys, remote, close } = {} as UploadedKeys;

  beforeAll(async () => {
    ({ rf, real, server, keys, remote, close } = await uploadedKeys());
  });
  afterAll(() => close());

  it('offers the sets of this package, number by number', async () => {
    const offer = await server.params({ parts: true });
    expect(offer.threads).toBeGreaterThanOrEqual(1);
    const largest = Math.max(...rf.presets().flatMap((p) => p.keyParts.map((part) => part.bytes)));
    expect(offer.limits.chunkBytes).toBeGreaterThanOrEqual(largest);
    for (const mine of rf.presets()) {
      const theirs = offer.sets.find((set) => set.name === mine.name);
      expect(theirs, mine.name).toMatchObject({ ...mine });
    }
    expect((await server.params()).sets[0]?.keyParts).toEqual([]);
  });

  it('keeps keys, and gives them up', async () => {
    expect(remote).toMatchObject({ id: keys.id, params: 'toy10', bytes: keys.params.keyBytes });
    expect(remote.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await server.keys(keys.id)).toMatchObject({ id: keys.id, digest: remote.digest });
    using other = await rf.keygen('toy10', { allowInsecure: true });
    const theirs = await server.uploadKeys(other);
    await theirs.delete();
    expect(await server.keys(other.id)).toBeUndefined();
    await theirs.delete(); // twice is once
  });

  it('has nothing to send a second time', async () => {
    const again = server.uploadKeys(keys);
    expect(await again).toMatchObject({ id: keys.id, digest: remote.digest });
    expect(again.events.every((e) => e.done === keys.params.keyParts.length)).toBe(true);
  });

  it('evaluates circuits of gates, to the same bytes as the page', async () => {
    using gateKeys = await rf.gates.keygen('toy-bool', { allowInsecure: true });
    const theirs = await server.uploadKeys(gateKeys);
    expect(theirs).toMatchObject({ id: gateKeys.id, params: 'toy-bool', bytes: gateKeys.params.keyBytes });
    const adder = await rf.gates.adder(4, 'prefix');
    using x = await gateKeys.encrypt([true, true, false, true]);
    using y = await gateKeys.encrypt([false, true, true, false]);
    const job = server.circuit(adder, [x, y]);
    using sum = await job;
    expect(await gateKeys.decrypt(sum)).toEqual([true, false, false, false, true]);
    const done = job.events.filter((e) => e.kind === 'progress').map((e) => e.done);
    expect(done.at(-1)).toBe(adder.gates.length);
    rising(job.events);
    using evaluation = await gateKeys.evaluationKeys();
    using here = await evaluation.run(adder, [x, y]);
    expect(await here.toBytes()).toEqual(await sum.toBytes());
    await expect(server.circuit(adder, x)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await theirs.delete();
  });

  it('refreshes a ciphertext with the same stages as the page, to the same bytes', async () => {
    using ct = await keys.encrypt(VALUES, { level: 1 });
    const job = server.bootstrap(ct, { keys: remote });
    using fresh = await job;
    expect(fresh.level).toBe(keys.params.outputLevel);
    expect(bits(await keys.decrypt(fresh), VALUES)).toBeGreaterThan(keys.params.promisedBits);

    using boot = await keys.bootstrapKeys();
    const run = keys.bootstrap(ct, boot);
    using here = await run;
    expect(await fresh.toBytes()).toEqual(await here.toBytes());
    const told = (events: typeof job.events): unknown[] =>
      events
        .filter((e) => e.kind === 'exit')
        .map(({ stage, level, logQ, logScale, counters }) => ({ stage, level, logQ, logScale, counters }));
    expect(told(job.events)).toEqual(told(run.events));
    rising(job.events);
    expect(job.events.filter((e) => e.kind === 'enter').map((e) => e.stage)).toEqual(
      keys.params.stages.map((s) => s.id),
    );
  });

  it('squares and refreshes in one job', async () => {
    using ct = await keys.encrypt(VALUES);
    const job = server.bootstrap(ct, { op: ['square', 'bootstrap'] });
    using fresh = await job;
    rising(job.events);
    expect(bits(await keys.decrypt(fresh), VALUES.map((x) => x * x))).toBeGreaterThan(9);
  });

  it('takes complex slots', async () => {
    const z = Float64Array.from({ length: 1024 }, (_, i) => Math.sin(3 * i) / 2);
    using ct = await keys.encrypt(z, { mode: 'complex', level: 1 });
    using fresh = await server.bootstrap(ct);
    expect(bits(await keys.decrypt(fresh), z)).toBeGreaterThan(9);
  });

  it('cancels a job', async () => {
    using ct = await keys.encrypt(VALUES, { level: 1 });
    const job = server.bootstrap(ct);
    job.cancel();
    await expect(job).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('says what is missing', async () => {
    using other = await rf.keygen('toy10', { allowInsecure: true });
    using ct = await other.encrypt([1]);
    await expect(server.bootstrap(ct)).rejects.toMatchObject({ problem: { status: 404 } });
  });

  it('says where bootstraps go among operations that run out of levels', async () => {
    using x = await keys.encrypt(VALUES);
    const job = server.bootstrap(x, { op: ['square', 'square', 'square', 'bootstrap'] });
    const repair = "encrypt at a higher level, or put 'bootstrap' between the squares: { op: ['square', 'bootstrap', 'square'] }";
    await expect(job).rejects.toMatchObject({ code: 'LEVEL_MISMATCH', problem: { status: 422 }, repair });
  });

  it('says how keys come to it that it does not have', async () => {
    using other = await rf.keygen('toy10', { allowInsecure: true });
    using x = await other.encrypt(VALUES);
    const wanted = { code: 'MISSING_KEY', message: expect.stringContaining('server.uploadKeys(keys)') as unknown };
    await expect(server.bootstrap(x)).rejects.toMatchObject(wanted);
    const program = new Program(keys.params);
    program.output('y', program.input('x').mul(2));
    await expect(server.run(program, { x })).rejects.toMatchObject(wanted);
    using mine = await keys.encrypt(VALUES);
    await expect(server.run(program, { x: mine })).rejects.toThrow(/toy10 has the operations square, bootstrap.*take keys of a set that has it/);
  });

  it('goes on with an upload after the server was killed in the middle', async () => {
    using other = await rf.keygen('toy10', { allowInsecure: true });
    const run = server.uploadKeys(other);
    for await (const e of run) if (e.done === 5) break;
    await real.kill();
    await real.restart();
    const sealed = await run;
    expect(sealed.bytes).toBe(keys.params.keyBytes);
    using ct = await other.encrypt(VALUES, { level: 1 });
    using fresh = await server.bootstrap(ct);
    expect(bits(await other.decrypt(fresh), VALUES)).toBeGreaterThan(keys.params.promisedBits);
  });

  it('finishes a job although the server was killed in the middle', async () => {
    using ct = await keys.encrypt(VALUES, { level: 1 });
    const job = server.bootstrap(ct);
    for await (const e of job) if (e.kind === 'enter') break;
    await real.kill();
    await real.restart();
    using fresh = await job;
    expect(bits(await keys.decrypt(fresh), VALUES)).toBeGreaterThan(keys.params.promisedBits);
  });

  it('says so when the server is gone for good', async () => {
    using ct = await keys.encrypt(VALUES, { level: 1 });
    await real.kill();
    const brief = rf.server(real.url, { retry: { attempts: 2, firstDelayMs: 1 } });
    await expect(brief.bootstrap(ct)).rejects.toMatchObject({ code: 'NETWORK' });
    await expect(brief.params()).rejects.toMatchObject({ code: 'NETWORK' });
    await real.restart();
    expect((await brief.params()).sets.length).toBeGreaterThan(0);
  });
});
