import type { Preset } from '../params.js';
import type { RunControl } from '../run.js';
import type { KeyProgress } from '../stages.js';

/** Makes the parts of the evaluation keys of a set, one after the other by `make`, and tells how far it is. */
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
