// Records one real run of the page of the comb with the built npm package, for the page to show before the reader has made one
// (src/recorded/conventional.json). Run it again when stages or events change:
//
//   node demo/scripts/record-conventional.mjs
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Refloat } from 'refloat';
import { createServer } from 'vite';

const SET = 'toy-conventional11';
const MESSAGE = 'chirp';

const root = fileURLToPath(new URL('..', import.meta.url));
const vite = await createServer({ root, server: { middlewareMode: true }, appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true } });
const { encode } = await vite.ssrLoadModule('/src/conventional/recorded.ts');
const { numbersOf } = await vite.ssrLoadModule('/src/conventional/state.ts');

const rf = await Refloat.load();
const keys = await rf.keygen(SET, { allowInsecure: true });
const boot = await keys.bootstrapKeys();
const message = numbersOf(MESSAGE, keys.params.slots);
const input = await keys.encrypt(message, { level: keys.params.inputLevel });
const run = keys.bootstrap(input, boot, { inspect: { message } });
const output = await keys.decrypt(await run);
const made = `made by refloat ${rf.about().version} in Node ${process.versions.node.split('.')[0]}`;
const kept = {
  set: SET,
  message: MESSAGE,
  inputLogQ: input.logQ,
  exits: run.events.filter((event) => event.kind === 'exit'),
  views: run.events.filter((event) => event.kind === 'view'),
  errors: message.map((x, i) => output[i] - x),
};
const text = `${JSON.stringify(encode(made, kept))}\n`;
writeFileSync(new URL('../src/recorded/conventional.json', import.meta.url), text);
process.stdout.write(`recorded ${kept.views.length} views, ${text.length} bytes\n`);
rf.close();
await vite.close();
