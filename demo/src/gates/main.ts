import '../styles/base.css';
import '../styles/layout.css';
import '../styles/hero.css';
// Not used here, but what both pages import alike stays in one sheet, in this order.
import '../styles/strip.css';
import '../styles/figures.css';
import '../styles/narrow.css';
import '../styles/gates.css';
import '../styles/builder.css';
import { Refloat, RefloatError, type GateCiphertext } from 'refloat/client';
import { morph, type Html } from '../html.js';
import { revealMessages } from '../reveal.js';
import { keptTheme, otherTheme } from '../theme.js';
import { builder, type Evaluated } from './builder.js';
import { FUNCTIONS, barAt, chart, keyed, stroke } from './chart.js';
import { STARTERS, withGate, withInputs, withKind, withOperand, withoutGate, type Drawn } from './circuit.js';
import { evaluate, follow } from './evaluate.js';
import { Keyring } from './keyring.js';
import { CLOSE_GATES, WIDTH, adder, bitsOf, close, type Made, type State } from './views.js';
import type { Seen } from './figures.js';

// `?set=toy-bool` is for tests: a toy that protects nothing, and says so.
const set = new URLSearchParams(location.search).get('set') ?? 'bool-128';
const toy = set.startsWith('toy-');

const state: State = {
  set,
  busy: undefined,
  problem: undefined,
  keys: undefined,
  circuit: undefined,
  numbers: [200, 77],
  times: [],
  total: 0,
  threads: 1,
  sum: undefined,
  gate: 'nand',
  operands: [true, false],
  seen: {},
  result: undefined,
};
const own: { circuit: Drawn; done: Evaluated[] } = { circuit: STARTERS['Full adder'] as Drawn, done: [] };
const looking = {
  table: Array.from({ length: 8 }, (_, m) => FUNCTIONS['x² modulo the size']?.(m, 8) ?? m),
  active: 0,
  x: 3,
  seen: {} as Seen,
  path: [] as number[],
  keys: undefined as Made | undefined,
  result: undefined as GateCiphertext | undefined,
};
/** Where the problem that is shown belongs. */
let where = 'gates-adder';

const library = Refloat.load();
const bits = new Keyring(library);
const integers = new Keyring(library);
const integerSet = (): string => (toy ? 'toy-fbs' : `fbs${looking.table.length}`);

const parts: Record<string, () => Html> = {
  'gates-adder': () => adder({ ...state, problem: problemOf('gates-adder') }),
  'gates-close': () => close({ ...state, problem: problemOf('gates-close') }),
  'gates-builder': () => builder({ ...own, busy: state.busy, problem: problemOf('gates-builder') }),
  'gates-draw': () => chart({ ...looking, again: looking.result !== undefined, set: integerSet(), busy: state.busy, problem: problemOf('gates-draw') }),
};

function problemOf(part: string): string | undefined {
  return where === part ? state.problem : undefined;
}

function draw(...ids: string[]): void {
  for (const id of ids.length ? ids : Object.keys(parts)) {
    const el = document.getElementById(id);
    const markup = parts[id];
    if (el && markup) morph(el, markup());
  }
}

function say(text: string): void {
  const live = document.getElementById('live');
  if (live) live.textContent = text;
}

/** Does something long; what goes wrong is shown, and the next try starts afresh. */
async function busily(part: string, words: string, work: () => Promise<void>): Promise<void> {
  if (state.busy !== undefined) return;
  [state.busy, state.problem, where] = [words, undefined, part];
  draw();
  try {
    await work();
  } catch (error) {
    state.problem = error instanceof RefloatError ? error.message : String(error);
    letGo();
    bits.forget();
    integers.forget();
    [state.keys, looking.keys] = [undefined, undefined];
  }
  state.busy = undefined;
  draw();
}

