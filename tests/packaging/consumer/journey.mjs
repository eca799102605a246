// Encrypt, exhaust, bootstrap, decrypt, at toy size.
export async function journey(rf) {
  const values = [0.5, -0.25, 1];
  const keys = await rf.keygen('toy10', { allowInsecure: true });
  const ct = await keys.encrypt(values, { level: keys.params.inputLevel });
  const boot = await keys.bootstrapKeys();
  const run = keys.bootstrap(ct, boot);
  const stages = [];
  for await (const event of run) if (event.kind === 'exit') stages.push(event.stage);
  const fresh = await run;
  if (stages.join() !== keys.params.stages.map((s) => s.id).join()) throw new Error(`stages: ${stages}`);
  if (fresh.level <= ct.level) throw new Error(`level ${fresh.level} after, ${ct.level} before`);
  close(await keys.decrypt(fresh), values);
  for (const object of [fresh, boot, ct, keys]) object.free();
}

export function close(found, wanted) {
  wanted.forEach((value, i) => {
    if (!(Math.abs(found[i] - value) < 0.01)) throw new Error(`slot ${i} is ${found[i]}, not ${value}`);
  });
}
