// Records one real run of the page of exact numbers with the built npm package, for the page to show before the reader has
// made one (src/recorded/exact.json). Run it again when stages or events change:
//
//   node demo/scripts/record-exact.mjs
import { fileURLToPath } from 'node:url';
import { Refloat } from 'refloat';
import { readGreyPng } from '../../tests/tools/lib/png.mjs';
import { keep, madeBy, modulesOfPages } from './recording.mjs';

const vite = await modulesOfPages();
const { encode } = await vite.ssrLoadModule('/src/exact/recorded.ts');
const { grid, levels } = await vite.ssrLoadModule('/src/exact/state.ts');
const { resample } = await vite.ssrLoadModule('/src/input/picture.ts');

const rf = await Refloat.load();
const keys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
const evaluation = await keys.evaluationKeys();
const picture = readGreyPng(fileURLToPath(new URL('../public/boat.png', import.meta.url)));
const luma = Float64Array.from(picture.pixels, (p) => p / 127.5 - 1);
const input = levels(resample(luma, picture.width, picture.height, grid(keys.params.slots)), keys.params);

const worn = await keys.encrypt(input, { level: keys.params.inputLevel });
const run = evaluation.bootstrap(worn, { inspect: keys });
const refreshed = await run;
const square = await evaluation.multiply(refreshed, refreshed);
const shown = {
  input,
  inputLogQ: worn.logQ,
  exits: run.events.filter((event) => event.kind === 'exit'),
  views: run.events.filter((event) => event.kind === 'view'),
  output: await keys.decrypt(refreshed),
  square: await keys.decrypt(square),
};
const made = madeBy(rf);
const size = keep('exact', encode(made, shown));
process.stdout.write(`recorded ${shown.views.length} views, ${size} bytes\n`);
rf.close();
await vite.close();
