// The libraries that a Windows program is linked with. Format: Microsoft, "PE Format", sections 3 (headers) and 6.4 (imports).
import { readFileSync } from 'node:fs';

/** Libraries that every Windows has had since version 10. */
const OF_WINDOWS = /^(api-ms-win-[\w-]+|advapi32|bcrypt|bcryptprimitives|crypt32|kernel32|msvcrt|ncrypt|ntdll|ole32|psapi|secur32|shell32|user32|userenv|ws2_32)\.dll$/i;

/** Bytes of the file header with its signature, of a section's header, and of a library in the table of imports. */
const FILE_HEADER = 24;
const SECTION = 40;
const IMPORT = 20;

/** Magic number of a 64-bit optional header, and the offset of its import table entry. */
const PE32_PLUS = 0x20b;
const IMPORTS = 120;

/** Names of the libraries that a program of 64 bits loads; one that is not Windows' own is an error. */
export function librariesOfWindows(path) {
  const names = [...new Set(loaded(path).map((name) => name.toLowerCase()))];
  const foreign = names.filter((name) => !OF_WINDOWS.test(name));
  if (foreign.length) throw new Error(`${path} needs libraries that a Windows need not have: ${foreign.join(', ')}`);
  return names;
}

function loaded(path) {
  const bytes = readFileSync(path);
  const start = bytes.length < 64 || bytes.toString('latin1', 0, 2) !== 'MZ' ? bytes.length : bytes.readUInt32LE(60);
  const optional = start + FILE_HEADER;
  if (bytes.length < optional + IMPORTS + 8 || bytes.readUInt32BE(start) !== 0x50450000 || bytes.readUInt16LE(optional) !== PE32_PLUS) {
    throw new Error(`${path} is not a program for Windows of 64 bits`);
  }
  const sections = Array.from({ length: bytes.readUInt16LE(start + 6) }, (_, i) => {
    const at = optional + bytes.readUInt16LE(start + 20) + i * SECTION;
    return { address: bytes.readUInt32LE(at + 12), size: bytes.readUInt32LE(at + 16), offset: bytes.readUInt32LE(at + 20) };
  });
  const place = (address) => {
    const home = sections.find((section) => section.address <= address && address < section.address + section.size);
    if (!home) throw new Error(`${path} names the address ${address}, which is in none of its sections`);
    return address - home.address + home.offset;
  };
  const names = [];
  const table = bytes.readUInt32LE(optional + IMPORTS);
  if (!table) return names;
  // The last entry is empty.
  for (let at = place(table); ; at += IMPORT) {
    const name = bytes.readUInt32LE(at + 12);
    if (!name) return names;
    const from = place(name);
    names.push(bytes.toString('latin1', from, bytes.indexOf(0, from)));
  }
}
