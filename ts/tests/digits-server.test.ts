// Readings of digits on the native server: the words of programs, the bytes of the page.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program } from 'refloat';
import { beside, type Beside } from './support/beside.js';
import { SERVER_BINARY } from './support/real-server.js';

describe.skipIf(SERVER_BINARY === undefined)('digits with the native server', () => {
  let { rf, server, close } = {} as Beside;

  beforeAll(async () => {
    ({ rf, server, close } = await beside({ threads: 1 }));
  });
  afterAll(() => close());

  it('are the same bytes as in the page, stage by stage', async () => {
    using keys = await rf.keygen('toy-msb10', { allowInsecure: true });
    using boot = await keys.bootstrapKeys();
    await server.uploadKeys(keys);
    using x = await keys.encrypt(Array.from({ length: keys.params.slots }, (_, i) => i * i));
    const program = new Program(keys.params);
    const value = program.input('x');
    program.output('hour', value.intMod(24));
    const job = server.run(program, { x });
    const { hour } = await job;
    const run = boot.intMod(x, 24);
    using here = await run;
    expect(await hour?.toBytes()).toEqual(await here.toBytes());
    const stages = (events: readonly { kind: string; stage?: string }[]): unknown[] =>
      events.filter((e) => e.kind === 'exit' && e.stage !== 'arithmetic').map((e) => e.stage);
    expect(stages(job.events)).toEqual(stages(run.events));
    expect([...(await keys.decrypt(here))].map((r, i) => Math.round(r) === (i * i) % 24)).not.toContain(false);
    hour?.free();
    // Both give the same reason for refusing a reading.
    const wrong = new Program(keys.params);
    wrong.output('y', wrong.input('x').intMod(37));
    const [there, words] = await Promise.all([
      server.run(wrong, { x }).then(() => '', String),
      boot.intMod(x, 37).then(() => '', String),
    ]);
    for (const message of [there, words]) expect(message).toContain('37');
  });
});
