/** A wire: an input or a gate, by its position. */
export type Wire = `i${number}` | `g${number}`;

/** A gate the reader has placed; operands are inputs or gates before it. */
export interface Placed {
  readonly gate: string;
  readonly from: readonly Wire[];
}

/** A circuit that the reader has built. */
export interface Drawn {
  /** The bits that the inputs are set to. */
  readonly inputs: readonly boolean[];
  readonly gates: readonly Placed[];
}

export const MOST_INPUTS = 8;
export const MOST_GATES = 16;

/** The gates to choose from, each costing one bootstrapping (NOT: none), with their numbers of operands. */
export const GATES: Readonly<Record<string, 1 | 2 | 3>> = {
  and: 2, nand: 2, or: 2, nor: 2, xor: 2, xnor: 2, andyn: 2, oryn: 2, maj3: 3, xor3: 3, not: 1,
};

/** What a gate is called on the page. */
export function titleOf(gate: string): string {
  return gate.toUpperCase().replace('YN', '-NOT');
}

/** Circuits to begin with. */
export const STARTERS: Readonly<Record<string, Drawn>> = {
  'Full adder': of(3, 'xor3 i0 i1 i2', 'maj3 i0 i1 i2'),
  'Adder of two 4-bit numbers': of(8, 'xor i0 i4', 'and i0 i4', 'xor3 i1 i5 g1', 'maj3 i1 i5 g1', 'xor3 i2 i6 g3', 'maj3 i2 i6 g3', 'xor3 i3 i7 g5', 'maj3 i3 i7 g5'),
  'XOR of four NAND': of(2, 'nand i0 i1', 'nand i0 g0', 'nand i1 g0', 'nand g1 g2'),
  'Choice: a ? b : c': of(3, 'and i0 i1', 'andyn i2 i0', 'or g0 g1'),
  'Are two 2-bit numbers equal?': of(4, 'xnor i0 i2', 'xnor i1 i3', 'and g0 g1'),
  'Vote of five': of(5, 'xor3 i0 i1 i2', 'maj3 i0 i1 i2', 'xor3 g0 i3 i4', 'maj3 g0 i3 i4', 'and g1 g3', 'xor g1 g3', 'and g5 g2', 'or g4 g6'),
  'One gate': of(2, 'nand i0 i1'),
};

/** A letter for an input, g and a number for a gate. */
export function nameOf(wire: Wire): string {
  const at = Number(wire.slice(1));
  return wire.startsWith('i') ? 'abcdefgh'.charAt(at) : `g${at + 1}`;
}

/** The wires that a gate at a given position may take. */
export function choices(circuit: Drawn, place: number): Wire[] {
  return [...circuit.inputs.map((_, i): Wire => `i${i}`), ...circuit.gates.slice(0, place).map((_, i): Wire => `g${i}`)];
}

/** The circuit with one more gate, on the two newest wires. */
export function withGate(circuit: Drawn): Drawn {
  const from = choices(circuit, circuit.gates.length).slice(-2);
  return { ...circuit, gates: [...circuit.gates, { gate: 'nand', from: from.length < 2 ? ['i0', 'i0'] : from }] };
}

/** The circuit with another kind of gate at a position; operands that it takes in addition are inputs. */
export function withKind(circuit: Drawn, place: number, gate: string): Drawn {
  const arity = GATES[gate] ?? 2;
  return changed(circuit, place, ({ from }) => ({ gate, from: Array.from({ length: arity }, (_, i): Wire => from[i] ?? `i${Math.min(i, circuit.inputs.length - 1)}`) }));
}

/** The circuit with another operand for the gate at a position. */
export function withOperand(circuit: Drawn, place: number, operand: number, wire: string): Drawn {
  const found = choices(circuit, place).find((choice) => choice === wire);
  return found ? changed(circuit, place, (old) => ({ ...old, from: old.from.map((from, i) => (i === operand ? found : from)) })) : circuit;
}

/** The circuit without the gate at a position: gates that took its result take its first operand instead. */
export function withoutGate(circuit: Drawn, place: number): Drawn {
  const instead = circuit.gates[place]?.from[0] ?? 'i0';
  const moved = (wire: Wire): Wire => {
    if (wire === `g${place}`) return instead;
    const at = Number(wire.slice(1));
    return wire.startsWith('g') && at > place ? `g${at - 1}` : wire;
  };
  return { ...circuit, gates: circuit.gates.filter((_, i) => i !== place).map(({ gate, from }) => ({ gate, from: from.map(moved) })) };
}

/** The circuit with one more input, set to 0, or without its last one, which the first replaces. */
export function withInputs(circuit: Drawn, count: number): Drawn {
  const inputs = Array.from({ length: Math.min(MOST_INPUTS, Math.max(1, count)) }, (_, i) => circuit.inputs[i] ?? false);
  const there = (wire: Wire): Wire => (wire.startsWith('i') && Number(wire.slice(1)) >= inputs.length ? 'i0' : wire);
  return { inputs, gates: circuit.gates.map(({ gate, from }) => ({ gate, from: from.map(there) })) };
}

/** The outputs: the gates whose results no other gate takes. */
export function outputs(circuit: Drawn): number[] {
  const used = new Set<string>(circuit.gates.flatMap(({ from }) => from));
  return circuit.gates.map((_, i) => i).filter((i) => !used.has(`g${i}`));
}

/** The level of each gate: one above its highest operand. */
export function levels(circuit: Drawn): number[] {
  const found: number[] = [];
  for (const { from } of circuit.gates) {
    found.push(1 + Math.max(...from.map((wire) => (wire.startsWith('g') ? (found[Number(wire.slice(1))] ?? 0) : 0))));
  }
  return found;
}

function changed(circuit: Drawn, place: number, change: (gate: Placed) => Placed): Drawn {
  return { ...circuit, gates: circuit.gates.map((gate, i) => (i === place ? change(gate) : gate)) };
}

function of(inputs: number, ...gates: string[]): Drawn {
  return {
    inputs: Array.from({ length: inputs }, (_, i) => i % 3 !== 1),
    gates: gates.map((line) => {
      const [gate = '', ...from] = line.split(' ');
      return { gate, from: from as Wire[] };
    }),
  };
}
