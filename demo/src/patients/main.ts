// The sheets of all pages come with the shell, before those of this one.
import { Shell } from '../shell.js';
import '../styles/conventional.css';
import '../styles/patients.css';
import { Refloat, type BootstrapKeys, type Ciphertext, type KeySet, type Server } from 'refloat/client';
import dataUrl from '../../../core/examples/data/breast-cancer-wisconsin.csv?url';
import recordedUrl from '../recorded/patients.json?url';
import { journeyFrom, take } from './journey.js';
import { patients, score, trained } from './model.js';
import { batch, inference, measurementsOf } from './program.js';
import { decode, type RecordedScores } from './recorded.js';
import { controls, program, scores, valueOf, way, type Choice, type State } from './views.js';

const query = new URLSearchParams(location.search);
const serverUrl = query.get('server') ?? location.origin;
const wanted = query.get('set') ?? 'toy-conventional11';

const { train, test } = patients(await (await fetch(dataUrl)).text());
const model = trained(train);
const state: State = { choices: undefined, choice: `${wanted}@server`, busy: undefined, paused: false, tables: new Set(), progress: [0, 0], journey: undefined, recorded: undefined, problem: undefined, rows: [], seconds: 0, sent: 0 };

const library = Refloat.load({ threads: 1 });
const keySets = new Map<string, KeySet>();
/** Sets whose keys this tab makes and holds. */
const TAB = ['toy-conventional11', 'toy-conventional10-50bit'];
/** Bootstrapping keys that this tab holds. */
const held = new Map<string, BootstrapKeys>();
/** The server; it remembers what has been made of the keys, so that an upload goes on at once. */
let remote: Server | undefined;
const shell = new Shell(state, {
  'patients-controls': () => controls(state, model, test.length),
  'patients-program': () => program(model),
  'patients-way': (width) => way(state, width),
  'patients-scores': () => scores(state),
});

/** The sets that the program runs with: those of the server, and toys in this tab. */
async function findSets(): Promise<void> {
  const rf = await library;
  await rf.loadPresets('ckks-conventional');
  const server = rf.server(serverUrl, { retry: { attempts: 1 } });
  const offer = await server.params({ parts: true }).catch(() => undefined);
  const served = offer?.sets.filter((set) => set.method === 'ckks-conventional') ?? [];
  const local = rf.presets().filter(({ name }) => TAB.includes(name));
  const choices: Choice[] = [...served.map((set) => ({ set, where: 'server' as const })), ...local.map((set) => ({ set, where: 'tab' as const }))];
  // Where the one asked for is not on a server: in this tab, or that with the fewest keys.
  const best = [...choices].sort((a, b) => Number(b.set.name === wanted) - Number(a.set.name === wanted) || a.set.keyBytes - b.set.keyBytes)[0];
  if (!choices.some((choice) => valueOf(choice) === state.choice)) state.choice = best ? valueOf(best) : '';
  state.choices = choices;
  shell.draw();
}

/** Makes keys of a set, and gives what runs a program with them: this tab, or the server that they were sent to. */
async function prepared({ set, where }: Choice, keys: KeySet, signal: AbortSignal): Promise<Pick<Server, 'run'> | BootstrapKeys> {
  const known = held.get(set.name);
  if (where === 'tab' && known) return known;
  remote ??= (await library).server(serverUrl);
  const making = where === 'tab' ? keys.bootstrapKeys({ signal }) : remote.uploadKeys(keys, { signal });
  for await (const event of making) {
    state.progress = [event.bytes, event.totalBytes];
    shell.draw();
  }
  const made = await making;
  if (!('run' in made)) return remote;
  held.set(set.name, made);
  return made;
}

async function run(choice: Choice): Promise<void> {
  const { set } = choice;
  await shell.perform('keys', async (signal, use) => {
    Object.assign(state, { rows: [], progress: [0, 0], journey: undefined, recorded: undefined });
    const rf = await library;
    const keys = keySets.get(set.name) ?? (await rf.keygen(set.name, { allowInsecure: !set.secure }));
    keySets.set(set.name, keys);
    const runner = await prepared(choice, keys, signal);
    state.busy = 'run';
    const chosen = test.slice(0, batch(set));
    const input = use(await keys.encrypt(measurementsOf(chosen, set), { level: set.inputLevel + 1, signal }));
    state.sent = input.byteLength;
    const journey = (state.journey = journeyFrom({ level: input.level, logQ: input.logQ, logScale: input.logScale }));
    const began = performance.now();
    const job = runner.run(inference(model, set), { measurements: input }, { signal });
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
      const choice = state.choices?.find((choice) => valueOf(choice) === state.choice);
      if (choice) void run(choice);
    },
  },
  choices: {
    set: (value) => {
      state.choice = value;
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
findSets().catch(shell.failed);
