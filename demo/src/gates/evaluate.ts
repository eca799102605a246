import type { GateCiphertext, GateEvent, GateName, SteppableRun } from 'refloat/client';
import type { Evaluated } from './builder.js';
import type { Drawn } from './circuit.js';
import { isView, see, type Seen } from './figures.js';
import { whileWanted } from '../abortable.js';
import type { Pair } from './keyring.js';

/** Follows a run with views; `draw` is called when there is something new to see. */
export async function follow(run: SteppableRun<GateCiphertext, GateEvent>, draw: (seen: Seen) => void): Promise<GateCiphertext> {
  let seen: Seen = {};
  for await (const event of run) {
    seen = see(seen, event);
    if (isView(event)) draw(seen);
  }
  draw(seen);
  return run;
}

/** Evaluates the reader's circuit, gate by gate; `tell` hears what is known of each. */
export async function evaluate({ secret, evaluation }: Pair, circuit: Drawn, signal: AbortSignal, tell: (gate: number, what: Evaluated) => void): Promise<void> {
  const wires = new Map<string, GateCiphertext>();
  try {
    for (const [i, bit] of circuit.inputs.entries()) wires.set(`i${i}`, await whileWanted(signal, secret.encrypt(bit)));
    for (const [place, { gate, from }] of circuit.gates.entries()) {
      signal.throwIfAborted();
      const operands = from.map((wire) => wires.get(wire) as GateCiphertext);
      // The noise of equal operands would add up, so such a gate is simplified and needs a simpler bootstrapping or none.
      const free = gate === 'not' ? 'no bootstrapping' : new Set(from).size < from.length ? 'simplified' : undefined;
      let seen: Seen = {};
      const result = free
        ? await whileWanted(signal, evaluation.gate(gate as GateName, ...operands))
        : await follow(evaluation.gateRun(gate as GateName, operands, { inspect: secret, productsPerStep: 48, signal }), (now) => tell(place, { seen: (seen = now) }));
      wires.set(`g${place}`, result);
      const [value = false] = await whileWanted(signal, secret.decrypt(result));
      tell(place, free ? { seen, value, free } : { seen, value });
    }
  } finally {
    for (const list of wires.values()) list.free();
  }
}
