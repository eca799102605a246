// The style sheets that all pages share come with the shell, before those of this one.
import { Shell, idle, type Freed } from '../shell.js';
import '../styles/conventional.css';
import '../styles/patients.css';
import { Refloat, type BootstrapKeys, type Ciphertext, type KeySet, type Server } from 'refloat/client';
import dataUrl from '../../../core/examples/data/breast-cancer-wisconsin.csv?url';
import { serverAt } from '../contact.js';
import { KeysOnce } from '../keys.js';
import { whileWanted } from '../abortable.js';
import recordedUrl from '../recorded/patients.json?url';
import { graph } from './graph.js';
import { journeyFrom, standingsOf, take } from './journey.js';
import { patients, score, trained } from './model.js';
import { batch, inference, measurementsOf, type ValueName } from './program.js';
import { decode, type RecordedScores } from './recorded.js';
import { controls, programWith, scores, valueOf, way, type Choice, type State } from './views.js';

const query = new URLSearchParams(location.search);
const serverUrl = query.get('server') ?? location.origin;
const wanted = query.get('set') ?? 'toy-conventional11';

const { train, test } = patients(await (await fetch(dataUrl)).text());
const model = trained(train);
const state: State = {
  choices: undefined,
  answers: false,
  choice: `${wanted}@server`,
  sentKeys: new Set(),
  ...idle(),
  held: undefined,
  journey: undefined,
  standings: {},
  ran: undefined,
  rows: [],
  seconds: 0,
  sent: 0,
};

const library = Refloat.load({ threads: 1 });
/** Sets whose keys this tab makes and holds. */
const TAB = ['toy-conventional11', 'toy-conventional10-50bit'];
/** The keys that this tab holds, and their set: only one set at a time, as keys are large. */
let held: { readonly name: string; readonly keys: KeysOnce<KeySet, BootstrapKeys> } | undefined;
/** Secret keys for the server's sets, and the server object, which remembers what was sent, so that an upload resumes at once. */
const secrets = new Map<string, KeySet>();
let remote: Server | undefined;
const shell = new Shell(state, {
  'patients-controls': () => controls(state),
  'patients-model': () => programWith(state, model, test.length),
  'patients-program': (width) => graph(state, width),
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
  // If the requested set is not on a server: the one in this tab, or else the set with the smallest keys.
  const best = [...choices].sort((a, b) => Number(b.set.name === wanted) - Number(a.set.name === wanted) || a.set.keyBytes - b.set.keyBytes)[0];
  if (!choices.some((choice) => valueOf(choice) === state.choice)) state.choice = best ? valueOf(best) : '';
  state.answers = offer !== undefined;
  state.choices = choices;
  shell.draw();
}

const progress = (done: number, total: number): void => {
  state.progress = [done, total];
  shell.draw();
};

/** The reader's key, and the runner that computes with the keys made from it. */
interface Prepared {
  readonly secret: KeySet;
  readonly runner: Pick<Server, 'run'> | BootstrapKeys;
}

/** The keys of a set in this tab; the keys of another set are freed. */
async function inTab({ name, secure }: Choice['set'], signal: AbortSignal): Promise<Prepared> {
  if (held?.name !== name) letGo();
  held ??= {
    name,
    keys: new KeysOnce(
      async () => (await library).keygen(name, { allowInsecure: !secure }),
      (secret, signal) => secret.bootstrapKeys({ signal }),
    ),
  };
  const { secret, evaluation, made } = await held.keys.of(signal, progress);
  state.held = { ...made, name };
  return { secret, runner: evaluation };
}

/** The keys of a set, sent to the server; the secret key stays here. */
async function onServer({ name, secure }: Choice['set'], signal: AbortSignal): Promise<Prepared> {
  const rf = await library;
  remote ??= serverAt(rf, serverUrl, shell.contact);
  const secret = secrets.get(name) ?? (await rf.keygen(name, { allowInsecure: !secure, signal }));
  secrets.set(name, secret);
  for await (const event of remote.uploadKeys(secret, { signal })) progress(event.bytes, event.totalBytes);
  state.sentKeys.add(name);
  return { secret, runner: remote };
}

/** Frees the keys that this tab holds. */
function letGo(): void {
  held?.keys.forget();
  held = undefined;
  state.held = undefined;
}

async function run({ set, where }: Choice): Promise<void> {
  const { rows, journey, standings, ran, seconds, sent } = state;
  let finished = false;
  const work = async (signal: AbortSignal, use: <T extends Freed>(made: T) => T): Promise<void> => {
    state.progress = [0, 0];
    const { secret, runner } = await (where === 'tab' ? inTab : onServer)(set, signal);
    Object.assign(state, { busy: 'run', rows: [], journey: undefined, standings: {}, progress: [0, 0], ran: { set: set.name, by: where === 'tab' ? 'in this tab' : 'on the server', recorded: false } });
    const chosen = test.slice(0, batch(set));
    const input = use(await whileWanted(signal, secret.encrypt(measurementsOf(chosen, set), { level: set.inputLevel + 1 })));
    state.sent = input.byteLength;
    const seen = (state.journey = journeyFrom({ level: input.level, logQ: input.logQ, logScale: input.logScale }));
    const began = performance.now();
    shell.draw();
    const job = runner.run(inference(model, set), { measurements: input }, { signal });
    for await (const event of job) {
      if (event.kind === 'progress' && event.stage === 'arithmetic') state.progress = [event.done, event.total];
      take(seen, event, set.stages.length);
      shell.draw();
    }
    const values = { measurements: input, ...(await job) } as Record<ValueName, Ciphertext>;
    for (const value of Object.values(values)) if (value !== input) use(value);
    const found = await whileWanted(signal, secret.decrypt(values.score));
    state.standings = standingsOf(values);
    state.seconds = (performance.now() - began) / 1000;
    state.rows = chosen.map((patient, i) => ({
      malignant: patient.malignant,
      encrypted: found[i] ?? NaN,
      clear: score(model, patient.measurements, 'polynomial'),
      exact: score(model, patient.measurements, 'exact'),
    }));
    finished = true;
  };
  await shell.perform(where === 'tab' && state.held?.name === set.name ? 'run' : 'keys', work, () => {
    if (where === 'tab') letGo();
  });
  if (finished) {
    shell.say(document.getElementById('outcome')?.textContent ?? '');
    return;
  }
  // If it failed, the run before is better than half of this one.
  Object.assign(state, { rows, journey, standings, ran, seconds, sent });
  shell.draw();
}

/** The set and the place that are chosen. */
function chosen(): Choice | undefined {
  return state.choices?.find((choice) => valueOf(choice) === state.choice);
}

shell.listen({
  run: {
    begin: () => {
      const choice = chosen();
      if (choice) void run(choice);
    },
    sends: () => {
      const choice = chosen();
      return choice?.where === 'server' && !secrets.has(choice.set.name) ? choice.set : undefined;
    },
  },
  choices: {
    set: (value) => {
      state.choice = value;
    },
  },
  letGo,
});

/** Shows a recorded run until the reader has made one; without it the figures wait. */
async function record(): Promise<void> {
  const run = (await (await fetch(recordedUrl)).json()) as RecordedScores;
  if (!state.busy && state.rows.length === 0) Object.assign(state, decode(run));
  shell.draw();
}
record().catch(() => undefined);
findSets().catch(shell.failed);
