// Records one real reading of digits with the built npm package, for the page of digits to open on (src/recorded/digits.json). Run
// it again when stages or events change:
//
//   node demo/scripts/record-digits.mjs
import { Refloat } from 'refloat';
import { keep, madeBy, modulesOfPages } from './recording.mjs';

const SLOTS = 96;

const vite = await modulesOfPages();
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

const recorded = madeBy(rf);
const size = keep('digits', encode(seen, SLOTS, recorded));
process.stdout.write(`recorded ${seen.passes.length} digits of ${SLOTS} slots in ${Math.round(seen.ms)} ms, ${size} bytes\n`);
rf.close();
await vite.close();
