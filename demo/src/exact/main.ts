import '../styles/base.css';
import '../styles/layout.css';
import '../styles/hero.css';
// Not all used here, but what the pages import alike stays in one sheet, in this order.
import '../styles/strip.css';
import '../styles/figures.css';
import '../styles/narrow.css';
import '../styles/conventional.css';
import '../styles/exact.css';
import { Refloat, RefloatError, type IntegerCiphertext, type IntegerEvent, type IntegerKeySet, type IntegerKeys, type IntegerPreset, type Server, type SteppableRun } from 'refloat/client';
import { morph, type Html } from '../html.js';
import { revealMessages } from '../reveal.js';
import { keptTheme, otherTheme } from '../theme.js';
import recordedUrl from '../recorded/exact.json?url';
import { powers } from './arithmetic.js';
import { comb, digits, polynomial, words } from './digits.js';
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
  busy: undefined,
  paused: false,
  progress: [0, 0],
  problem: undefined,
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
  tables: new Set(),
};

interface Keys {
  readonly secret: IntegerKeySet;
  readonly evaluation: IntegerKeys;
  /** What making them took. */
  readonly made: NonNullable<State['keys']>;
}

const library = Refloat.load({ threads: 1 });
let keys: Promise<Keys> | undefined;
/** Secret keys of sets of the server, and the server, which remembers what it was sent of them. */
const secrets = new Map<string, IntegerKeySet>();
let server: Server | undefined;
let run: SteppableRun<IntegerCiphertext, IntegerEvent> | undefined;
let stop = new AbortController();

function draw(): void {
  const put = (id: string, make: (width: number) => Html): void => {
    const el = document.getElementById(id);
    if (el) morph(el, make(Math.max(280, Math.floor(el.clientWidth))));
  };
  put('exact-controls', () => controls(state));
  put('exact-digits', (width) => digits(state, width));
  put('exact-stages', () => stages(state));
  put('exact-set', () => setLine(state));
  put('exact-comb', (width) => comb(state, width));
  put('exact-words', () => words(state));
  put('exact-polynomial', (width) => polynomial(state, width));
  put('exact-result', (width) => result(state, width));
}

function say(text: string): void {
  const live = document.getElementById('live');
  if (live) live.textContent = text;
}

/** The keys of this page, made once, with the first use. */
async function madeKeys(signal: AbortSignal): Promise<Keys> {
  const rf = await library;
  const began = performance.now();
  const secret = await rf.integers.keygen(SET, { allowInsecure: true });
  try {
    const making = secret.evaluationKeys({ signal });
    for await (const event of making) {
      state.progress = [event.bytes, event.totalBytes];
      draw();
    }
    const evaluation = await making;
    return { secret, evaluation, made: { seconds: (performance.now() - began) / 1000, megabytes: evaluation.memoryBytes / 1e6 } };
  } catch (error) {
    secret.free();
    throw error;
  }
}

/** Frees the keys: the next run makes others. */
function forget(): void {
  const old = keys;
  [keys, state.keys] = [undefined, undefined];
  void old?.then(
    ({ secret, evaluation }) => {
      evaluation.free();
      secret.free();
    },
    () => undefined, // They were never made.
  );
}

async function bootstrap(): Promise<void> {
  const { preset, input: integers } = state;
  if (state.busy || !preset || !integers) return;
  Object.assign(state, { busy: 'keys', paused: false, problem: undefined, views: [], exits: [], at: 0, output: undefined, square: undefined, under: undefined, recorded: undefined });
  stop = new AbortController();
  draw();
  const used: IntegerCiphertext[] = [];
  try {
    if (state.there) {
      await onServer(preset, integers, used);
      say(document.getElementById('outcome')?.textContent ?? '');
      return;
    }
    const making = (keys ??= madeKeys(stop.signal));
    // What was not made can be tried again.
    making.catch(() => keys === making && (keys = undefined));
    const { secret, evaluation, made } = await making;
    state.keys = made;
    state.busy = 'run';
    const input = await secret.encrypt(integers, { level: preset.inputLevel });
    used.push(input);
    state.inputLogQ = input.logQ;
    run = evaluation.bootstrap(input, { inspect: secret, signal: stop.signal });
    draw();
    for await (const event of run) note(event);
    const output = await run;
    used.push(output);
    state.output = await secret.decrypt(output);
    const square = await evaluation.multiply(output, output);
    used.push(square);
    state.square = await secret.decrypt(square);
    if (state.removal) state.terms = powers(state.removal).length;
    draw();
    say(document.getElementById('outcome')?.textContent ?? '');
  } catch (error) {
    if (!(error instanceof RefloatError && error.code === 'ABORTED')) {
      state.problem = error instanceof Error ? error.message : String(error);
      if (!state.there) forget();
    }
  } finally {
    for (const ciphertext of used) ciphertext.free();
    run = undefined;
    state.busy = undefined;
    state.under = undefined;
    draw();
  }
}

