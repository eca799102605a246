// The style sheets that all pages share come with the shell, before those of this one.
import { Shell } from '../shell.js';
import '../styles/gates.css';
import '../styles/builder.css';
import { Refloat, type GateCiphertext } from 'refloat/client';
import recordedUrl from '../recorded/gates.json?url';
import { adder, operandsOf } from './adder.js';
import { builder, type Evaluated } from './builder.js';
import { FUNCTIONS, barAt, chart, keyed, stroke } from './chart.js';
import { GATES, STARTERS, withGate, withInputs, withKind, withOperand, withoutGate, type Drawn } from './circuit.js';
import { evaluate, follow } from './evaluate.js';
import { whileWanted } from '../abortable.js';
import { Keyring } from './keyring.js';
import { decode, type RecordedGates } from './recorded.js';
import { CLOSE_GATES, WIDTH, bitsOf, close, type Made, type State } from './views.js';
import type { Seen } from './figures.js';

// `?set=toy-bool` is for tests: a toy that protects nothing, and says so.
const set = new URLSearchParams(location.search).get('set') ?? 'bool-128';
const toy = set.startsWith('toy-');

const state: State = {
  set,
  busy: undefined,
  paused: false,
  tables: new Set(),
  problem: undefined,
  at: 'gates-adder',
  recorded: undefined,
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
const library = Refloat.load();
const bits = new Keyring(library);
const integers = new Keyring(library);
const integerSet = (): string => (toy ? 'toy-fbs' : `fbs${looking.table.length}`);

const shell = new Shell(state, {
  'gates-adder': (width) => adder({ ...state, problem: problemOf('gates-adder') }, width),
  'gates-close': () => close({ ...state, problem: problemOf('gates-close') }),
  'gates-builder': () => builder({ ...own, tables: state.tables, busy: state.busy, running: runs('gates-builder'), problem: problemOf('gates-builder') }),
  'gates-draw': () => chart({ ...looking, tables: state.tables, again: looking.result !== undefined, set: integerSet(), busy: state.busy, running: runs('gates-draw'), problem: problemOf('gates-draw') }),
});

function problemOf(part: string): string | undefined {
  return state.at === part ? state.problem : undefined;
}

function runs(part: string): boolean {
  return state.busy !== undefined && state.at === part;
}

/** Does something long in a part of the page; after a problem, the next attempt starts with new keys. */
function busily(part: string, words: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  if (state.busy === undefined) state.at = part;
  return shell.perform(words, work, letGo);
}

/** Frees all keys, and the last result, which is encrypted with some of them. */
function letGo(): void {
  letGoOfResult();
  bits.forget();
  integers.forget();
  [state.keys, looking.keys] = [undefined, undefined];
}

async function add(signal: AbortSignal): Promise<void> {
  [state.times, state.sum, state.recorded] = [[], undefined, undefined];
  shell.draw();
  const { secret, evaluation, made } = await bits.of(set, signal);
  state.keys = made;
  const rf = await library;
  const circuit = (state.circuit ??= await whileWanted(signal, rf.gates.adder(WIDTH)));
  [state.busy, state.threads] = ['adding', rf.about().threads];
  const lists: GateCiphertext[] = [];
  try {
    for (const value of state.numbers) lists.push(await whileWanted(signal, secret.encrypt(bitsOf(value))));
    const run = evaluation.run(circuit, lists, { signal });
    for await (const event of run) {
      if (event.kind === 'progress') state.times.push(event.gateMs ?? 0);
      state.total = event.atMs;
      shell.draw('gates-adder');
    }
    const sum = await run;
    lists.push(sum);
    state.sum = (await whileWanted(signal, secret.decrypt(sum))).reduce((value, bit, i) => value + (Number(bit) << i), 0);
    shell.say(`${state.numbers[0]} plus ${state.numbers[1]} is ${state.sum}`);
  } finally {
    for (const list of lists) list.free();
  }
}

async function look(signal: AbortSignal): Promise<void> {
  [state.seen, state.result] = [{}, undefined];
  shell.draw();
  const { secret, evaluation, made } = await bits.of(set, signal);
  [state.keys, state.busy] = [made, 'bootstrapping one gate'];
  const lists: GateCiphertext[] = [];
  try {
    for (const bit of state.operands) lists.push(await whileWanted(signal, secret.encrypt(bit)));
    const run = evaluation.gateRun(state.gate, lists, { inspect: secret, productsPerStep: 16, signal });
    const result = await follow(run, (seen) => {
      state.seen = seen;
      shell.draw('gates-close');
    });
    lists.push(result);
    [state.result] = await whileWanted(signal, secret.decrypt(result));
    shell.say(`${state.gate} gives ${Number(state.result)}`);
  } finally {
    for (const list of lists) list.free();
  }
}

/** Shows the bootstrapping of one gate of the adder, on the bits it has there. */
async function open(index: number): Promise<void> {
  const { circuit, busy } = state;
  const gate = CLOSE_GATES.find((gate) => gate === circuit?.gates[index]?.gate);
  if (!circuit || !gate || busy) return;
  [state.gate, state.operands] = [gate, operandsOf(state, circuit, index)];
  document.getElementById('gate')?.scrollIntoView();
  await busily('gates-close', 'making keys', look);
}

async function evaluateOwn(signal: AbortSignal): Promise<void> {
  own.done = [];
  shell.draw();
  const pair = await bits.of(set, signal);
  [state.keys, state.busy] = [pair.made, 'evaluating'];
  await evaluate(pair, own.circuit, signal, (gate, what) => {
    own.done[gate] = what;
    shell.draw('gates-builder');
  });
  shell.say('The circuit is evaluated');
}

/** Looks up an integer: x, encrypted, or the last result. */
async function lookUp(signal: AbortSignal, again: boolean): Promise<void> {
  looking.seen = {};
  if (!again) another(() => undefined);
  shell.draw('gates-draw');
  const { secret, evaluation, made } = await integers.of(integerSet(), signal);
  [looking.keys, state.busy] = [made, 'looking up'];
  const messages = looking.table.length;
  const input = looking.result ?? (await whileWanted(signal, secret.encryptIntegers(looking.x, { messages })));
  looking.result = undefined;
  try {
    const run = evaluation.lookUpRun(input, looking.table, { inspect: secret, productsPerStep: 16, signal });
    const result = await follow(run, (seen) => {
      looking.seen = seen;
      shell.draw('gates-draw');
    });
    looking.result = result;
    const [value = 0] = await whileWanted(signal, secret.decryptIntegers(result));
    looking.path = [...(looking.path.length ? looking.path : [looking.x]), value];
    shell.say(`f of ${looking.path.at(-2)} is ${value}`);
  } finally {
    input.free();
  }
}

/** Frees the last result: nothing more is looked up for it. */
function letGoOfResult(): void {
  looking.result?.free();
  looking.result = undefined;
}

/** Changes f or x, and drops the result of the last look-up. */
function another(change: () => void): void {
  change();
  letGoOfResult();
  [looking.path, looking.seen] = [[], {}];
  shell.draw('gates-draw');
}

function rebuilt(circuit: Drawn): void {
  [own.circuit, own.done] = [circuit, []];
}

const acts: Record<string, (first: number, second: number) => void> = {
  add: () => void busily('gates-adder', 'making keys', add),
  look: () => void busily('gates-close', 'making keys', look),
  evaluate: () => void busily('gates-builder', 'making keys', evaluateOwn),
  lookup: () => void busily('gates-draw', 'making keys, some seconds', (signal) => lookUp(signal, false)),
  again: () => void busily('gates-draw', 'looking up', (signal) => lookUp(signal, true)),
  bit: (number, bit) => {
    state.numbers[number as 0 | 1] ^= 1 << bit;
    [state.times, state.sum, state.recorded] = [[], undefined, undefined];
  },
  open: (index) => void open(index),
  operand: (i) => {
    state.operands[i] = !state.operands[i];
    [state.seen, state.result] = [{}, undefined];
  },
  input: (i) => rebuilt({ ...own.circuit, inputs: own.circuit.inputs.map((bit, at) => bit !== (at === i)) }),
  inputs: (more) => rebuilt(withInputs(own.circuit, own.circuit.inputs.length + more)),
  place: () => rebuilt(withGate(own.circuit)),
  remove: (place) => rebuilt(withoutGate(own.circuit, place)),
};

shell.listen({ acts: Object.fromEntries(Object.entries(acts).map(([act, doing]) => [act, (first: string, second: string) => doing(Number(first), Number(second))])), letGo });

document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLSelectElement)) return;
  const { name, value } = target;
  const [what, place, operand] = name.split(':').map((word, i) => (i ? Number(word) : word)) as [string, number, number];
  if (what === 'gate') {
    state.gate = CLOSE_GATES.find((gate) => gate === value) ?? 'nand';
    state.operands = Array.from({ length: GATES[state.gate] ?? 2 }, (_, i) => state.operands[i] ?? false);
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
  shell.draw();
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
  shell.draw('gates-draw');
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

// The circuit is drawn before anything runs, with a recorded run on it until the reader makes one.
const recorded = fetch(recordedUrl).then((response) => response.json() as Promise<RecordedGates>);
library
  .then(async (rf) => {
    state.circuit = await rf.gates.adder(WIDTH);
    const run = await recorded.catch(() => undefined);
    if (run?.set === set && !state.busy && state.times.length === 0) Object.assign(state, decode(run));
  })
  .then(() => shell.draw(), shell.failed);
