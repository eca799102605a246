// Records one real run of the page of patients against a running server that offers toy sets, for the page to show before the
// reader has made one (src/recorded/patients.json):
//
//   refloat serve --allow-insecure
//   node demo/scripts/record-patients.mjs http://127.0.0.1:7979
import { readFileSync } from 'node:fs';
import { Refloat } from 'refloat';
import { keep, madeBy, modulesOfPages } from './recording.mjs';

const SET = 'toy-conventional11';
const url = process.argv[2];
if (!url) throw new Error('which server? node demo/scripts/record-patients.mjs http://127.0.0.1:7979');

const vite = await modulesOfPages();
const { patients, score, trained } = await vite.ssrLoadModule('/src/patients/model.ts');
const { batch, inference, measurementsOf } = await vite.ssrLoadModule('/src/patients/program.ts');
const { journeyFrom, standingsOf, take } = await vite.ssrLoadModule('/src/patients/journey.ts');

const { train, test } = patients(readFileSync(new URL('../../core/examples/data/breast-cancer-wisconsin.csv', import.meta.url), 'utf8'));
const model = trained(train);
const rf = await Refloat.load();
await rf.loadPresets('ckks-conventional');
const server = rf.server(url);
const set = (await server.params({ parts: true })).sets.find(({ name }) => name === SET);
if (!set) throw new Error(`${url} does not offer ${SET}: start it with --allow-insecure`);
const keys = await rf.keygen(SET, { allowInsecure: true });
await server.uploadKeys(keys);
const chosen = test.slice(0, batch(set));
const input = await keys.encrypt(measurementsOf(chosen, set), { level: set.inputLevel + 1 });
const journey = journeyFrom({ level: input.level, logQ: input.logQ, logScale: input.logScale });
const began = performance.now();
const job = server.run(inference(model, set), { measurements: input }, { keys });
for await (const event of job) take(journey, event, set.stages.length);
const values = { measurements: input, ...(await job) };
const found = await keys.decrypt(values.score);
const seconds = (performance.now() - began) / 1000;

const short = (x) => Number(x.toPrecision(10));
const rows = chosen.map(({ malignant, measurements }, i) => [Number(malignant), short(found[i]), short(score(model, measurements, 'polynomial')), short(score(model, measurements, 'exact'))]);
const rounded = (point) => Object.fromEntries(Object.entries(point).map(([name, x]) => [name, Number(x.toPrecision(5))]));
journey.points = journey.points.map(rounded);
const standings = Object.fromEntries(Object.entries(standingsOf(values)).map(([name, standing]) => [name, rounded(standing)]));
const made = madeBy(rf);
const size = keep('patients', { made, set: SET, seconds: short(seconds), sent: input.byteLength, rows, journey, standings });
process.stdout.write(`recorded ${rows.length} patients, ${journey.bootstraps.length} bootstraps in ${journey.total} steps, ${size} bytes\n`);
rf.close();
await vite.close();
