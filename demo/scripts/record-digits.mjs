// Records one real reading of digits with the built npm package, for the page of digits to open on (src/recorded/digits.json). Run
// it again when stages or events change:
//
//   node demo/scripts/record-digits.mjs
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Refloat } from 'refloat';
import { createServer } from 'vite';

const SLOTS = 96;

const root = fileURLToPath(new URL('..', import.meta.url));
const vite = await createServer({ root, server: { middlewareMode: true }, appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true } });
const { begin, levelsBefore, numbersOf, READINGS, TABLE } = await vite.ssrLoadModule('/src/digits/readings.ts');
const { finish, passesOf, take } = await vite.ssrLoadModule('/src/digits/passes.ts');
const { encode } = await vite.ssrLoadModule('/src/digits/recorded.ts');

const name = 'decimal';
const reading = READINGS[name];
const rf = await Refloat.load();
const secret = await rf.keygen('toy-msb10', { allowInsecure: true });
const boot = await secret.bootstrapKeys();
const numbers = numbersOf(reading.number, 10, reading, secret.params.slots);
const x = await secret.encrypt(numbers, { level: secret.params.inputLevel + levelsBefore(reading) });
const seen = { reading: name, table: [], numbers, passes: passesOf(reading), level: x.level, ms: 0 };
const run = begin(name, { boot, x, secret, table: TABLE, signal: new AbortController().signal });
for await (const event of run) {
  if (event.kind === 'exit') seen.ms = event.atMs;
  take(seen.passes, event);
}
const y = await run;
seen.output = await secret.decrypt(y);
seen.outputLevel = y.level;
finish(seen.passes, reading, seen.output);

const recorded = `made by refloat ${rf.about().version} in Node ${process.versions.node.split('.')[0]}`;
const text = `${JSON.stringify(encode(seen, SLOTS, recorded))}\n`;
writeFileSync(new URL('../src/recorded/digits.json', import.meta.url), text);
process.stdout.write(`recorded ${seen.passes.length} digits of ${SLOTS} slots in ${Math.round(seen.ms)} ms, ${text.length} bytes\n`);
rf.close();
await vite.close();
