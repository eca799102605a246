import type { CircuitInfo } from 'refloat';
import { describe, expect, test } from 'vitest';
import { adder, isCarry, operandsOf } from '../src/gates/adder.js';
import type { State } from '../src/gates/views.js';

/** The ripple-carry adder as the library describes it: two gates per level. */
const circuit = {
  text: '',
  inputs: Array.from({ length: 16 }, (_, i) => `${'ab'[i >> 3]}${i & 7}`),
  outputs: [],
  gates: Array.from({ length: 8 }, (_, level) => {
    const operands = [level, 8 + level, ...(level ? [16 + 2 * level - 1] : [])].map((wire) => ({ wire, inverted: false }));
    return [{ gate: level ? 'xor3' : 'xor', level, operands }, { gate: level ? 'maj3' : 'and', level, operands }];
  }).flat(),
  depth: 8,
  bootstraps: 16,
} as unknown as CircuitInfo;

const state = (change: Partial<State> = {}): State =>
  ({ set: 'toy-bool', tables: new Set(), at: 'gates-adder', numbers: [200, 77], circuit, times: [], total: 0, threads: 1, ...change }) as State;

/** The result of a gate for some operand bits. */
function result(gate: string, bits: readonly boolean[]): boolean {
  const set = bits.filter(Boolean).length;
  return isCarry({ gate }) ? (gate === 'and' ? set === 2 : set >= 2) : set % 2 === 1;
}

describe('the adder', () => {
  test('knows the bits on every operand: each gate gives what the next ones take, and the sum', () => {
    for (const numbers of [[200, 77], [255, 255], [0, 0], [170, 85], [1, 255]] as [number, number][]) {
      const bits = circuit.gates.map((gate, i) => result(gate.gate, operandsOf({ numbers }, circuit, i)));
      const sum = circuit.gates.reduce((value, gate, i) => value + (isCarry(gate) ? (gate.level === 7 ? Number(bits[i]) << 8 : 0) : Number(bits[i]) << gate.level), 0);
      expect(sum).toBe(numbers[0] + numbers[1]);
      circuit.gates.forEach((gate, i) => {
        if (gate.level > 0) expect(operandsOf({ numbers }, circuit, i)[2]).toBe(bits[2 * gate.level - 1]);
      });
    }
  });

  test('lights gates up as they finish, and shades their wires when the sum is decrypted', () => {
    const begun = adder(state({ times: [8, 9, 10] }), 900).text;
    expect(begun.match(/gates-gate lit/g)).toHaveLength(3);
    expect(begun).not.toContain('id="sum"');
    // The inputs, two numbers of eight bits on two wires each, have values at once.
    expect(begun.match(/class="gates-wire (?:one|zero)"/g)).toHaveLength(32);
    const done = adder(state({ times: Array.from({ length: 16 }, () => 9), total: 144, sum: 277 }), 900).text;
    // Then also seven carries on two wires each, eight sums and the last carry.
    expect(done.match(/class="gates-wire (?:one|zero)"/g)).toHaveLength(32 + 14 + 9);
    expect([...done.matchAll(/gates-sum-bit">(\d)/g)].map(([, bit]) => bit).join('')).toBe((277).toString(2));
  });

  test('keeps every wire inside its drawing, narrow and wide', () => {
    for (const width of [300, 358, 1180]) {
      const { text } = adder(state({ sum: 277, times: [1] }), width);
      const paths = [...text.matchAll(/ d="([^"]+)"/g)].map(([, d = '']) => d);
      expect(paths.length).toBeGreaterThan(40);
      for (const d of paths) {
        expect(d).not.toMatch(/NaN|undefined/);
        for (const [, x, y] of d.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)) {
          expect([Number(x) >= -1, Number(x) <= width + 1, Number(y) >= 0, Number(y) <= 232]).toEqual([true, true, true, true]);
        }
      }
    }
  });

  test('has a table with a row for each bit of the sum', () => {
    const { text: table } = adder(state({ sum: 277, times: Array.from({ length: 16 }, () => 9), tables: new Set(['adder']) }), 900);
    const rows = [...table.matchAll(/<tr><th scope="row">(\d)<\/th>(.*?)<\/tr>/g)].map(([, bit, cells = '']) => [bit, ...[...cells.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell)]);
    // 200 is 11001000 and 77 is 01001101: a carry from bit 3 to bit 4, and none into bit 3.
    expect(rows[3]).toEqual(['3', '1', '1', 'MAJ3 = 1, 9.0 ms', 'XOR3 = 0, 9.0 ms', '0']);
    expect(rows[8]).toEqual(['8', '', '', '', '', '1']);
  });

  test('can be cancelled where it runs, and only there', () => {
    expect(adder(state({ busy: 'adding' }), 900).text).toContain('data-act="cancel"');
    expect(adder(state({ busy: 'looking up', at: 'gates-draw' }), 900).text).not.toContain('data-act="cancel"');
  });
});
