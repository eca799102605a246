import {
  Refloat,
  RefloatError,
  type Ciphertext,
  type ErrorCode,
  type KeyProgress,
  type KeyRepair,
  type KeySet,
  type Preset,
  type Run,
  type StageEvent,
  type StageId,
  type SteppableRun,
} from 'refloat';
import { Refloat as Client } from 'refloat/client';

export async function use(signal: AbortSignal): Promise<void> {
  const rf: Refloat = await Refloat.load({ worker: true });
  const preset: Preset | undefined = rf.presets()[0];
  const keys: KeySet = await rf.keygen('ship13', { signal });
  const ct: Ciphertext = await keys.encrypt([0.5, preset?.slots ?? 0], { signal, level: 1 });
  const making: SteppableRun<unknown, KeyProgress> = keys.bootstrapKeys({ signal });
  making.pause();
  const run: Run<Ciphertext, StageEvent | KeyRepair> = rf.server('http://127.0.0.1:7878').bootstrap(ct, { op: ['square', 'bootstrap'] });
  for await (const event of run) {
    if (event.kind === 'repair') continue;
    const stage: StageId = event.stage;
    if (event.kind === 'exit') console.log(stage, event.logQ, event.counters.ntt);
    else if (event.kind === 'view') console.log(stage, event.data.length, event.bitsMax);
  }
  const values: Float64Array = await keys.decrypt(await run);
  const bytes: Uint8Array = await ct.toBytes();
  console.log(values, bytes);
  const code: ErrorCode = new RefloatError('FREED', 'x').code;
  console.log(code, (await Client.load()).about().artefact, (await (await Refloat.load({ worker: false })).memory()).bytes);
  // @ts-expect-error there is no such stage
  const wrong: StageId = 'sideways';
  // @ts-expect-error a run made on a server cannot be paused
  run.pause();
  console.log(wrong);
}
