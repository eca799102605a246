// Records one real voyage with the built npm package, for the page to show before the reader has
// made one (src/recorded/toy10.json). Run it again when stages or events change:
//
//   node demo/scripts/record.mjs
import { fileURLToPath } from 'node:url';
import { Refloat } from 'refloat';
import { readGreyPng } from '../../tests/tools/lib/png.mjs';
import { keep, madeBy, modulesOfPages } from './recording.mjs';

const vite = await modulesOfPages();
const { observe, quality } = await vite.ssrLoadModule('/src/voyage.ts');
const { encode } = await vite.ssrLoadModule('/src/recorded.ts');
const { gridFor } = await vite.ssrLoadModule('/src/input/source.ts');
const { resample } = await vite.ssrLoadModule('/src/input/picture.ts');

const rf = await Refloat.load();
const keys = await rf.keygen('toy10', { allowInsecure: true });
const boot = await keys.bootstrapKeys();
const grid = gridFor(keys.params.slots);
const picture = readGreyPng(fileURLToPath(new URL('../public/boat.png', import.meta.url)));
const luma = Float64Array.from(picture.pixels, (p) => p / 127.5 - 1);
const input = resample(luma, picture.width, picture.height, grid);

const specimen = async (ct) => {
  const wire = await ct.toBytes();
  const slots = (await keys.decrypt(ct)).slice(0, input.length);
  return { level: ct.level, logQ: ct.logQ, logScale: ct.logScale, bytes: wire.length, sample: wire.slice(64, 64 + 4096), slots, quality: quality(input, slots) };
};

const voyage = {
  place: 'page',
  preset: keys.params,
  label: 'the sailing boat',
  ...grid,
  input,
  expected: input,
  squared: false,
  recorded: madeBy(rf),
  state: 'done',
  marks: [],
  timings: {},
};
const fresh = await keys.encrypt(input);
voyage.fresh = await specimen(fresh);
const spent = await rf.exhaust(fresh);
voyage.spent = await specimen(spent);
const run = keys.bootstrap(spent, boot, { inspect: { message: input } });
for await (const event of run) observe(voyage, event);
voyage.result = await specimen(await run);

const size = keep('toy10', encode(voyage));
process.stdout.write(`recorded ${voyage.marks.length} stages, worst slot ${voyage.result.quality.bitsMax.toFixed(2)} bits, ${size} bytes\n`);
rf.close();
await vite.close();
