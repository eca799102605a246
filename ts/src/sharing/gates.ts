import type { EngineRun } from '../engine/engine-run.js';
import type { GlueCircuitRun, GlueGateKeyRows, GlueGateKeys } from '../engine/glue.js';
import { GATES, classOf, type Handle } from '../engine/handle.js';
import type { CircuitInfo } from '../gates/circuit.js';
import type { CircuitEvent } from '../gates/events.js';
import type { Helper, WorkerPool } from './pool.js';
import { shareTasks } from './tasks.js';

/** The result of a gate that a worker has evaluated. */
interface Outcome {
  readonly bytes: Uint8Array;
  readonly counters: Float64Array;
}

/**
 * Evaluates a circuit in the run's own worker and in those of the pool, each with a copy of the keys: gates whose operands
 * are known, wherever they were computed. Values travel as bytes, so that no worker waits for another.
 */
export async function shareGates(
  run: EngineRun<GlueCircuitRun, CircuitEvent>,
  pool: WorkerPool,
  keys: Handle<GlueGateKeys>,
  { gates, inputs }: CircuitInfo,
): Promise<void> {
  const { port, handle, control } = run;
  const wires: (Uint8Array | undefined)[] = await Promise.all(inputs.map((_, wire) => port.call(handle, 'wire', wire)));
  const times = new Map<number, number>();
  const operands = (gate: number): CircuitInfo['gates'][number]['operands'] => gates[gate]?.operands ?? [];

  const copies = pool.copies(keys, async (worker) => {
    const { preset, keyId, switchRows, rotationRows }: GlueGateKeyRows = await port.call(keys, 'rows');
    const [narrow, wide] = switchRows instanceof Uint16Array ? [switchRows, undefined] : [undefined, switchRows];
    return worker.move(classOf(GATES, 'GateKeys'), 'fromRows', preset, keyId, narrow, wide, rotationRows);
  });
  const helpers = copies.map(async (copying): Promise<Helper<Outcome> | undefined> => {
    const copy = await copying;
    return copy && {
      compute: async (gate) => {
        const terms = operands(gate);
        const inverted = terms.reduce((bits, term, i) => bits | (Number(term.inverted) << i), 0);
        const values = terms.map(({ wire }) => wires[wire] as Uint8Array);
        const { value: outcome, ms } = await copy.port.step(copy.handle, 'call', gates[gate]?.gate ?? 'not', values, inverted);
        wires[inputs.length + gate] = outcome.bytes;
        times.set(gate, ms);
        return outcome;
      },
      release: () => undefined,
    };
  });

  await shareTasks({
    first: 0,
    total: gates.length,
    ahead: 4 * pool.size,
    helpers,
    signal: control.signal,
    ready: (gate) => operands(gate).every(({ wire }) => wires[wire] !== undefined),
    supply: (gate, { bytes, counters }) => port.call(handle, 'supply', keys, gate, bytes, counters),
    compute: async (gate) => {
      const { value, ms } = await run.step('ahead', keys, gate);
      wires[inputs.length + gate] = value;
      times.set(gate, ms);
    },
    step: async (gate, waitedMs) => {
      if (gate > 0) await control.gate();
      const wire = inputs.length + gate;
      const [step, bytes] = await Promise.all([port.step(handle, 'step', keys), port.call(handle, 'wire', wire)]);
      wires[wire] = bytes;
      run.busyMs += waitedMs;
      run.report(step, gateMs(times.get(gate) ?? step.ms));
    },
  });
}

/** Adds the time of a gate to its event. */
export function gateMs(ms: number): (event: CircuitEvent) => Partial<CircuitEvent> {
  return ({ kind }) => (kind === 'progress' ? { gateMs: ms } : {});
}
