// Times conventional sets, as ts/README.md states them:
//
//   node ts/bench/conventional.mjs                       bootstraps toy-conventional11 in this thread's wasm
//   node ts/bench/conventional.mjs n15 http://…:7878     makes the keys of n15, uploads them, bootstraps on that server
import { Refloat } from 'refloat';

const [set = 'toy-conventional11', url] = process.argv.slice(2);
const rf = await Refloat.load({ worker: false });
const seconds = async (work) => {
  const began = performance.now();
  const result = await work();
  return [result, (performance.now() - began) / 1000];
};
const say = (what, took) => console.log(`${what}: ${took.toFixed(2)} s, ${megabytes()} MB of wasm memory`);
let peak = 0;
const megabytes = () => Math.round(peak / 2 ** 20);
const look = async () => {
  peak = Math.max(peak, (await rf.memory()).bytes);
};

const [keys, made] = await seconds(() => rf.keygen(set, { allowInsecure: set.startsWith('toy-') }));
await look();
say(`${set}, secret key`, made);
const { slots, inputLevel, keyBytes, keyParts } = keys.params;
const values = Float64Array.from({ length: slots }, () => 2 * Math.random() - 1);
const [ct, encrypted] = await seconds(() => keys.encrypt(values, { level: inputLevel }));
await look();
say('encrypt', encrypted);

let fresh;
if (url) {
  const server = rf.server(url);
  const upload = server.uploadKeys(keys);
  const [remote, uploaded] = await seconds(async () => {
    for await (const event of upload) if (event.done % 32 === 0) await look();
    return upload;
  });
  await look();
  say(`${keyParts.length} parts, ${(keyBytes / 1e9).toFixed(2)} GB, made and uploaded`, uploaded);
  const job = server.bootstrap(ct);
  let took;
  [fresh, took] = await seconds(() => job);
  for (const event of job.events) if (event.kind === 'exit') console.log(`  ${event.stage}: at ${(event.atMs / 1000).toFixed(2)} s, level ${event.level}`);
  say('bootstrap on the server, keys loaded and result fetched', took);
  const [again, second] = await seconds(() => server.bootstrap(ct));
  say('the same once more', second);
  again.free();
  await remote.delete();
} else {
  const [boot, took] = await seconds(() => keys.bootstrapKeys());
  await look();
  say(`keys, ${(boot.memoryBytes / 1e6).toFixed(0)} MB`, took);
  for (let i = 0; i < 3; i++) {
    fresh?.free();
    const run = keys.bootstrap(ct, boot);
    let once;
    [fresh, once] = await seconds(() => run);
    await look();
    const parts = run.events.filter((event) => event.kind === 'exit').map((event, k, all) => `${event.stage} ${(event.atMs - (all[k - 1]?.atMs ?? 0)).toFixed(0)} ms`);
    say(`bootstrap (${parts.join(', ')})`, once);
  }
}
const found = await keys.decrypt(fresh);
const errors = values.map((value, i) => Math.abs(value - found[i]));
const mean = errors.reduce((a, b) => a + b) / slots;
console.log(`${(-Math.log2(mean)).toFixed(1)} bits in the mean, ${(-Math.log2(Math.max(...errors))).toFixed(1)} in the worst slot`);
rf.close();
