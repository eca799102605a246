import { Refloat, RefloatError } from 'refloat';
import { Refloat as Client } from 'refloat/client';
import url from 'refloat/refloat_full.wasm';

export async function use(): Promise<Float64Array> {
  const rf = await Refloat.load({ worker: false, wasm: url });
  const keys = await rf.keygen('toy10', { allowInsecure: true });
  using ct = await keys.encrypt([0.5]);
  if (ct.level < 0) throw new RefloatError('LIMIT', (await Client.load()).about().version);
  return keys.decrypt(ct);
}
