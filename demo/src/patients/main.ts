// The sheets of all pages come with the shell, before those of this one.
import { Shell } from '../shell.js';
import '../styles/conventional.css';
import '../styles/patients.css';
import { Refloat, type Ciphertext, type KeySet, type Server, type ServerPreset } from 'refloat/client';
import dataUrl from '../../../core/examples/data/breast-cancer-wisconsin.csv?url';
import recordedUrl from '../recorded/patients.json?url';
import { journeyFrom, take } from './journey.js';
import { patients, score, trained } from './model.js';
import { batch, inference, measurementsOf } from './program.js';
import { decode, type RecordedScores } from './recorded.js';
import { controls, program, scores, way, type State } from './views.js';

const query = new URLSearchParams(location.search);
const serverUrl = query.get('server') ?? location.origin;
const wanted = query.get('set') ?? 'toy-conventional11';

const { train, test } = patients(await (await fetch(dataUrl)).text());
const model = trained(train);
const state: State = { sets: undefined, set: wanted, busy: undefined, paused: false, tables: new Set(), progress: [0, 0], journey: undefined, recorded: undefined, problem: undefined, rows: [], seconds: 0, sent: 0 };

const library = Refloat.load({ threads: 1 });
const keySets = new Map<string, KeySet>();
/** The server; it remembers what has been made of the keys, so that an upload goes on at once. */
let remote: Server | undefined;
const shell = new Shell(state, {
  'patients-controls': () => controls(state, model, test.length),
  'patients-program': () => program(model),
  'patients-way': (width) => way(state, width),
  'patients-scores': () => scores(state),
});

/** The sets of the server that a program runs on. */
async function findServer(): Promise<void> {
  const rf = await library;
  await rf.loadPresets('ckks-conventional');
  const server = rf.server(serverUrl, { retry: { attempts: 1 } });
  const offer = await server.params({ parts: true }).catch(() => undefined);
  state.sets = offer?.sets.filter((set) => set.method === 'ckks-conventional') ?? [];
  // Another than the one asked for: that with the fewest keys to send.
  const smallest = [...state.sets].sort((a, b) => a.keyBytes - b.keyBytes)[0];
  if (!state.sets.some((set) => set.name === state.set)) state.set = smallest?.name ?? '';
  shell.draw();
}

async function run(set: ServerPreset): Promise<void> {
  await shell.perform('keys', async (signal, use) => {
    Object.assign(state, { rows: [], progress: [0, 0], journey: undefined, recorded: undefined });
    const rf = await library;
    remote ??= rf.server(serverUrl);
    const keys = keySets.get(set.name) ?? (await rf.keygen(set.name, { allowInsecure: !set.secure }));
    keySets.set(set.name, keys);
    for await (const event of remote.uploadKeys(keys, { signal })) {
      state.progress = [event.bytes, event.totalBytes];
      shell.draw();
    }
    state.busy = 'run';
    const chosen = test.slice(0, batch(set));
    const input = use(await keys.encrypt(measurementsOf(chosen, set), { level: set.inputLevel + 1, signal }));
    state.sent = input.byteLength;
    const journey = (state.journey = journeyFrom({ level: input.level, logQ: input.logQ, logScale: input.logScale }));
    const began = performance.now();
    const job = remote.run(inference(model, set), { measurements: input }, { keys, signal });
    for await (const event of job) {
      if (event.kind === 'progress' && event.stage === 'arithmetic') state.progress = [event.done, event.total];
      take(journey, event, set.stages.length);
      shell.draw();
    }
    const found = await keys.decrypt(use((await job)['score'] as Ciphertext));
    state.seconds = (performance.now() - began) / 1000;
    state.rows = chosen.map((patient, i) => ({
      malignant: patient.malignant,
      encrypted: found[i] ?? NaN,
      clear: score(model, patient.measurements, 'polynomial'),
      exact: score(model, patient.measurements, 'exact'),
    }));
  });
  if (state.rows.length > 0) shell.say(document.getElementById('outcome')?.textContent ?? '');
}

shell.listen({
  acts: {
    run: () => {
      const set = state.sets?.find(({ name }) => name === state.set);
      if (set) void run(set);
    },
  },
  choices: {
    set: (value) => {
      state.set = value;
    },
  },
});
/** Shows a recorded run until the reader has made one; without it the figures wait. */
async function record(): Promise<void> {
  const run = (await (await fetch(recordedUrl)).json()) as RecordedScores;
  if (!state.busy && state.rows.length === 0) Object.assign(state, decode(run));
  shell.draw();
}
record().catch(() => undefined);
findServer().catch(shell.failed);
