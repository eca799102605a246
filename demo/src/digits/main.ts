import '../styles/base.css';
import '../styles/layout.css';
import '../styles/hero.css';
// Not all used here, but what the pages import alike stays in one sheet, in this order.
import '../styles/strip.css';
import '../styles/figures.css';
import '../styles/narrow.css';
import '../styles/digits.css';
import { Refloat, RefloatError, type BootstrapKeys, type Ciphertext, type KeySet, type StageEvent } from 'refloat/client';
import { morph, type Html } from '../html.js';
import recordedUrl from '../recorded/digits.json?url';
import { revealMessages } from '../reveal.js';
import { keptTheme, otherTheme } from '../theme.js';
import { circle, lens } from './circle.js';
import { finish, passesOf, take } from './passes.js';
import { begin, numbersOf, READINGS, readingOf, TABLE, type ReadingName } from './readings.js';
import { decode, type RecordedDigits } from './recorded.js';
import { reached, type Seen, type State } from './state.js';
import { controls, result, story, typed } from './views.js';

const SET = 'toy-msb10';

const state: State = {
  preset: undefined,
  busy: undefined,
  progress: [0, 0],
  problem: undefined,
  keys: undefined,
  reading: 'decimal',
  number: String(READINGS.decimal.number),
  range: 10,
  table: [...TABLE],
  seen: undefined,
  at: 0,
  slot: 0,
  under: undefined,
  tables: new Set(),
};

const library = Refloat.load({ threads: 1 });
let keys: Promise<{ secret: KeySet; boot: BootstrapKeys }> | undefined;
let stop = new AbortController();

function draw(): void {
  const put = (id: string, make: (width: number) => Html): void => {
    const el = document.getElementById(id);
    if (el) morph(el, make(Math.max(280, Math.floor(el.clientWidth))));
  };
  put('digits-controls', () => controls(state));
  put('digits-story', () => story(state));
  put('digits-circle', (width) => circle(state, width));
  put('digits-lens', (width) => lens(state, width));
  put('digits-result', (width) => result(state, width));
}

function say(text: string): void {
  const live = document.getElementById('live');
  if (live) live.textContent = text;
}

/** The keys of this page, made once, with the first use. */
async function madeKeys(signal: AbortSignal): Promise<{ secret: KeySet; boot: BootstrapKeys }> {
  const rf = await library;
  const began = performance.now();
  const secret = await rf.keygen(SET, { allowInsecure: true });
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

async function read(): Promise<void> {
  if (state.busy || !state.preset) return;
  const reading = readingOf(state.reading);
  const number = typed(state.number, reading);
  if (typeof number === 'string') {
    state.problem = number;
    draw();
    return;
  }
  Object.assign(state, { busy: 'keys', problem: undefined, under: undefined });
  stop = new AbortController();
  const { signal } = stop;
  const shown = state.seen;
  draw();
  const used: Ciphertext[] = [];
  try {
    const { secret, boot } = await (keys ??= madeKeys(signal));
    const numbers = numbersOf(number, state.range, reading, state.preset.slots);
    const x = await secret.encrypt(numbers, { signal });
    used.push(x);
    const seen: Seen = { reading: state.reading, table: [...state.table], numbers, passes: passesOf(reading), level: x.level, ms: 0 };
    Object.assign(state, { busy: 'run', seen, at: 0, slot: 0 });
    const run = begin(seen.reading, { boot, x, secret, table: seen.table, signal });
    draw();
    for await (const event of run) note(seen, event);
    const y = await run;
    used.push(y);
    seen.output = await secret.decrypt(y);
    seen.outputLevel = y.level;
    finish(seen.passes, reading, seen.output);
    state.at = reached(state) - 1;
  } catch (error) {
    if (!state.keys) keys = undefined;
    // What was there before is better than half a run.
    if (!state.seen?.output) [state.seen, state.at] = [shown, 0];
    if (!(error instanceof RefloatError && error.code === 'ABORTED')) {
      state.problem = error instanceof Error ? error.message : String(error);
      forget();
    }
  } finally {
    for (const ciphertext of used) ciphertext.free();
    Object.assign(state, { busy: undefined, under: undefined });
    draw();
    if (state.seen?.output && !state.seen.recorded && !state.problem) say(document.getElementById('outcome')?.textContent ?? '');
  }
}

/** Takes in an event of the run; the newest step is shown. */
function note(seen: Seen, event: StageEvent): void {
  if (event.kind === 'enter') state.under = event.stage;
  if (event.kind === 'exit') seen.ms = event.atMs;
  take(seen.passes, event);
  state.at = Math.max(0, reached(state) - 1);
  draw();
}

document.addEventListener('click', (event) => {
  const [act, argument] = (event.target as Element).closest('[data-act]')?.getAttribute('data-act')?.split(':') ?? [];
  if (act === 'theme') otherTheme();
  if (act === 'run') void read();
  if (act === 'cancel') stop.abort(new RefloatError('ABORTED', 'the reader cancelled the run'));
  if (act === 'at') state.at = Math.max(0, Math.min(reached(state) - 1, Number(argument)));
  if (act === 'table' && argument && !state.tables.delete(argument)) state.tables.add(argument);
  if (act) draw();
});
document.addEventListener('input', (event) => {
  if (!(event.target instanceof HTMLInputElement)) return;
  const { value, dataset } = event.target;
  const [what, which] = dataset['input']?.split(':') ?? [];
  if (what === 'number') state.number = value;
  if (what === 'range') state.range = Number(value);
  if (what === 'slot') state.slot = Number(value);
  if (what === 'table') state.table[Number(which)] = Number(value);
  if (what) draw();
});
document.addEventListener('change', (event) => {
  if (!(event.target instanceof HTMLSelectElement) || !(event.target.value in READINGS)) return;
  const name = event.target.value as ReadingName;
  // A number of which the new reading would make nothing is replaced by one of which it does.
  const [reading, number] = [readingOf(name), typed(state.number, readingOf(name))];
  if (typeof number === 'string' || (!reading.whole && Number.isInteger(number))) state.number = String(readingOf(name).number);
  Object.assign(state, { reading: name, problem: undefined });
  draw();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && event.target instanceof HTMLInputElement && event.target.dataset['input'] === 'number') void read();
});
addEventListener('resize', draw);

function failed(error: unknown): void {
  state.problem = error instanceof Error ? error.message : String(error);
  draw();
}

revealMessages('button.primary');
keptTheme();
draw();
fetch(recordedUrl)
  .then(async (response) => {
    const recorded = decode((await response.json()) as RecordedDigits);
    // The reader's own run may have been faster.
    if (state.seen) return;
    Object.assign(state, { seen: recorded, at: 1 });
    draw();
  })
  .catch(failed);
library
  .then(async (rf) => {
    const sets = await rf.loadPresets('ckks-msb');
    state.preset = sets.find((preset) => preset.name === SET);
    if (!state.preset) throw new RefloatError('INVALID_ARGUMENT', `no set is called "${SET}"`);
    draw();
  })
  .catch(failed);
