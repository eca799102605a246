// Records one real run of the page of the comb with the built npm package, for the page to show before the reader has made one
// (src/recorded/conventional.json). Run it again when stages or events change:
//
//   node demo/scripts/record-conventional.mjs
import { Refloat } from 'refloat';
import { keep, madeBy, modulesOfPages } from './recording.mjs';

const SET = 'toy-conventional11';
const MESSAGE = 'chirp';

const vite = await modulesOfPages();
const { encode } = await vite.ssrLoadModule('/src/conventional/recorded.ts');
const { numbersOf } = await vite.ssrLoadModule('/src/conventional/state.ts');

const rf = await Refloat.load();
const keys = await rf.keygen(SET, { allowInsecure: true });
const boot = await keys.bootstrapKeys();
const message = numbersOf(MESSAGE, keys.params.slots);
const input = await keys.encrypt(message, { level: keys.params.inputLevel });
const run = keys.bootstrap(input, boot, { inspect: { message } });
const output = await keys.decrypt(await run);
const made = madeBy(rf);
const kept = {
  set: SET,
  message: MESSAGE,
  inputLogQ: input.logQ,
  exits: run.events.filter((event) => event.kind === 'exit'),
  views: run.events.filter((event) => event.kind === 'view'),
  errors: message.map((x, i) => output[i] - x),
};
const size = keep('conventional', encode(made, kept));
process.stdout.write(`recorded ${kept.views.length} views, ${size} bytes\n`);
rf.close();
await vite.close();
