import { describe, expect, test } from 'vitest';
import { outcomeOf } from '../src/breaking/breakage.js';
import { crc32c, flipped, primesOf, relabelled, renamed, residuesOf, sealed, withResidues } from '../src/breaking/forge.js';

describe('forging a frame', () => {
  const frame = Uint8Array.from({ length: 64 + 24 + 100 + 32 }, (_, i) => i);

  test('CRC-32C of the digits is that of its definition', () => {
    expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
  });

  test('another name changes the name alone', () => {
    const out = renamed(frame, 'ff'.repeat(16));
    expect(out.slice(32, 48)).toEqual(new Uint8Array(16).fill(255));
    expect([...out].filter((byte, i) => byte !== frame[i])).toHaveLength(16);
  });

  test('one bit of the residues is flipped, wherever', () => {
    for (const where of [0, 0.5, 0.999, 1]) {
      const changed = [...flipped(frame, where)].flatMap((byte, i) => (byte === frame[i] ? [] : [[i, byte ^ (frame[i] ?? 0)]]));
      expect(changed).toHaveLength(1);
      expect(changed[0]?.[0]).toBeGreaterThanOrEqual(64 + 24);
      expect(changed[0]?.[0]).toBeLessThan(frame.length - 32);
      expect(changed[0]?.[1]).toBe(0x10);
    }
  });

  test('residues come out of a frame as they went in, and tell their primes', () => {
    const [n, primes] = [64, [7681n, 786_433n]] as const;
    const parts = [7n, 11n].map((step) => primes.map((prime, row) => Array.from({ length: n }, (_, i) => (step * BigInt(i + 1) ** BigInt(row + 2)) % prime)));
    const empty = new Uint8Array(64 + 24 + 2 * ((n * (13 + 20)) / 8) + 32).fill(9);
    const one = withResidues(empty, { primes, parts });
    expect(residuesOf(one, primes, n)).toEqual({ primes, parts });
    expect([one.slice(0, 88), one.slice(-32)]).toEqual([empty.slice(0, 88), empty.slice(-32)]);
    const negative = withResidues(empty, { primes, parts: parts.map((part) => part.map((row, i) => row.map((x) => (primes[i] ?? 0n) - x))) });
    expect(primesOf(one, negative, n)).toEqual(primes);
    expect(() => primesOf(one, one, n)).toThrow(/not two primes/);
    expect(new DataView(relabelled(one, 16).buffer).getFloat64(72, true)).toBe(16);
  });

  test('a seal is made of what is before it', async () => {
    const [a, b] = [await sealed(frame), await sealed(flipped(frame, 0.3))];
    expect(a.slice(0, 60)).toEqual(b.slice(0, 60));
    expect(a.slice(60, 64)).toEqual(b.slice(60, 64));
    expect(a.slice(-32)).not.toEqual(b.slice(-32));
    expect(await sealed(a)).toEqual(a);
  });
});

test('outcomes: what cannot be seen is right, what is like the message is wrong, the rest is noise', () => {
  const message = Float64Array.from({ length: 256 }, (_, i) => Math.sin(i / 9));
  expect(outcomeOf('bit', message, message.map((x) => x + 0.01))).toBe('right');
  expect(outcomeOf('bit', message, message.map((x) => x * 0.6 + 0.2))).toBe('wrong');
  const noise = message.map((_, i) => ((i * 7919) % 257) / 128 - 1);
  expect(outcomeOf('key', message, noise)).toBe('noise');
  expect(outcomeOf('sum', message, noise)).toBe('wrong');
});
