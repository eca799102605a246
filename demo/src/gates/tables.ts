import type { CircuitInfo } from 'refloat';
import { decimal } from '../format.js';
import type { Table } from '../views/figure.js';
import { nameOf, titleOf } from './circuit.js';
import type { BuilderState } from './builder.js';
import type { Seen } from './figures.js';

/** What a table shows where nothing was computed yet. */
const NOTHING = '·';
/** Coefficients of an accumulator that a table lists: this many, evenly spread. */
const LISTED = 8;

const turns = (phase: number | undefined): string => (phase === undefined ? NOTHING : decimal(phase, 4));
const bit = (value: boolean | undefined): string => (value === undefined ? NOTHING : String(Number(value)));

/** The adder, a row for each bit of the sum: `resultOf` gives the bit of a gate, once the sum is known. */
export function tableOfAdder(
  { circuit, numbers: [a, b], times, sum, width }: { readonly circuit: CircuitInfo | undefined; readonly numbers: readonly [number, number]; readonly times: readonly number[]; readonly sum: number | undefined; readonly width: number },
  isCarry: (gate: { readonly gate: string }) => boolean,
  resultOf: (gate: CircuitInfo['gates'][number]) => boolean | undefined,
): Table {
  const at = (level: number, carry: boolean): string => {
    const index = circuit?.gates.findIndex((gate) => gate.level === level && isCarry(gate) === carry) ?? -1;
    const gate = circuit?.gates[index];
    if (!gate) return '';
    const ms = times[index];
    const value = resultOf(gate);
    return `${gate.gate.toUpperCase()}${value === undefined ? '' : ` = ${Number(value)}`}${ms === undefined ? '' : `, ${decimal(ms, 1)} ms`}`;
  };
  const of = (value: number, i: number): string => (i < width ? String((value >> i) & 1) : '');
  return {
    columns: ['Bit', 'a', 'b', 'Carry', 'Bit of the sum', 'Sum, decrypted'],
    rows: Array.from({ length: width + 1 }, (_, i) => [i, of(a, i), of(b, i), at(i, true), at(i, false), sum === undefined ? NOTHING : (sum >> i) & 1]),
  };
}

/** One bootstrapping: its phases, and some coefficients of the accumulator as it is now, all in turns. */
export function tableOfBootstrap({ before, rounded, accumulator, after }: Seen): Table {
  const step = Math.max(1, Math.floor((accumulator?.length ?? 0) / LISTED));
  const coefficients = Array.from({ length: Math.min(LISTED, accumulator?.length ?? 0) }, (_, i) => [`Accumulator, coefficient ${i * step}`, turns(accumulator?.[i * step])]);
  return {
    columns: ['What', 'In turns'],
    rows: [['Input', turns(before)], ['Input, rounded', turns(rounded)], ...coefficients, ['Result', turns(after)]],
  };
}

/** The gates of the reader's circuit. */
export function tableOfCircuit({ circuit, done }: Pick<BuilderState, 'circuit' | 'done'>): Table {
  return {
    columns: ['Gate', 'What', 'Of', 'Phase before', 'First coefficient', 'Phase after', 'Time', 'Result'],
    rows: circuit.gates.map(({ gate, from }, i) => {
      const { seen = {}, value, free } = done[i] ?? {};
      const time = free ?? (seen.ms === undefined ? NOTHING : `${decimal(seen.ms, 1)} ms`);
      return [nameOf(`g${i}`), titleOf(gate), from.map(nameOf).join(', '), turns(seen.before), turns(seen.accumulator?.[0]), turns(seen.after), time, bit(value)];
    }),
  };
}