async function add(): Promise<void> {
  [state.times, state.sum] = [[], undefined];
  draw();
  const { secret, evaluation, made } = await bits.of(set);
  state.keys = made;
  const rf = await library;
  const circuit = (state.circuit ??= await rf.gates.adder(WIDTH));
  [state.busy, state.threads] = ['adding', rf.about().threads];
  const lists: GateCiphertext[] = [];
  try {
    for (const value of state.numbers) lists.push(await secret.encrypt(bitsOf(value)));
    const run = evaluation.run(circuit, lists);
    for await (const event of run) {
      if (event.kind === 'progress') state.times.push(event.gateMs ?? 0);
      state.total = event.atMs;
      draw('gates-adder');
    }
    const sum = await run;
    lists.push(sum);
    state.sum = (await secret.decrypt(sum)).reduce((value, bit, i) => value + (Number(bit) << i), 0);
    say(`${state.numbers[0]} plus ${state.numbers[1]} is ${state.sum}`);
  } finally {
    for (const list of lists) list.free();
  }
}

async function look(): Promise<void> {
  [state.seen, state.result] = [{}, undefined];
  draw();
  const { secret, evaluation, made } = await bits.of(set);
  [state.keys, state.busy] = [made, 'bootstrapping one gate'];
  const lists: GateCiphertext[] = [];
  try {
    for (const bit of state.operands) lists.push(await secret.encrypt(bit));
    const run = evaluation.gateRun(state.gate, lists, { inspect: secret, productsPerStep: 16 });
    const result = await follow(run, (seen) => {
      state.seen = seen;
      draw('gates-close');
    });
    lists.push(result);
    [state.result] = await secret.decrypt(result);
    say(`${state.gate} gives ${Number(state.result)}`);
  } finally {
    for (const list of lists) list.free();
  }
}

async function evaluateOwn(): Promise<void> {
  own.done = [];
  draw();
  const pair = await bits.of(set);
  [state.keys, state.busy] = [pair.made, 'evaluating'];
  await evaluate(pair, own.circuit, (gate, what) => {
    own.done[gate] = what;
    draw('gates-builder');
  });
  say('The circuit is evaluated');
}

/** Looks an integer up: x, encrypted, or the last result. */
async function lookUp(again: boolean): Promise<void> {
  looking.seen = {};
  if (!again) another(() => undefined);
  draw('gates-draw');
  const { secret, evaluation, made } = await integers.of(integerSet());
  [looking.keys, state.busy] = [made, 'looking up'];
  const messages = looking.table.length;
  const input = looking.result ?? (await secret.encryptIntegers(looking.x, { messages }));
  looking.result = undefined;
  try {
    const run = evaluation.lookUpRun(input, looking.table, { inspect: secret, productsPerStep: 16 });
    const result = await follow(run, (seen) => {
      looking.seen = seen;
      draw('gates-draw');
    });
    looking.result = result;
    const [value = 0] = await secret.decryptIntegers(result);
    looking.path = [...(looking.path.length ? looking.path : [looking.x]), value];
    say(`f of ${looking.path.at(-2)} is ${value}`);
  } finally {
    input.free();
  }
}

/** Frees the last result: nothing more is looked up for it. */
function letGo(): void {
  looking.result?.free();
  looking.result = undefined;
}

/** Another f or another x: what was looked up is past. */
function another(change: () => void): void {
  change();
  letGo();
  [looking.path, looking.seen] = [[], {}];
  draw('gates-draw');
}

function rebuilt(circuit: Drawn): void {
  [own.circuit, own.done] = [circuit, []];
}

