import { Refloat } from 'refloat';

const result = document.querySelector('#result');
try {
  const rf = await Refloat.load();
  const keys = await rf.keygen('ship13');
  const values = Float64Array.from({ length: keys.params.slots }, (_, i) => Math.cos(i / 30));
  const ct = await keys.encrypt(values, { level: keys.params.inputLevel });
  const boot = await keys.bootstrapKeys({ resident: false });
  const began = performance.now();
  const fresh = await keys.bootstrap(ct, boot);
  const seconds = (performance.now() - began) / 1000;
  const found = await keys.decrypt(fresh);
  const worst = Math.max(...values.map((value, i) => Math.abs(found[i] - value)));
  if (!(fresh.level > ct.level && -Math.log2(worst) >= keys.params.promisedBits)) throw new Error(`level ${fresh.level}, worst error ${worst}`);
  result.textContent = `ok: ${keys.params.slots} slots in ${seconds.toFixed(1)} s on ${rf.about().threads} threads, ${(-Math.log2(worst)).toFixed(1)} bits in the worst slot`;
  rf.close();
} catch (error) {
  result.textContent = String(error?.stack ?? error);
}
