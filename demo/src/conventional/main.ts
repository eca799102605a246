import '../styles/base.css';
import '../styles/layout.css';
import '../styles/hero.css';
// Not all used here, but what the pages import alike stays in one sheet, in this order.
import '../styles/strip.css';
import '../styles/figures.css';
import '../styles/narrow.css';
import '../styles/conventional.css';
import { Refloat, RefloatError, type BootstrapKeys, type Ciphertext, type KeySet, type StageEvent, type SteppableRun } from 'refloat/client';
import { morph, type Html } from '../html.js';
import { revealMessages } from '../reveal.js';
import { keptTheme, otherTheme } from '../theme.js';
import { comb, polynomial } from './comb.js';
import { CURVE, MESSAGES, near, numbersOf, viewOf, type MessageKind, type State } from './state.js';
import { subSum } from './sub-sum.js';
import { controls, result, stages, words } from './views.js';

// `?set=toy-conventional10-50bit` is for tests, which have less time.
const set = new URLSearchParams(location.search).get('set') ?? 'toy-conventional11';

const state: State = {
  preset: undefined,
  busy: undefined,
  paused: false,
  progress: [0, 0],
  problem: undefined,
  keys: undefined,
  message: 'chirp',
  input: undefined,
  inputLogQ: 0,
  under: undefined,
  views: [],
  exits: [],
  at: 0,
  output: undefined,
  zoom: 0,
  degree: 0,
  own: undefined,
  drawn: undefined,
  atPoints: undefined,
  tables: new Set(),
};

const library = Refloat.load({ threads: 1 });
let keys: Promise<{ secret: KeySet; boot: BootstrapKeys }> | undefined;
let run: SteppableRun<Ciphertext, StageEvent> | undefined;
let stop = new AbortController();

function draw(): void {
  const put = (id: string, make: (width: number) => Html): void => {
    const el = document.getElementById(id);
    if (el) morph(el, make(Math.max(280, Math.floor(el.clientWidth))));
  };
  put('conv-controls', () => controls(state));
  put('conv-stages', () => stages(state));
  put('conv-sub-sum', (width) => subSum(state, width));
  put('conv-comb', (width) => comb(state, width));
  put('conv-words', () => words(state));
  put('conv-polynomial', (width) => polynomial(state, width));
  put('conv-result', (width) => result(state, width));
}

function say(text: string): void {
  const live = document.getElementById('live');
  if (live) live.textContent = text;
}

/** The keys of this page, made once, with the first use. */
async function madeKeys(signal: AbortSignal): Promise<{ secret: KeySet; boot: BootstrapKeys }> {
  const rf = await library;
  const began = performance.now();
  const secret = await rf.keygen(set, { allowInsecure: set.startsWith('toy-') });
  try {
    const making = secret.bootstrapKeys({ signal });
    for await (const event of making) {
      state.progress = [event.bytes, event.totalBytes];
      draw();
    }
    const boot = await making;
    state.keys = { seconds: (performance.now() - began) / 1000, megabytes: boot.memoryBytes / 1e6 };
    return { secret, boot };
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
    ({ secret, boot }) => {
      boot.free();
      secret.free();
    },
    () => undefined, // They were never made.
  );
}

async function bootstrap(): Promise<void> {
  if (state.busy || !state.preset) return;
  Object.assign(state, { busy: 'keys', paused: false, problem: undefined, views: [], exits: [], at: 0, output: undefined, under: undefined, atPoints: undefined });
  state.input = numbersOf(state.message, state.preset.slots);
  stop = new AbortController();
  draw();
  const used: Ciphertext[] = [];
  try {
    const { secret, boot } = await (keys ??= madeKeys(stop.signal));
    state.busy = 'run';
    const input = await secret.encrypt(state.input, { level: state.preset.inputLevel });
    used.push(input);
    state.inputLogQ = input.logQ;
    run = secret.bootstrap(input, boot, { inspect: { message: state.input }, signal: stop.signal });
    draw();
    for await (const event of run) note(event);
    const output = await run;
    used.push(output);
    state.output = await secret.decrypt(output);
    await evaluate();
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
function note(event: StageEvent): void {
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

/** The polynomial of the chosen degree: the curve, and its values at the coefficients of the run. */
async function evaluate(): Promise<void> {
  const { degree, zoom } = state;
  const points = viewOf(state, 'coeffs_to_slots')?.data ?? new Float64Array();
  const curve = [...CURVE, ...near(zoom), ...points];
  // Another degree than the set's own is for cosines alone.
  const other = state.own && degree !== state.own.degree ? { degree } : {};
  const drawn = await (await library).reduction(set, curve, other);
  if (degree !== state.degree || zoom !== state.zoom) return;
  state.drawn = drawn;
  if (!state.own) [state.own, state.degree] = [drawn, drawn.degree];
  state.atPoints = points.length > 0 ? drawn.values.slice(CURVE.length + near(zoom).length) : undefined;
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
  if (what === 'zoom') state.zoom = Number(event.target.value);
  if (what === 'degree') state.degree = Number(event.target.value);
  if (what === 'zoom' || what === 'degree') evaluate().catch(failed);
});
document.addEventListener('change', (event) => {
  if (!(event.target instanceof HTMLSelectElement) || !(event.target.value in MESSAGES)) return;
  state.message = event.target.value as MessageKind;
  draw();
});
addEventListener('resize', draw);

revealMessages('button.primary');
keptTheme();
draw();
library
  .then(async (rf) => {
    const sets = await rf.loadPresets('ckks-conventional');
    state.preset = sets.find((preset) => preset.name === set);
    if (!state.preset) throw new RefloatError('INVALID_ARGUMENT', `no conventional set is called "${set}"`);
    draw();
    await evaluate();
  })
  .catch(failed);