const acts: Record<string, (first: number, second: number) => void> = {
  theme: otherTheme,
  add: () => void busily('gates-adder', 'making keys', add),
  look: () => void busily('gates-close', 'making keys', look),
  evaluate: () => void busily('gates-builder', 'making keys', evaluateOwn),
  lookup: () => void busily('gates-draw', 'making keys, some seconds', () => lookUp(false)),
  again: () => void busily('gates-draw', 'looking up', () => lookUp(true)),
  bit: (number, bit) => {
    state.numbers[number as 0 | 1] ^= 1 << bit;
    [state.times, state.sum] = [[], undefined];
  },
  operand: (i) => {
    state.operands[i as 0 | 1] = !state.operands[i as 0 | 1];
    [state.seen, state.result] = [{}, undefined];
  },
  input: (i) => rebuilt({ ...own.circuit, inputs: own.circuit.inputs.map((bit, at) => bit !== (at === i)) }),
  inputs: (more) => rebuilt(withInputs(own.circuit, own.circuit.inputs.length + more)),
  place: () => rebuilt(withGate(own.circuit)),
  remove: (place) => rebuilt(withoutGate(own.circuit, place)),
};

document.addEventListener('click', (event) => {
  const [act = '', ...rest] = (event.target as Element).closest('[data-act]')?.getAttribute('data-act')?.split(':') ?? [];
  const [first = 0, second = 0] = rest.map(Number);
  if (!acts[act]) return;
  acts[act](first, second);
  draw();
});

document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLSelectElement)) return;
  const { name, value } = target;
  const [what, place, operand] = name.split(':').map((word, i) => (i ? Number(word) : word)) as [string, number, number];
  if (what === 'gate') {
    state.gate = CLOSE_GATES.find((gate) => gate === value) ?? 'nand';
    [state.seen, state.result] = [{}, undefined];
  }
  if (what === 'starter' && STARTERS[value]) rebuilt(STARTERS[value]);
  if (what === 'kind') rebuilt(withKind(own.circuit, place, value));
  if (what === 'wire') rebuilt(withOperand(own.circuit, place, operand, value));
  const messages = what === 'size' ? Number(value) : looking.table.length;
  const f = what === 'function' ? FUNCTIONS[value] : what === 'size' ? FUNCTIONS['x² modulo the size'] : undefined;
  if (f) {
    another(() => {
      looking.table = Array.from({ length: messages }, (_, m) => f(m, messages));
      [looking.x, looking.active] = [Math.min(looking.x, messages - 1), 0];
    });
  }
  draw();
});

document.addEventListener('input', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.name !== 'x') return;
  another(() => (looking.x = Number(target.value)));
});

document.addEventListener('keydown', (event) => {
  const bar = (event.target as Element).closest?.('[data-bar]')?.getAttribute('data-bar');
  const done = bar && !state.busy ? keyed(event.key, Number(bar), looking.table) : undefined;
  if (!done) return;
  event.preventDefault();
  looking.active = done.bar;
  const { value } = done;
  if (value !== undefined) another(() => (looking.table = looking.table.map((old, m) => (m === done.bar ? value : old))));
  draw('gates-draw');
  document.querySelector<HTMLElement>(`[data-bar="${done.bar}"]`)?.focus();
});

let last: { bar: number; value: number } | undefined;
function drawn(event: PointerEvent): void {
  const rect = document.querySelector('[data-chart]')?.getBoundingClientRect();
  if (!rect) return;
  const to = barAt((event.clientX - rect.left) / rect.width, (rect.bottom - event.clientY) / rect.height, looking.table.length);
  another(() => {
    looking.table = stroke(looking.table, last ?? to, to);
    looking.active = to.bar;
  });
  last = to;
}
document.addEventListener('pointerdown', (event) => {
  if (state.busy || event.button !== 0 || !(event.target as Element).closest('[data-chart]')) return;
  drawn(event);
});
document.addEventListener('pointermove', (event) => {
  if (last && !state.busy) drawn(event);
});
for (const end of ['pointerup', 'pointercancel'] as const) document.addEventListener(end, () => (last = undefined));

keptTheme();
revealMessages('button.primary');
draw();
// The circuit is drawn before anything runs.
library.then(
  async (rf) => {
    state.circuit = await rf.gates.adder(WIDTH);
    draw();
  },
  (error: unknown) => {
    state.problem = error instanceof RefloatError ? error.message : String(error);
    draw();
  },
);
