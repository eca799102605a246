// Conventional sets with the native server: keys are sent in parts, uploads resumed, and the bytes are those of the page.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KeyRepair, type StageEvent } from 'refloat';
import { beside, expectOffered, type Beside } from './support/beside.js';
import { SERVER_BINARY } from './support/real-server.js';

describe.skipIf(SERVER_BINARY === undefined)('conventional sets with the native server', () => {
  let { rf, server, close } = {} as Beside;

  beforeAll(async () => {
    ({ rf, server, close } = await beside({ threads: 1 }));
  });
  afterAll(() => close());

  it('are offered with the numbers of this package', async () => {
    const mine = (await rf.loadPresets()).filter((preset) => preset.method === 'ckks-conventional');
    expect(mine.length).toBeGreaterThan(4);
    await expectOffered(server, mine);
  });

  it('are refreshed with keys whose upload was taken up again, stage by stage as in the page', async () => {
    using keys = await rf.keygen('toy-conventional10-50bit', { allowInsecure: true });
    const { slots, inputLevel, stages, keyParts } = keys.params;
    const first = server.uploadKeys(keys);
    for await (const event of first) if (event.done === 3) break;
    first.cancel();
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await server.keys(keys.id)).toBeUndefined();
    const second = server.uploadKeys(keys);
    const remote = await second;
    expect(remote).toMatchObject({ id: keys.id, params: keys.params.name, bytes: keys.params.keyBytes });
    expect(second.events[0]?.label).toMatch(/on the server already/);
    expect(second.events.at(-1)?.done).toBe(keyParts.length);

    const values = Array.from({ length: 2 * slots }, (_, i) => Math.sin(i * i));
    using ct = await keys.encrypt(values, { mode: 'complex', level: inputLevel });
    const job = server.bootstrap(ct);
    using fresh = await job;
    using boot = await keys.bootstrapKeys();
    const run = keys.bootstrap(ct, boot);
    using here = await run;
    expect(await fresh.toBytes()).toEqual(await here.toBytes());
    const told = (events: readonly (StageEvent | KeyRepair)[]): unknown[] =>
      events
        .filter((e) => e.kind === 'exit')
        .map(({ stage, level, logQ, logScale, counters }) => ({ stage, level, logQ, logScale, counters }));
    expect(told(job.events)).toEqual(told(run.events));
    expect(told(job.events)).toHaveLength(stages.length);
    const found = await keys.decrypt(fresh);
    const worst = Math.max(...values.map((value, i) => Math.abs((found[i] as number) - value)));
    expect(worst).toBeLessThan(2 ** -keys.params.promisedBits);
    using twice = await server.bootstrap(ct, { rounds: 2 });
    using also = await keys.bootstrap(ct, boot, { rounds: 2 });
    expect(await twice.toBytes()).toEqual(await also.toBytes());
    await expect(server.bootstrap(ct, { rounds: 1000 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(server.bootstrap(ct, { rounds: 2.5 })).rejects.toThrow(/rounds/);
    await remote.delete();
  });
});
