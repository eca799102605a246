// The style sheets that all pages share come with the shell, before those of this one.
import { Shell, idle, type Freed } from '../shell.js';
import '../styles/conventional.css';
import '../styles/exact.css';
import { Refloat, type IntegerEvent, type IntegerKeySet, type IntegerKeys, type IntegerPreset, type Server } from 'refloat/client';
import { serverAt } from '../contact.js';
import { entered } from '../stage-under-way.js';
import { KeysOnce } from '../keys.js';
import { whileWanted } from '../abortable.js';
import recordedUrl from '../recorded/exact.json?url';
import { titled } from '../views/making.js';
import { powers } from './arithmetic.js';
import { digits, lowDigitHistogram, polynomial, words } from './digits.js';
import { decode, type RecordedRun } from './recorded.js';
import { integersOf, PICTURES, type Picture, type State } from './state.js';
import { controls, result, setLine, stages } from './views.js';

const SET = 'toy-bgv10';
const serverUrl = new URLSearchParams(location.search).get('server') ?? location.origin;

const state: State = {
  preset: undefined,
  removal: undefined,
  offers: [],
  there: undefined,
  ...idle(),
  keys: undefined,
  picture: 'boat',
  input: undefined,
  inputLogQ: 0,
  under: undefined,
  views: [],
  exits: [],
  at: 0,
  slot: 528,
  terms: 1,
  output: undefined,
  square: undefined,
  recorded: undefined,
};

const library = Refloat.load({ threads: 1 });
const keys = new KeysOnce<IntegerKeySet, IntegerKeys>(
  async () => (await library).integers.keygen(SET, { allowInsecure: true }),
  (secret, signal) => secret.evaluationKeys({ signal }),
);
/** Secret keys for the server's sets, and the server object, which remembers what has been sent for them. */
const secrets = new Map<string, IntegerKeySet>();
let server: Server | undefined;
const shell = new Shell(state, {
  'exact-controls': () => controls(state),
  'exact-digits': (width) => digits(state, width),
  'exact-stages': () => stages(state),
  'exact-set': () => setLine(state),
  'exact-comb': (width) => lowDigitHistogram(state, width),
  'exact-words': () => words(state),
  'exact-polynomial': (width) => polynomial(state, width),
  'exact-result': (width) => result(state, width),
});
const progress = (done: number, total: number): void => {
  state.progress = [done, total];
  shell.draw();
};

async function bootstrap(): Promise<void> {
  const { preset, input: integers, there } = state;
  if (!preset || !integers) return;
  await shell.perform(
    'keys',
    async (signal, use) => {
      Object.assign(state, { views: [], exits: [], at: 0, output: undefined, square: undefined, under: undefined, recorded: undefined });
      await (there ? onServer : inTab)(preset, integers, signal, use);
      shell.draw();
      shell.say(document.getElementById('outcome')?.textContent ?? '');
    },
    () => {
      if (!there) letGo();
    },
  );
  state.under = undefined;
  shell.draw();
}

/** Frees the keys of this tab. */
function letGo(): void {
  keys.forget();
  if (!state.there) state.keys = undefined;
}

type Run = (preset: IntegerPreset, integers: Uint32Array, signal: AbortSignal, use: <T extends Freed>(made: T) => T) => Promise<void>;

const inTab: Run = async (preset, integers, signal, use) => {
  const { secret, evaluation, made } = await keys.of(signal, progress);
  Object.assign(state, { keys: made, busy: 'run' });
  const input = use(await whileWanted(signal, secret.encrypt(integers, { level: preset.inputLevel })));
  state.inputLogQ = input.logQ;
  const output = use(await shell.watch(evaluation.bootstrap(input, { inspect: secret, signal }), note));
  state.output = await whileWanted(signal, secret.decrypt(output));
  const square = use(await whileWanted(signal, evaluation.multiply(output, output)));
  state.square = await whileWanted(signal, secret.decrypt(square));
  if (state.removal) state.terms = powers(state.removal).length;
};

