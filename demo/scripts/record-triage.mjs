// Records an answer to each question of the page "Who comes first?" against a running server that offers toy sets, for the page
// to show before the reader has asked (src/recorded/triage.json):
//
//   refloat serve --allow-insecure
//   node demo/scripts/record-triage.mjs http://127.0.0.1:7979
import { readFileSync } from 'node:fs';
import { Refloat } from 'refloat';
import { keep, madeBy, modulesOfPages } from './recording.mjs';

const SET = 'toy-link';
const url = process.argv[2];
if (!url) throw new Error('which server? node demo/scripts/record-triage.mjs http://127.0.0.1:7979');

const vite = await modulesOfPages();
const { patients, trained } = await vite.ssrLoadModule('/src/patients/model.ts');
const { ask, METHOD, sceneOf } = await vite.ssrLoadModule('/src/triage/ask.ts');
const { encode } = await vite.ssrLoadModule('/src/triage/recorded.ts');

const { train, test } = patients(readFileSync(new URL('../../core/examples/data/breast-cancer-wisconsin.csv', import.meta.url), 'utf8'));
const scene = sceneOf(trained(train), train, test);
const rf = await Refloat.load();
await rf.loadPresets(METHOD);
const server = rf.server(url);
const set = (await server.params({ parts: true })).sets.find(({ name, method }) => name === SET && method === METHOD);
if (!set) throw new Error(`${url} does not offer ${SET}: start it with --allow-insecure`);
const keys = await rf.keygen(SET, { allowInsecure: true });
await server.uploadKeys(keys);
const answers = [];
for (const [question, who] of [['urgent', scene.patients.map((_, i) => i)], ['nearest', [2]]]) {
  answers.push(await ask(scene, question, who, { server, keys, set, use: (ciphertext) => ciphertext }, () => undefined));
}

const made = madeBy(rf);
const size = keep('triage', encode(made, answers));
const seconds = answers.map((answer) => answer.seconds.toFixed(1)).join(' and ');
process.stdout.write(`recorded ${answers.length} answers in ${seconds} s, ${size} bytes\n`);
rf.close();
await vite.close();
