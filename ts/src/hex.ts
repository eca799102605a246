/** Lower-case hexadecimal of some bytes. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Bytes of a hexadecimal string; callers pass what {@link toHex} made. */
export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length >> 1 }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}
