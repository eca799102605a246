// Exact integers with the native server: the same bytes as in the page.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beside, expectOffered, type Beside } from './support/beside.js';
import { SERVER_BINARY } from './support/real-server.js';
import { rising } from './support/rising.js';

describe.skipIf(SERVER_BINARY === undefined)('integers with the native server', () => {
  let { rf, server, close } = {} as Beside;

  beforeAll(async () => {
    ({ rf, server, close } = await beside({ threads: 1 }));
  });
  afterAll(() => close());

  it('are multiplied and refreshed there as they are in the page', async () => {
    await expectOffered(server, await rf.integers.presets());
    using keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    const remote = await server.uploadKeys(keys);
    expect(remote).toMatchObject({ id: keys.id, params: 'toy-bgv10', bytes: keys.params.keyBytes });
    using x = await keys.encrypt([3, 1, 4]);
    using y = await keys.encrypt([1, 5, 9]);
    const job = server.integers([x, y], { op: ['multiply', 'bootstrap'] });
    using there = await job;
    using evaluation = await keys.evaluationKeys();
    using product = await evaluation.multiply(x, y);
    using here = await evaluation.bootstrap(product);
    expect(await there.toBytes()).toEqual(await here.toBytes());
    expect([...(await keys.decrypt(there)).slice(0, 4)]).toEqual([3, 5, 36, 0]);
    const stages = job.events.filter((event) => event.kind === 'exit').map((event) => event.stage);
    expect(stages).toEqual(keys.params.stages.map((stage) => stage.id));
    rising(job.events);
    await expect(server.integers(x, { op: ['multiply'] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await remote.delete();
  });
});
