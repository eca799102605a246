// A disk that alters files, or is full.
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Every file below a folder; what vanishes meanwhile is left out. */
export function files(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? files(path) : [path];
    });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Changes, shortens or removes a file. */
export function damage(path, random) {
  if (random.chance(0.15)) return rmSync(path);
  const file = openSync(path, 'r+');
  try {
    const { size } = fstatSync(file);
    if (size === 0) return;
    const at = Math.floor(random.next() * size);
    if (random.chance(0.2)) return ftruncateSync(file, at);
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, at);
    byte[0] ^= 1 << random.between(0, 7);
    writeSync(file, byte, 0, 1, at);
  } finally {
    closeSync(file);
  }
}

/** Fills the file system of a folder during `action`, which may have it filled again. */
export async function fill(folder, action) {
  const filler = join(folder, 'filler');
  const file = openSync(filler, 'w');
  const take = () => {
    for (let size = 1 << 20; size >= 1 << 12; size >>= 1) {
      const block = Buffer.alloc(size, 1);
      try {
        while (writeSync(file, block) === size);
      } catch (error) {
        if (error.code !== 'ENOSPC') throw error;
      }
    }
  };
  try {
    take();
    await action(take);
  } finally {
    closeSync(file);
    rmSync(filler);
  }
}
