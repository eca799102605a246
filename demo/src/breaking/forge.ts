/** Start and end of a frame's key id, end of its header, and length of its final digest; the format is in `core/src/wire/header.rs`. */
const KEY_ID = [32, 48] as const;
const CHECKSUM = 60;
const HEADER = 64;
const DIGEST = 32;
/** Bytes in front of a ciphertext's residues: the numbers of components and rows, and the scale. */
const LABEL = 24;
/** Offset of the scale in those bytes. */
const SCALE = 8;

/** CRC-32C, bit by bit. */
export function crc32c(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

/** A ciphertext with another key's id on it; checksum and digest stay as they were. */
export function renamed(frame: Uint8Array, keyId: string): Uint8Array {
  const out = frame.slice();
  for (let i = 0; i < KEY_ID[1] - KEY_ID[0]; i += 1) out[KEY_ID[0] + i] = parseInt(keyId.slice(2 * i, 2 * i + 2), 16);
  return out;
}

/** A ciphertext with one bit of its residues flipped, `where` from 0 to 1 of the way through them. */
export function flipped(frame: Uint8Array, where: number): Uint8Array {
  const out = frame.slice();
  const residues = frame.length - HEADER - LABEL - DIGEST;
  const at = HEADER + LABEL + Math.min(residues - 1, Math.floor(where * residues));
  out[at] = (out[at] ?? 0) ^ 0x10;
  return out;
}

/** The residues of a ciphertext: two components, each with its rows one after the other. */
export interface Residues {
  /** The primes of the rows. */
  readonly primes: readonly bigint[];
  /** By component and row. */
  readonly parts: readonly (readonly (readonly bigint[])[])[];
}

/** The primes of two rows, from a ciphertext and its negative, whose residues add up to them; this also tells where the first row ends. */
export function primesOf(frame: Uint8Array, negative: Uint8Array, n: number): readonly [bigint, bigint] {
  const [x, y] = [frame, negative].map((one) => one.subarray(HEADER + LABEL, -DIGEST)) as [Uint8Array, Uint8Array];
  const both = (8 * x.length) / (2 * n);
  const sum = (at: number, bits: number): bigint => bitsAt(x, at, bits) + bitsAt(y, at, bits);
  for (let bits = 2; bits < both - 1; bits += 1) {
    const [p, q] = [sum(0, bits), sum(n * bits, both - bits)];
    const agree = (from: number, width: number, prime: bigint): boolean => Array.from({ length: 32 }, (_, i) => sum(from + i * width, width)).every((s) => s === prime);
    if (agree(0, bits, p) && agree(n * bits, both - bits, q)) return [p, q];
  }
  throw new Error('the rows of the ciphertext are not two primes long');
}

/** The frame with another scale on its label. */
export function relabelled(frame: Uint8Array, scale: number): Uint8Array {
  const out = frame.slice();
  const view = new DataView(out.buffer);
  view.setFloat64(HEADER + SCALE, scale, true);
  view.setFloat64(HEADER + SCALE + 8, 0, true);
  return out;
}

/** Takes the residues of a ciphertext of a ring of degree `n` out of its frame. */
export function residuesOf(frame: Uint8Array, primes: readonly bigint[], n: number): Residues {
  const bytes = frame.subarray(HEADER + LABEL, -DIGEST);
  let at = 0;
  const row = (prime: bigint): bigint[] => {
    const bits = prime.toString(2).length;
    const out = Array.from({ length: n }, (_, i) => bitsAt(bytes, at + i * bits, bits));
    at += 8 * Math.ceil((n * bits) / 8);
    return out;
  };
  return { primes, parts: [primes.map(row), primes.map(row)] };
}

/** The frame with other residues in it. */
export function withResidues(frame: Uint8Array, { primes, parts }: Residues): Uint8Array {
  const out = frame.slice();
  const bytes = out.subarray(HEADER + LABEL, -DIGEST).fill(0);
  let at = 0;
  for (const part of parts) {
    for (const [i, row] of part.entries()) {
      const bits = (primes[i] ?? 0n).toString(2).length;
      row.forEach((residue, j) => putBits(bytes, at + j * bits, residue));
      at += 8 * Math.ceil((row.length * bits) / 8);
    }
  }
  return out;
}

function bitsAt(bytes: Uint8Array, at: number, bits: number): bigint {
  let out = 0n;
  for (let byte = (at + bits - 1) >> 3; byte >= at >> 3; byte -= 1) out = (out << 8n) | BigInt(bytes[byte] ?? 0);
  return (out >> BigInt(at & 7)) & ((1n << BigInt(bits)) - 1n);
}

function putBits(bytes: Uint8Array, at: number, value: bigint): void {
  let rest = value << BigInt(at & 7);
  for (let byte = at >> 3; rest > 0n; byte += 1, rest >>= 8n) bytes[byte] = (bytes[byte] ?? 0) | Number(rest & 255n);
}

/** The frame with a checksum and a digest that fit, which anybody can compute: they detect damage, not intent. */
export async function sealed(frame: Uint8Array): Promise<Uint8Array> {
  // Loaded only when something is broken.
  const { blake3 } = await import('@noble/hashes/blake3.js');
  const out = frame.slice();
  new DataView(out.buffer).setUint32(CHECKSUM, crc32c(out.subarray(0, CHECKSUM)), true);
  out.set(blake3(out.subarray(0, -DIGEST)), out.length - DIGEST);
  return out;
}
