/** Where a frame's key id begins and ends, its header ends, and how long the digest at its end is; the format is `core/src/wire/header.rs`. */
const KEY_ID = [32, 48] as const;
const CHECKSUM = 60;
const HEADER = 64;
const DIGEST = 32;
/** Bytes in front of a ciphertext's residues: how many components and rows there are, and the scale. */
const LABEL = 24;

/** CRC-32C, bit by bit. */
export function crc32c(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

/** A ciphertext with another key's name on it, its seals as they were. */
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

/** The same with seals that fit, which anybody can make: they tell damage, not intent. */
export async function sealed(frame: Uint8Array): Promise<Uint8Array> {
  // Only those who break things need it.
  const { blake3 } = await import('@noble/hashes/blake3.js');
  const out = frame.slice();
  new DataView(out.buffer).setUint32(CHECKSUM, crc32c(out.subarray(0, CHECKSUM)), true);
  out.set(blake3(out.subarray(0, -DIGEST)), out.length - DIGEST);
  return out;
}
