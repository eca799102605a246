// The style sheets that all pages share come with the shell, before those of this one.
import { Shell, idle } from '../shell.js';
import '../styles/conventional.css';
import '../styles/choices.css';
import '../styles/digits.css';
import '../styles/triage.css';
import { Refloat, type Ciphertext, type KeySet, type Server, type ServerPreset } from 'refloat/client';
import dataUrl from '../../../core/examples/data/breast-cancer-wisconsin.csv?url';
import { serverAt } from '../contact.js';
import { patients, trained } from '../patients/model.js';
import recordedUrl from '../recorded/triage.json?url';
import { ask, METHOD, sceneOf } from './ask.js';
import { dial } from './dial.js';
import { QUESTIONS, type QuestionName } from './questions.js';
import { decode, type RecordedAnswers } from './recorded.js';
import { begun, chosen, refusal, take, type State } from './state.js';
import { ranksAndFlags, triangle } from './triangle.js';
import { controls, heading, lead, names, result, setting, shown, story } from './views.js';

const query = new URLSearchParams(location.search);
const serverUrl = query.get('server') ?? location.origin;
const wanted = query.get('set') ?? 'toy-link';

const { train, test } = patients(await (await fetch(dataUrl)).text());
const scene = sceneOf(trained(train), train, test);
const state: State = {
  sets: undefined,
  set: wanted,
  question: 'urgent',
  ...idle(),
  chosen: scene.patients.map(() => true),
  patient: 2,
  answers: {},
  run: begun(),
  marked: 0,
};

const library = Refloat.load({ threads: 1 });
const keySets = new Map<string, KeySet>();
/** The server object; it remembers what has been made of the keys, so that an upload resumes at once. */
let remote: Server | undefined;
const shell = new Shell(state, {
  headline: () => heading(state),
  lead: () => lead(state),
  'triage-controls': () => controls(state),
  'triage-story': () => story(state),
  'triage-dial': (width) => dial(state, shown(state), width),
  'triage-triangle': (width) => triangle(state, names(state), shown(state), state.busy === 'run' ? state.run : undefined, width),
  'triage-ranks': (width) => ranksAndFlags(state, shown(state), width),
  'triage-result': () => result(state),
  'triage-set': () => setting(state),
});

/** Finds the server's sets that can compare. */
async function findServer(): Promise<void> {
  const rf = await library;
  await rf.loadPresets(METHOD);
  const server = rf.server(serverUrl, { retry: { attempts: 1 } });
  const offer = await server.params({ parts: true }).catch(() => undefined);
  state.sets = offer?.sets.filter((set) => set.method === METHOD) ?? [];
  // If the requested set is missing: the one with the smallest keys.
  const smallest = [...state.sets].sort((a, b) => a.keyBytes - b.keyBytes)[0];
  if (!state.sets.some((set) => set.name === state.set)) state.set = smallest?.name ?? '';
  shell.draw();
}

async function run(set: ServerPreset): Promise<void> {
  if (refusal(state)) return;
  const { question } = state;
  let finished = false;
  await shell.perform('keys', async (signal, use) => {
    Object.assign(state, { progress: [0, 0], run: begun() });
    const rf = await library;
    remote ??= serverAt(rf, serverUrl, shell.contact);
    const keys = keySets.get(set.name) ?? (await rf.keygen(set.name, { allowInsecure: !set.secure, signal }));
    keySets.set(set.name, keys);
    for await (const event of remote.uploadKeys(keys, { signal })) {
      state.progress = [event.bytes, event.totalBytes];
      shell.draw();
    }
    state.busy = 'run';
    shell.draw();
    const who = question === 'urgent' ? chosen(state) : [state.patient];
    const answer = await ask(scene, question, who, { server: remote, keys, set, signal, use: (ciphertext: Ciphertext) => use(ciphertext) }, (event) => {
      take(state.run, event);
      shell.draw();
    });
    state.answers[question] = answer;
    state.marked = mostOf(answer.entries);
    finished = true;
  });
  if (finished) shell.say(document.getElementById('outcome')?.textContent ?? '');
}

/** The index of the entry with the highest rank. */
function mostOf(entries: readonly { readonly rank: number }[]): number {
  return entries.reduce((most, { rank }, i) => (rank > (entries[most]?.rank ?? 0) ? i : most), 0);
}

/** The set that is chosen. */
function chosenSet(): ServerPreset | undefined {
  return state.sets?.find(({ name }) => name === state.set);
}

shell.listen({
  run: {
    begin: () => {
      const set = chosenSet();
      if (set) void run(set);
    },
    sends: () => {
      const set = chosenSet();
      return set && !keySets.has(set.name) ? set : undefined;
    },
  },
  acts: {
    ask: (name) => {
      if (!(name in QUESTIONS) || state.busy) return;
      state.question = name as QuestionName;
      state.marked = mostOf(state.answers[state.question]?.entries ?? []);
      state.problem = undefined;
    },
    tick: (which) => {
      const i = Number(which);
      state.chosen[i] = !state.chosen[i];
    },
  },
  inputs: {
    marked: (value) => {
      state.marked = Number(value);
    },
  },
  choices: {
    set: (value) => {
      state.set = value;
    },
    patient: (value) => {
      state.patient = Number(value);
    },
  },
});

/** Shows recorded answers until the reader has asked; without them the figures wait. */
async function record(): Promise<void> {
  const recorded = decode((await (await fetch(recordedUrl)).json()) as RecordedAnswers);
  for (const answer of recorded) state.answers[answer.question] ??= answer;
  if (!state.busy) state.marked = mostOf(state.answers[state.question]?.entries ?? []);
  shell.draw();
}
record().catch(() => undefined);
findServer().catch(shell.failed);
