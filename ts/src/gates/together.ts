import { shareTasks, type Helper } from '../api/together.js';
import type { GateOutcome } from '../engine/gates.js';
import type { TrackPool } from '../engine/pool.js';
import type { Port } from '../engine/port.js';
import type { RunControl } from '../run.js';
import type { CircuitInfo } from './circuit.js';
import type { CircuitEvent } from './events.js';

/** A run of a circuit whose gates are to be spread over a pool. */
export interface SharedCircuit {
  readonly port: Port;
  readonly pool: TrackPool;
  /** Handles in the engine of `port`. */
  readonly run: number;
  readonly keys: number;
  readonly circuit: CircuitInfo;
}

/**
 * Evaluates a circuit in the engine's own worker and in those of the pool: gates whose operands are
 * known, wherever they were computed. Values travel as bytes, so that no worker waits for another.
 */
export async function evaluateTogether(shared: SharedCircuit, control: RunControl<CircuitEvent>): Promise<void> {
  const { port, pool, run, keys, circuit } = shared;
  const { gates, inputs } = circuit;
  const wires: (Uint8Array | undefined)[] = await port.call('circuitWires', run, inputs.length);
  const times = new Map<number, number>();
  let busyMs = 0;
  const operands = (gate: number): { wire: number; inverted: boolean }[] => [...(gates[gate]?.operands ?? [])];

  const evaluators = pool.evaluators(keys, () => port.call('gateKeyRows', keys));
  const helpers = evaluators.map(async (starting): Promise<Helper<GateOutcome> | undefined> => {
    const evaluate = await starting;
    return evaluate && {
      compute: async (gate) => {
        const terms = operands(gate);
        const inverted = terms.reduce((bits, term, i) => bits | (Number(term.inverted) << i), 0);
        const values = terms.map(({ wire }) => wires[wire] as Uint8Array);
        const outcome = await evaluate(gates[gate]?.gate ?? 'not', values, inverted);
        wires[inputs.length + gate] = outcome.bytes;
        times.set(gate, outcome.ms);
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
    supply: (gate, { bytes, counters }) => port.call('circuitSupply', run, keys, gate, bytes, counters),
    compute: async (gate) => {
      const { bytes, ms } = await port.call('circuitAhead', run, keys, gate);
      wires[inputs.length + gate] = bytes;
      times.set(gate, ms);
      busyMs += ms;
    },
    step: async (gate, waitedMs) => {
      if (gate > 0) await control.gate();
      const { events, ms, bytes } = await port.call('circuitStep', run, keys, inputs.length + gate);
      busyMs += waitedMs;
      for (const event of events) {
        const atMs = busyMs + event.atMs;
        control.emit(event.kind === 'progress' ? { ...event, atMs, gateMs: times.get(gate) ?? ms } : { ...event, atMs });
      }
      busyMs += ms;
      wires[inputs.length + gate] = bytes;
    },
  });
}
