import '../styles/base.css';
import '../styles/layout.css';
import '../styles/hero.css';
// Not used here, but what both pages import alike stays in one sheet, in this order.
import '../styles/strip.css';
import '../styles/figures.css';
import '../styles/narrow.css';
import '../styles/gates.css';
import { Refloat, RefloatError, type GateCiphertext, type GateKeySet, type GateKeys } from 'refloat/client';
import { morph } from '../html.js';
import { CLOSE_GATES, WIDTH, adder, bitsOf, close, type State } from './views.js';

// `?set=toy-bool` is for tests: a toy that protects nothing, and says so.
const set = new URLSearchParams(location.search).get('set') ?? 'bool-128';

const state: State = {
  set,
  busy: undefined,
  problem: undefined,
  keys: undefined,
  circuit: undefined,
  numbers: [200, 77],
  times: [],
  sum: undefined,
  gate: 'nand',
  operands: [true, false],
  views: [],
  result: undefined,
};

const library = Refloat.load();
let keys: Promise<{ secret: GateKeySet; evaluation: GateKeys }> | undefined;

function draw(): void {
  const put = (id: string, markup: ReturnType<typeof adder>): void => {
    const el = document.getElementById(id);
    if (el) morph(el, markup);
  };
  put('gates-adder', adder(state));
  put('gates-close', close(state));
}

function say(text: string): void {
  const live = document.getElementById('live');
  if (live) live.textContent = text;
}

/** The keys of this page, made once, with the first use. */
async function madeKeys(): Promise<{ secret: GateKeySet; evaluation: GateKeys }> {
  const rf = await library;
  const began = performance.now();
  const secret = await rf.gates.keygen(set, { allowInsecure: set.startsWith('toy-') });
  const evaluation = await secret.evaluationKeys();
  const { secure, logFailure } = secret.params;
  state.keys = { seconds: (performance.now() - began) / 1000, megabytes: evaluation.memoryBytes / 1e6, secure, logFailure };
  return { secret, evaluation };
}

/** Does something long; what goes wrong is shown, and the next try starts afresh. */
async function busily(words: string, work: () => Promise<void>): Promise<void> {
  if (state.busy !== undefined) return;
  state.busy = words;
  state.problem = undefined;
  draw();
  try {
    await work();
  } catch (error) {
    state.problem = error instanceof RefloatError ? error.message : String(error);
    keys = undefined;
  }
  state.busy = undefined;
  draw();
}

async function add(): Promise<void> {
  state.times = [];
  state.sum = undefined;
  draw();
  const { secret, evaluation } = await (keys ??= madeKeys());
  const circuit = (state.circuit ??= await (await library).gates.adder(WIDTH));
  state.busy = 'adding';
  const inputs: GateCiphertext[] = [];
  try {
    for (const value of state.numbers) inputs.push(await secret.encrypt(bitsOf(value)));
    const run = evaluation.run(circuit, inputs);
    let before = 0;
    for await (const event of run) {
      if (event.kind === 'progress') state.times.push(event.atMs - before);
      before = event.atMs;
      draw();
    }
    const sum = await run;
    inputs.push(sum);
    state.sum = (await secret.decrypt(sum)).reduce((value, bit, i) => value + (Number(bit) << i), 0);
    say(`${state.numbers[0]} plus ${state.numbers[1]} is ${state.sum}`);
  } finally {
    for (const list of inputs) list.free();
  }
}

async function look(): Promise<void> {
  state.views = [];
  state.result = undefined;
  draw();
  const { secret, evaluation } = await (keys ??= madeKeys());
  state.busy = 'bootstrapping one gate';
  const operands: GateCiphertext[] = [];
  try {
    for (const bit of state.operands) operands.push(await secret.encrypt(bit));
    const run = evaluation.gateRun(state.gate, operands, { inspect: secret, productsPerStep: 16 });
    for await (const event of run) {
      if (event.kind !== 'view') continue;
      state.views = [...state.views, event];
      draw();
    }
    const result = await run;
    operands.push(result);
    [state.result] = await secret.decrypt(result);
    say(`${state.gate} gives ${Number(state.result)}`);
  } finally {
    for (const list of operands) list.free();
  }
}

function theme(): void {
  const root = document.documentElement.dataset;
  const dark = root['theme'] === 'dark' || (!root['theme'] && matchMedia('(prefers-color-scheme: dark)').matches);
  root['theme'] = dark ? 'light' : 'dark';
}

document.addEventListener('click', (event) => {
  const [act, ...rest] = (event.target as Element).closest('[data-act]')?.getAttribute('data-act')?.split(':') ?? [];
  const [first, second] = rest.map(Number) as [0 | 1, number];
  if (act === 'theme') theme();
  if (act === 'add') void busily('making keys', add);
  if (act === 'look') void busily('making keys', look);
  if (act === 'bit') state.numbers[first] ^= 1 << second;
  if (act === 'operand') state.operands[first] = !state.operands[first];
  if (act === 'bit') [state.times, state.sum] = [[], undefined];
  if (act === 'operand') [state.views, state.result] = [[], undefined];
  if (act) draw();
});
document.addEventListener('change', (event) => {
  if (!(event.target instanceof HTMLSelectElement)) return;
  state.gate = CLOSE_GATES.find((gate) => gate === (event.target as HTMLSelectElement).value) ?? 'nand';
  [state.views, state.result] = [[], undefined];
  draw();
});

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
