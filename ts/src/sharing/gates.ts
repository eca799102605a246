import type { EngineRun } from '../engine/engine-run.js';
import type { GlueCircuitRun, GlueGateKeyRows, GlueGateKeys, GlueTasks } from '../engine/glue.js';
import { GATES, classOf, type Handle } from '../engine/handle.js';
import type { CircuitInfo } from '../gates/circuit.js';
import type { CircuitEvent } from '../gates/events.js';
import type { WorkerPool } from './pool.js';
import { share } from './share.js';

/** Evaluates a circuit in the run's own worker and in those of the pool, each with a copy of the keys. */
export async function shareGates(
  run: EngineRun<GlueCircuitRun, CircuitEvent>,
  pool: WorkerPool,
  tasks: GlueTasks,
  keys: Handle<GlueGateKeys>,
  { gates, inputs }: CircuitInfo,
): Promise<void> {
  const { port, handle } = run;
  const { value: brief } = await run.step('brief', keys);
  const copies = pool.copies(keys, async (worker) => {
    const { preset, keyId, switchRows, rotationRows }: GlueGateKeyRows = await port.call(keys, 'rows');
    const [narrow, wide] = switchRows instanceof Uint16Array ? [switchRows, undefined] : [undefined, switchRows];
    return worker.move(classOf(GATES, 'GateKeys'), 'fromRows', preset, keyId, narrow, wide, rotationRows);
  });
  const helpers = copies.map(async (copying) => {
    const copy = await copying;
    return copy && { port: copy.port, handle: await copy.port.call(copy.handle, 'helper', brief) };
  });
  const needs = gates.map(({ operands }) => operands.map(({ wire }) => wire - inputs.length).filter((gate) => gate >= 0));
  await share(run, {
    tasks,
    helpers,
    step: () => port.step(handle, 'step', keys),
    ahead: (gate) => run.step('ahead', keys, gate),
    dependencies: { needs: (gate) => needs[gate] ?? [], result: (gate) => port.call(handle, 'result', gate) },
    more: gateMs,
  });
}

/** Adds the time of a gate to its event. */
export function gateMs({ kind }: CircuitEvent, ms: number): Partial<CircuitEvent> {
  return kind === 'progress' ? { gateMs: ms } : {};
}
