// The style sheets that all pages share come with the shell, before those of this one.
import { Shell, idle } from '../shell.js';
import '../styles/choices.css';
import '../styles/digits.css';
import { Refloat, RefloatError, type BootstrapKeys, type KeySet, type StageEvent } from 'refloat/client';
import { KeysOnce } from '../keys.js';
import { whileWanted } from '../abortable.js';
import recordedUrl from '../recorded/digits.json?url';
import { circle, lens } from './circle.js';
import { finish, passesOf, seenIn, take } from './passes.js';
import { begin, levelsBefore, numbersOf, READINGS, readingOf, TABLE, type ReadingName } from './readings.js';
import { decode, type RecordedDigits } from './recorded.js';
import { reached, type Seen, type State } from './state.js';
import { controls, result, story, typed } from './views.js';

const SET = 'toy-msb10';

const state: State = {
  preset: undefined,
  ...idle(),
  keys: undefined,
  reading: 'decimal',
  number: String(READINGS.decimal.number),
  range: 10,
  table: [...TABLE],
  seen: undefined,
  awaited: false,
  at: 0,
  slot: 0,
  under: undefined,
};

const library = Refloat.load({ threads: 1 });
const keys = new KeysOnce<KeySet, BootstrapKeys>(
  async () => (await library).keygen(SET, { allowInsecure: true }),
  (secret, signal) => secret.bootstrapKeys({ signal }),
);
const shell = new Shell(state, {
  'digits-controls': () => controls(state),
  'digits-story': () => story(state),
  'digits-circle': (width) => circle(state, width),
  'digits-lens': (width) => lens(state, width),
  'digits-result': (width) => result(state, width),
});

async function read(): Promise<void> {
  const { preset, seen: shown } = state;
  if (state.busy || !preset) return;
  const reading = readingOf(state.reading);
  const number = typed(state.number, reading);
  if (typeof number === 'string') {
    shell.failed(number);
    return;
  }
  let finished: Seen | undefined;
  await shell.perform(
    'keys',
    async (signal, use) => {
      Object.assign(state, { under: undefined, awaited: true });
      const { secret, evaluation: boot, made } = await keys.of(signal, (...progress) => {
        state.progress = progress;
        shell.draw();
      });
      state.keys = made;
      const numbers = numbersOf(number, state.range, reading, preset.slots);
      const x = use(await whileWanted(signal, secret.encrypt(numbers, { level: preset.inputLevel + levelsBefore(reading) })));
      const seen: Seen = { reading: state.reading, table: [...state.table], numbers, passes: passesOf(reading), level: x.level, ms: 0 };
      state.busy = 'run';
      const y = use(await shell.watch(begin(seen.reading, { boot, x, secret, table: seen.table, signal }), (event) => note(seen, event)));
      seen.output = await whileWanted(signal, secret.decrypt(y));
      seen.outputLevel = y.level;
      finish(seen.passes, reading, seen.output);
      state.at = reached(state) - 1;
      finished = seen;
    },
    letGo,
  );
  Object.assign(state, { under: undefined, awaited: false });
  // If it failed, the run before is better than half of this one.
  if (!state.seen?.output) [state.seen, state.at] = [shown, 0];
  shell.draw();
  if (finished) shell.say(document.getElementById('outcome')?.textContent ?? '');
}

/** Frees the keys. */
function letGo(): void {
  keys.forget();
  state.keys = undefined;
}

/** Takes in an event of the run; shows the newest step, and the first one replaces the previous run. */
function note(seen: Seen, event: StageEvent): void {
  if (event.kind === 'enter') state.under = event.stage;
  if (event.kind === 'exit') seen.ms = event.atMs;
  take(seen.passes, event);
  if (seenIn(seen.passes) === 0) return;
  if (state.awaited) Object.assign(state, { seen, awaited: false, slot: 0 });
  state.at = Math.max(0, reached(state) - 1);
}

/** Chooses another reading, and replaces a number that it cannot use by its own example. */
function choose(name: ReadingName): void {
  const [reading, number] = [readingOf(name), typed(state.number, readingOf(name))];
  if (typeof number === 'string' || (!reading.whole && Number.isInteger(number))) state.number = String(reading.number);
  Object.assign(state, { reading: name, problem: undefined });
}

shell.listen({
  run: { begin: () => void read() },
  acts: {
    at: (step) => {
      state.at = Math.max(0, Math.min(reached(state) - 1, Number(step)));
    },
  },
  inputs: {
    number: (value) => {
      state.number = value;
    },
    range: (value) => {
      state.range = Number(value);
    },
    slot: (value) => {
      state.slot = Number(value);
    },
    table: (value, which) => {
      state.table[Number(which)] = Number(value);
    },
  },
  choices: {
    reading: (value) => {
      if (value in READINGS) choose(value as ReadingName);
    },
  },
  letGo,
});
/** The run's button. It gets the focus, because Cancel takes over the button's focus while a run lasts, but not the field's. */
function runButton(): HTMLButtonElement | null {
  const button = document.querySelector<HTMLButtonElement>('[data-act=run]:enabled');
  button?.focus();
  return button;
}

document.addEventListener('keydown', ({ key, target }) => {
  if (key === 'Enter' && target instanceof HTMLInputElement && target.dataset['input'] === 'number') runButton()?.click();
});
fetch(recordedUrl)
  .then(async (response) => {
    const recorded = decode((await response.json()) as RecordedDigits);
    // The reader's own run may have been faster.
    if (state.seen) return;
    Object.assign(state, { seen: recorded, at: 1 });
    shell.draw();
  })
  .catch(shell.failed);
library
  .then(async (rf) => {
    const sets = await rf.loadPresets('ckks-msb');
    state.preset = sets.find((preset) => preset.name === SET);
    if (!state.preset) throw new RefloatError('INVALID_ARGUMENT', `no set is called "${SET}"`);
    shell.draw();
  })
  .catch(shell.failed);
