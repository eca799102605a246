// Finds what an object on the wire is before any module has read it, for errors that name the call that reads it.
import { RefloatError } from '../errors.js';
import { toHex } from '../hex.js';

/** How every object begins, in hexadecimal, and the length of its header. */
const MAGIC = '897265666c6f6174';
const HEADER = 64;

/** The kinds of objects that callers handle, by their number in the header, each with the call that reads it. */
const KINDS = {
  ciphertext: [2, 'rf.ciphertextFromBytes()'],
  'public key': [3, 'rf.publicKeyFromBytes(), or rf.integers.publicKeyFromBytes(),'],
  'secret key': [5, 'rf.importKeys(), or that of rf.gates or rf.integers,'],
  'ciphertext for gates': [9, 'rf.gates.ciphertextFromBytes()'],
  'ciphertext of exact integers': [12, 'rf.integers.ciphertextFromBytes()'],
} as const;

/** What an object on the wire is. */
export type WireKind = keyof typeof KINDS;

/** Whether bytes begin as an object does. */
export function isObject(bytes: Uint8Array): boolean {
  return bytes.length >= HEADER && toHex(bytes.subarray(0, MAGIC.length / 2)) === MAGIC;
}

/** Refuses bytes of another kind that callers handle; all others go on to the module, which decides. */
export function mustHold(bytes: Uint8Array, kind: WireKind, where: string): void {
  if (!isObject(bytes)) return;
  const number = (bytes[12] ?? 0) + 256 * (bytes[13] ?? 0);
  const given = (Object.keys(KINDS) as WireKind[]).find((name) => KINDS[name][0] === number);
  if (given === undefined || given === kind) return;
  throw new RefloatError('BAD_BYTES', `${where} was given the bytes of a ${given}, and takes those of a ${kind}; ${KINDS[given][1]} reads them`);
}
