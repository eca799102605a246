// The style sheets that all pages share come with the shell, before those of this one.
import { Shell, idle } from '../shell.js';
import '../styles/conventional.css';
import { Refloat, RefloatError, type BootstrapKeys, type KeySet, type StageEvent, type StageExit, type StageView } from 'refloat/client';
import { entered } from '../stage-under-way.js';
import { KeysOnce } from '../keys.js';
import { whileWanted } from '../abortable.js';
import recordedUrl from '../recorded/conventional.json?url';
import { recordedBy, titled } from '../views/making.js';
import { comb, polynomial } from './comb.js';
import { fullSize } from './full-size.js';
import { dragged, FIRST, keyed, mine, PLACES, type Handle } from './own-coefficient.js';
import { decode } from './recorded.js';
import { CURVE, MESSAGES, near, numbersOf, viewOf, type MessageKind, type State } from './state.js';
import { story } from './story.js';
import { subSum } from './sub-sum.js';
import { controls, result, setLine, stages, words } from './views.js';

// `?set=toy-conventional10-50bit` is for tests, which have less time.
const set = new URLSearchParams(location.search).get('set') ?? 'toy-conventional11';

const state: State = {
  preset: undefined,
  ...idle(),
  keys: undefined,
  message: 'chirp',
  input: undefined,
  inputLogQ: 0,
  recorded: undefined,
  under: undefined,
  views: [],
  exits: [],
  awaited: false,
  at: 0,
  output: undefined,
  mine: FIRST,
  zoom: 0,
  degree: 0,
  own: undefined,
  drawn: undefined,
  atPoints: undefined,
};

const library = Refloat.load({ threads: 1 });
const keys = new KeysOnce<KeySet, BootstrapKeys>(
  async () => (await library).keygen(set, { allowInsecure: set.startsWith('toy-') }),
  (secret, signal) => secret.bootstrapKeys({ signal }),
);
const shell = new Shell(state, {
  'conv-controls': () => controls(state),
  'conv-recorded': () => recordedBy(state.recorded, state.busy),
  'conv-story': () => story(state),
  'conv-stages': () => stages(state),
  'conv-full': (width) => fullSize(state, width),
  'conv-set': () => setLine(state),
  'conv-sub-sum': (width) => subSum(state, width),
  'conv-comb': (width) => comb(state, width),
  'conv-mine': (width) => mine(state, width),
  'conv-words': () => words(state),
  'conv-polynomial': (width) => polynomial(state, width),
  'conv-result': (width) => result(state, width),
});

function bootstrap(): Promise<void> {
  return shell.perform(
    'keys',
    async (signal, use) => {
      if (!state.preset) return;
      Object.assign(state, { under: undefined, awaited: true });
      const numbers = numbersOf(state.message, state.preset.slots);
      const { secret, evaluation, made } = await keys.of(signal, (...progress) => {
        state.progress = progress;
        shell.draw();
      });
      Object.assign(state, { keys: made, busy: 'run' });
      const input = use(await whileWanted(signal, secret.encrypt(numbers, { level: state.preset.inputLevel })));
      const run = new Begun(numbers, input.logQ);
      const output = use(await shell.watch(secret.bootstrap(input, evaluation, { inspect: { message: numbers }, signal }), (event) => run.note(event)));
      state.output = await whileWanted(signal, secret.decrypt(output));
      await whileWanted(signal, evaluate());
      shell.say(document.getElementById('outcome')?.textContent ?? '');
    },
    letGo,
  ).finally(() => {
    Object.assign(state, { under: undefined, awaited: false });
    shell.draw();
  });
}

/** Shows a recorded run until the reader has made one; without it the figures wait. */
async function record(): Promise<void> {
  const run = decode(await (await fetch(recordedUrl)).json());
  if (run.set !== set || state.busy || state.views.length > 0) return;
  Object.assign(state, run.shown);
  shell.draw();
  if (state.preset) await evaluate();
}

/** Frees the keys. */
function letGo(): void {
  keys.forget();
  state.keys = undefined;
}

