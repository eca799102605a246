import { GATES } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { GateName } from './params.js';

/** A bit inside a circuit: inputs are counted first, then gates. */
export type CircuitSignal =
  | { readonly wire: number; readonly inverted: boolean }
  | { readonly constant: boolean };

/** A gate of a circuit, as it is run. */
export interface CircuitGate {
  /** What it computes. */
  readonly gate: GateName;
  /** Its level: gates of one level do not depend on each other. */
  readonly level: number;
  /** The bits it is applied to; inverting is free. */
  readonly operands: readonly { readonly wire: number; readonly inverted: boolean }[];
}

/**
 * The part of a circuit that is run: constants, negations and repeated gates are folded away, and
 * gates that no output needs are left out. Gate `i` gives wire `inputs.length + i`.
 */
export interface CircuitInfo {
  /** The circuit as text, to be passed on. */
  readonly text: string;
  /** Names of the inputs, in order. */
  readonly inputs: readonly string[];
  /** Names of the outputs, and where they come from. */
  readonly outputs: readonly (CircuitSignal & { readonly name: string })[];
  /** The gates, level by level. */
  readonly gates: readonly CircuitGate[];
  /** Number of levels: bootstrappings that follow one another. */
  readonly depth: number;
  /** Blind rotations in all. */
  readonly bootstraps: number;
}

/** What is run of a circuit that is given as text. @internal */
export async function describeCircuit(port: Port, text: string): Promise<CircuitInfo> {
  const described: Omit<CircuitInfo, 'text'> = await port.call(GATES, 'describeCircuit', text);
  return { ...described, text };
}
