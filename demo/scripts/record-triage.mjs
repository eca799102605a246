// Records an answer to each question of the page "Who comes first?" against a running server that offers toy sets, for the page
// to show before the reader has asked (src/recorded/triage.json):
//
//   refloat serve --allow-insecure
//   node demo/scripts/record-triage.mjs http://127.0.0.1:7979
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Refloat } from 'refloat';
import { createServer } from 'vite';

const SET = 'toy-link';
const url = process.argv[2];
if (!url) throw new Error('which server? node demo/scripts/record-triage.mjs http://127.0.0.1:7979');

const root = fileURLToPath(new URL('..', import.meta.url));
// Node loads the package, and only once: a program must come from the same module as the server that takes it.
const ssr = { external: ['refloat', 'refloat/client'] };
const vite = await createServer({ root, ssr, server: { middlewareMode: true }, appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true } });
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

const made = `made by refloat ${rf.about().version} in Node ${process.versions.node.split('.')[0]}`;
const text = `${JSON.stringify(encode(made, answers))}\n`;
writeFileSync(new URL('../src/recorded/triage.json', import.meta.url), text);
const seconds = answers.map((answer) => answer.seconds.toFixed(1)).join(' and ');
process.stdout.write(`recorded ${answers.length} answers in ${seconds} s, ${text.length} bytes\n`);
rf.close();
await vite.close();
