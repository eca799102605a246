// What a Linux program needs from the system before it runs: the loader and the shared libraries that its headers name.
// Format: System V ABI, "Object Files" and "Program Loading and Dynamic Linking".
import { readFileSync } from 'node:fs';

const LOAD = 1;
const DYNAMIC = 2;
const INTERPRETER = 3;

const NEEDED = 1n;
const STRINGS = 5n;

/** Bytes of a program header and of an entry of the dynamic section, in files of 64 bits. */
const HEADER = 56;
const ENTRY = 16;

/** The loader (undefined if there is none) and the shared libraries of a 64-bit little-endian file. */
export function linked(path) {
  const bytes = readFileSync(path);
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1) {
    throw new Error(`${path} is no ELF file of 64 bits, least significant byte first`);
  }
  const number = (at) => Number(bytes.readBigUInt64LE(at));
  const text = (at) => bytes.toString('latin1', at, bytes.indexOf(0, at));
  const [table, count] = [number(32), bytes.readUInt16LE(56)];
  const segments = Array.from({ length: count }, (_, i) => {
    const at = table + i * HEADER;
    return { type: bytes.readUInt32LE(at), offset: number(at + 8), address: number(at + 16), size: number(at + 32) };
  });
  const interpreter = segments.find(({ type }) => type === INTERPRETER);
  const dynamic = segments.find(({ type }) => type === DYNAMIC);
  const entries = Array.from({ length: (dynamic?.size ?? 0) / ENTRY }, (_, i) => {
    const at = dynamic.offset + i * ENTRY;
    return { tag: bytes.readBigUInt64LE(at), value: number(at + 8) };
  });
  const strings = entries.find(({ tag }) => tag === STRINGS)?.value;
  const home = segments.find(({ type, address, size }) => type === LOAD && address <= strings && strings < address + size);
  return {
    loader: interpreter && text(interpreter.offset),
    libraries: entries.filter(({ tag }) => tag === NEEDED).map(({ value }) => text(home.offset + strings - home.address + value)),
  };
}