/** A run of the reader's own. It replaces the one shown before once it has a comb, so that the page is never empty. */
class Begun {
  #views: readonly StageView[] = [];
  #exits: readonly StageExit[] = [];

  constructor(
    private readonly input: Float64Array,
    private readonly inputLogQ: number,
  ) {}

  /** Takes in an event; the newest stage is shown, unless the reader has chosen another. */
  note(event: StageEvent): void {
    if (event.kind === 'enter') entered(state, event.stage, shell);
    if (event.kind === 'exit') this.#exits = [...this.#exits, event];
    const newest = this.#views.length - 1;
    if (event.kind === 'view') this.#views = [...this.#views, event];
    const [views, exits, { length }] = [this.#views, this.#exits, this.#views];
    if (length < 2) return;
    const { input, inputLogQ } = this;
    if (state.awaited) Object.assign(state, { recorded: undefined, awaited: false, input, inputLogQ, at: newest, output: undefined, atPoints: undefined });
    if (state.at === newest) state.at = length - 1;
    Object.assign(state, { views, exits });
  }
}

let evaluations = 0;
/** The polynomial of the chosen degree: the curve, and its values at the coefficients of the run. */
async function evaluate(): Promise<void> {
  const { degree, zoom } = state;
  const asked = ++evaluations;
  const points = viewOf(state, 'coeffs_to_slots')?.data ?? new Float64Array();
  const curve = [...CURVE, ...PLACES, ...near(zoom), ...points];
  // The degree can differ from the set's own only where the polynomial approximates a cosine.
  const other = state.own && degree !== state.own.degree ? { degree } : {};
  const drawn = await (await library).reduction(set, curve, other);
  // Something else has been asked for since.
  if (asked !== evaluations) return;
  state.drawn = drawn;
  if (!state.own) [state.own, state.degree] = [drawn, drawn.degree];
  state.atPoints = points.length > 0 ? drawn.values.slice(-points.length) : undefined;
  shell.draw();
}

shell.listen({
  run: { begin: () => void bootstrap() },
  acts: {
    at: (view) => {
      state.at = Number(view);
    },
  },
  inputs: {
    zoom: (value) => {
      state.zoom = Number(value);
      evaluate().catch(shell.failed);
    },
    degree: (value) => {
      state.degree = Number(value);
      evaluate().catch(shell.failed);
    },
  },
  choices: {
    message: (value) => {
      if (value in MESSAGES) state.message = value as MessageKind;
    },
  },
  story: {
    id: 'conv-story',
    drawn: () => state.at,
    choose: (step) => {
      state.at = step;
    },
  },
  letGo,
});
/** The handle that is being dragged, if any. */
let held: Handle | undefined;
const handleOf = (target: EventTarget | null): Handle | undefined => (target as Element | null)?.closest('[data-drag]')?.getAttribute('data-drag') as Handle | undefined;
function drag({ clientX }: PointerEvent): void {
  const box = document.querySelector('.conv-mine')?.getBoundingClientRect();
  if (!held || !box) return;
  state.mine = dragged(state.mine, held, clientX - box.left, box.width);
  shell.draw('conv-mine', 'conv-polynomial');
}
document.addEventListener('pointerdown', (event) => {
  held = event.button === 0 ? handleOf(event.target) : undefined;
});
document.addEventListener('pointermove', drag);
for (const end of ['pointerup', 'pointercancel'] as const) document.addEventListener(end, () => (held = undefined));
document.addEventListener('keydown', (event) => {
  const handle = handleOf(event.target);
  const next = handle && keyed(state.mine, handle, event.key);
  if (!next) return;
  event.preventDefault();
  state.mine = next;
  shell.draw('conv-mine', 'conv-polynomial');
});

record().catch(() => undefined);
library
  .then(async (rf) => {
    const sets = await rf.loadPresets('ckks-conventional');
    const found = sets.find((preset) => preset.name === set);
    if (!found) throw new RefloatError('INVALID_ARGUMENT', `no conventional set is called "${set}"`);
    state.preset = titled(found);
    shell.draw();
    await evaluate();
  })
  .catch(shell.failed);