/** The same at full size on the server, which is sent the evaluation keys and a ciphertext, and sees neither digits nor integers. */
async function onServer(preset: IntegerPreset, integers: Uint32Array, used: IntegerCiphertext[]): Promise<void> {
  const rf = await library;
  const { signal } = stop;
  server ??= rf.server(serverUrl);
  const began = performance.now();
  const secret = secrets.get(preset.name) ?? (await rf.integers.keygen(preset.name, { allowInsecure: !preset.secure }));
  secrets.set(preset.name, secret);
  for await (const event of server.uploadKeys(secret, { signal })) {
    state.progress = [event.bytes, event.totalBytes];
    draw();
  }
  state.keys = { seconds: (performance.now() - began) / 1000, megabytes: preset.keyBytes / 1e6 };
  state.busy = 'run';
  const input = await secret.encrypt(integers, { level: preset.inputLevel });
  used.push(input);
  state.inputLogQ = input.logQ;
  const nothing = new Int32Array(integers.length);
  note({ kind: 'view', stage: 'input', atMs: 0, place: 'slots', low: nothing, high: integers });
  const job = server.integers(input, { op: ['bootstrap'], keys: secret, signal });
  for await (const event of job) if (event.kind === 'enter' || event.kind === 'exit') note(event);
  const output = await job;
  used.push(output);
  state.output = await secret.decrypt(output);
  const last = preset.stages.at(-1)?.id as IntegerEvent['stage'];
  state.views = Array.from({ length: preset.stages.length + 1 }, (_, i) => (i === 0 ? state.views[0] : undefined));
  state.views = [...state.views.slice(0, -1), { kind: 'view', stage: last, atMs: 0, place: 'slots', low: nothing, high: state.output }];
  state.at = preset.stages.length;
  draw();
}

/** Takes in an event of the run; the newest stage is shown. */
function note(event: IntegerEvent): void {
  if (event.kind === 'enter') {
    state.under = event.stage;
    say(state.preset?.stages.find((stage) => stage.id === event.stage)?.title ?? event.stage);
  }
  if (event.kind === 'exit') state.exits = [...state.exits, event];
  if (event.kind === 'view') {
    state.views = [...state.views, event];
    state.at = state.views.length - 1;
  }
  draw();
}

/** Shows a recorded run until the reader has made one, at the stage where both digits are in the slots. */
async function record(): Promise<void> {
  const run = (await (await fetch(recordedUrl)).json()) as RecordedRun;
  Object.assign(state, decode(run), { recorded: run.made });
  state.at = state.views.findIndex((view) => view?.stage === 'coeffs_to_slots');
}

/** Reads the integers of a picture; the run before was of another. */
async function choose(picture: Picture): Promise<void> {
  if (!state.preset) return;
  Object.assign(state, { problem: undefined, picture, input: undefined, views: [], exits: [], at: 0, output: undefined, square: undefined, recorded: undefined });
  const input = await integersOf(picture, state.preset);
  if (state.picture === picture) state.input = input;
  draw();
}

/** Switches to a set of the server, or back to the tab's. */
async function goTo(there: string | undefined): Promise<void> {
  if (state.busy) return;
  state.busy = 'set';
  draw();
  try {
    const rf = await library;
    const name = there ?? SET;
    const [preset, removal] = await Promise.all([rf.integers.params(name), rf.integers.removal(name)]);
    const made = there ? undefined : (await keys?.catch(() => undefined))?.made;
    Object.assign(state, { there, preset, removal, keys: made, problem: undefined, terms: powers(removal).length, slot: Math.floor(preset.slots / 2) + 16 });
    await choose(state.picture);
  } finally {
    state.busy = undefined;
    draw();
  }
}

/** The sets of integers that the server has, if one answers: those of one digit below the message, which the page is about. */
async function findServer(): Promise<void> {
  const rf = await library;
  const offer = await rf.server(serverUrl, { retry: { attempts: 1 } }).params().catch(() => undefined);
  const names = offer?.sets.filter((set) => set.scheme === 'bgv').map((set) => set.name) ?? [];
  const sets = await Promise.all(names.map((name) => rf.integers.params(name).catch(() => undefined)));
  state.offers = sets.filter((set) => set !== undefined && set.modulus === state.preset?.modulus).map((set) => set?.name ?? '');
  draw();
}

function failed(error: unknown): void {
  state.problem = error instanceof Error ? error.message : String(error);
  draw();
}

document.addEventListener('click', (event) => {
  const [act, argument] = (event.target as Element).closest('[data-act]')?.getAttribute('data-act')?.split(':') ?? [];
  if (act === 'theme') otherTheme();
  if (act === 'run') void bootstrap();
  if (act === 'cancel') stop.abort(new RefloatError('ABORTED', 'the reader cancelled the run'));
  if (act === 'pause') run?.pause();
  if (act === 'resume') run?.resume();
  if (act === 'step') void run?.step().catch(() => undefined); // What ends the run is shown by it.
  if (act === 'pause' || act === 'step') state.paused = true;
  if (act === 'resume') state.paused = false;
  if (act === 'at') state.at = Number(argument);
  if (act === 'table' && argument && !state.tables.delete(argument)) state.tables.add(argument);
  if (act) draw();
});
document.addEventListener('input', (event) => {
  if (!(event.target instanceof HTMLInputElement)) return;
  const what = event.target.dataset['input'];
  if (what === 'slot') state.slot = Number(event.target.value);
  if (what === 'terms') state.terms = Number(event.target.value);
  if (what) draw();
});
document.addEventListener('change', (event) => {
  if (!(event.target instanceof HTMLSelectElement)) return;
  const { value } = event.target;
  if (event.target.dataset['input'] === 'there') goTo(value || undefined).catch(failed);
  else if (value in PICTURES) choose(value as Picture).catch(failed);
});
addEventListener('resize', draw);

revealMessages('button.primary');
keptTheme();
draw();
library
  .then(async (rf) => {
    [state.preset, state.removal] = await Promise.all([rf.integers.params(SET), rf.integers.removal(SET)]);
    state.terms = powers(state.removal).length;
    // The boat, as it was recorded; without the recording the figures wait for the reader.
    await record().catch(() => choose(state.picture));
    draw();
    await findServer();
  })
  .catch(failed);