/** A run at full size on the server, which is sent the evaluation keys and a ciphertext, and sees neither digits nor integers. */
const onServer: Run = async (preset, integers, signal, use) => {
  const rf = await library;
  server ??= serverAt(rf, serverUrl, shell.contact);
  const began = performance.now();
  const secret = secrets.get(preset.name) ?? (await whileWanted(signal, rf.integers.keygen(preset.name, { allowInsecure: !preset.secure })));
  secrets.set(preset.name, secret);
  for await (const event of server.uploadKeys(secret, { signal })) progress(event.bytes, event.totalBytes);
  state.keys = { seconds: (performance.now() - began) / 1000, megabytes: preset.keyBytes / 1e6 };
  state.busy = 'run';
  const input = use(await whileWanted(signal, secret.encrypt(integers, { level: preset.inputLevel })));
  state.inputLogQ = input.logQ;
  const nothing = new Int32Array(integers.length);
  note({ kind: 'view', stage: 'input', atMs: 0, place: 'slots', low: nothing, high: integers });
  shell.draw();
  const job = server.integers(input, { op: ['bootstrap'], keys: secret, signal });
  for await (const event of job) {
    if (event.kind !== 'enter' && event.kind !== 'exit') continue;
    note(event);
    shell.draw();
  }
  const output = use(await job);
  state.output = await whileWanted(signal, secret.decrypt(output));
  const last = preset.stages.at(-1)?.id as IntegerEvent['stage'];
  state.views = Array.from({ length: preset.stages.length + 1 }, (_, i) => (i === 0 ? state.views[0] : undefined));
  state.views = [...state.views.slice(0, -1), { kind: 'view', stage: last, atMs: 0, place: 'slots', low: nothing, high: state.output }];
  state.at = preset.stages.length;
};

/** Takes in an event of the run; the newest stage is shown. */
function note(event: IntegerEvent): void {
  if (event.kind === 'enter') entered(state, event.stage, shell);
  if (event.kind === 'exit') state.exits = [...state.exits, event];
  if (event.kind === 'view') {
    state.views = [...state.views, event];
    state.at = state.views.length - 1;
  }
}

/** Shows a recorded run until the reader has made one, at the stage where both digits are in the slots. */
async function record(): Promise<void> {
  const run = (await (await fetch(recordedUrl)).json()) as RecordedRun;
  Object.assign(state, decode(run), { recorded: run.made });
  state.at = state.views.findIndex((view) => view?.stage === 'coeffs_to_slots');
}

/** Reads the integers of a picture, and drops the run of the picture before. */
async function choose(picture: Picture): Promise<void> {
  if (!state.preset) return;
  Object.assign(state, { problem: undefined, picture, input: undefined, views: [], exits: [], at: 0, output: undefined, square: undefined, recorded: undefined });
  const input = await integersOf(picture, state.preset);
  if (state.picture === picture) state.input = input;
  shell.draw();
}

/** Switches to a set of the server, or back to the tab's. */
async function goTo(there: string | undefined): Promise<void> {
  if (state.busy) return;
  state.busy = 'set';
  shell.draw();
  try {
    const rf = await library;
    const name = there ?? SET;
    const [found, removal] = await Promise.all([rf.integers.params(name), rf.integers.removal(name)]);
    const preset = titled(found);
    const made = there ? undefined : await keys.made();
    Object.assign(state, { there, preset, removal, keys: made, problem: undefined, terms: powers(removal).length, slot: Math.floor(preset.slots / 2) + 16 });
    await choose(state.picture);
  } finally {
    state.busy = undefined;
    shell.draw();
  }
}

/** The server's integer sets, if one answers: those with one integer per slot and one digit below it, as the page draws them. */
async function findServer(): Promise<void> {
  const rf = await library;
  const offer = await rf.server(serverUrl, { retry: { attempts: 1 } }).params().catch(() => undefined);
  const names = offer?.sets.filter((set) => set.scheme === 'bgv').map((set) => set.name) ?? [];
  const sets = await Promise.all(names.map((name) => rf.integers.params(name).catch(() => undefined)));
  const drawn = sets.filter((set) => set !== undefined && set.modulus === state.preset?.modulus && set.slotDegree === 1);
  state.offers = drawn.map((set) => set?.name ?? '');
  shell.draw();
}

shell.listen({
  run: {
    begin: () => void bootstrap(),
    sends: () => (state.there && state.preset && !secrets.has(state.preset.name) ? state.preset : undefined),
  },
  acts: {
    at: (view) => {
      state.at = Number(view);
    },
  },
  inputs: {
    slot: (value) => {
      state.slot = Number(value);
    },
    terms: (value) => {
      state.terms = Number(value);
    },
  },
  choices: {
    there: (value) => void goTo(value || undefined).catch(shell.failed),
    picture: (value) => {
      if (value in PICTURES) choose(value as Picture).catch(shell.failed);
    },
  },
  letGo,
});
library
  .then(async (rf) => {
    const [found, removal] = await Promise.all([rf.integers.params(SET), rf.integers.removal(SET)]);
    Object.assign(state, { preset: titled(found), removal });
    state.terms = powers(removal).length;
    // The boat, as recorded; without the recording, its integers.
    await record().catch(() => choose(state.picture));
    shell.draw();
    await findServer();
  })
  .catch(shell.failed);
