import type { Preset } from '../params.js';
import type { RunControl } from '../run.js';
import { RefloatError } from '../errors.js';
import type { KeyProgress } from '../stages.js';

/** Makes the parts of a set's evaluation keys one by one with `make`, and reports progress. */
export async function eachPart(
  { keyParts, keyBytes: totalBytes }: Pick<Preset, 'keyParts' | 'keyBytes'>,
  control: RunControl<KeyProgress>,
  make: (index: number) => Promise<unknown>,
): Promise<void> {
  let bytes = 0;
  for (const [done, part] of keyParts.entries()) {
    await control.gate();
    await make(part.index);
    bytes += part.bytes;
    const fraction = bytes / totalBytes;
    control.emit({ kind: 'progress', done: done + 1, total: keyParts.length, bytes, totalBytes, fraction, label: part.label });
  }
  await control.gate();
}

/** Keys for arithmetic that are begun: what each is for, and how large. */
interface Begun {
  /** One per line. */
  readonly labels: string;
  readonly keyBytes: number;
}

/** Makes keys for arithmetic of a set one by one with `make`, and reports progress; gives the bytes that they take. */
export async function eachKey(
  { labels: lines, keyBytes: each }: Begun,
  control: RunControl<KeyProgress>,
  { name }: Pick<Preset, 'name'>,
  make: (index: number) => Promise<unknown>,
): Promise<number> {
  const labels = lines.split('\n');
  const total = labels.length;
  const totalBytes = total * each;
  mustFitIn(totalBytes, `the keys for arithmetic of ${name}`, 'name fewer rotations');
  const emit = (done: number, label: string): void =>
    control.emit({ kind: 'progress', done, total, bytes: done * each, totalBytes, fraction: done / total, label });
  emit(0, `${total} keys of ${each} bytes`);
  for (const [index, label] of labels.entries()) {
    await control.gate();
    await make(index);
    emit(index + 1, label);
  }
  return totalBytes;
}

/** Bytes that keys may take in a page: a wasm instance has at most 4 GiB, and needs some to compute in. */
const MOST_KEY_BYTES = 3 * 2 ** 30;

/** Refuses keys that a page cannot hold. */
export function mustFitIn(needed: number, what: string, repair: string): void {
  const device = (globalThis.navigator as { readonly deviceMemory?: number } | undefined)?.deviceMemory;
  const most = Math.min(MOST_KEY_BYTES, (device ?? Infinity) * 2 ** 30);
  if (needed <= most) return;
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
  throw new RefloatError(
    'LIMIT',
    `${what} take ${gigabytes(needed)} in memory, and ${gigabytes(most)} is the most that keys may take here; ${repair}`,
  );
}
