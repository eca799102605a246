import '../styles/base.css';
import '../styles/layout.css';
import '../styles/hero.css';
// Not all used here, but what the pages import alike stays in one sheet, in this order.
import '../styles/strip.css';
import '../styles/figures.css';
import '../styles/narrow.css';
import '../styles/conventional.css';
import '../styles/exact.css';
import { Refloat, RefloatError, type IntegerCiphertext, type IntegerEvent, type IntegerKeySet, type IntegerKeys, type SteppableRun } from 'refloat/client';
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

const state: State = {
  preset: undefined,
  removal: undefined,
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
}

const library = Refloat.load({ threads: 1 });
let keys: Promise<Keys> | undefined;
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
    state.keys = { seconds: (performance.now() - began) / 1000, megabytes: evaluation.memoryBytes / 1e6 };
    return { secret, evaluation };
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
    const { secret, evaluation } = await (keys ??= madeKeys(stop.signal));
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
    if (!state.keys) keys = undefined;
    if (!(error instanceof RefloatError && error.code === 'ABORTED')) {
      state.problem = error instanceof Error ? error.message : String(error);
      forget();
    }
  } finally {
    for (const ciphertext of used) ciphertext.free();
    run = undefined;
    state.busy = undefined;
    state.under = undefined;
    draw();
  }
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
  state.at = state.views.findIndex((view) => view.stage === 'coeffs_to_slots');
}

/** Reads the integers of a picture; the run before was of another. */
async function choose(picture: Picture): Promise<void> {
  if (!state.preset) return;
  Object.assign(state, { picture, views: [], exits: [], at: 0, output: undefined, square: undefined, recorded: undefined });
  const input = await integersOf(picture, state.preset);
  if (state.picture === picture) state.input = input;
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
  if (!(event.target instanceof HTMLSelectElement) || !(event.target.value in PICTURES)) return;
  choose(event.target.value as Picture).catch(failed);
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
  })
  .catch(failed);
