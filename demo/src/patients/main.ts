import '../styles/base.css';
import '../styles/layout.css';
import '../styles/hero.css';
// Not all used here, but what the pages import alike stays in one sheet, in this order.
import '../styles/strip.css';
import '../styles/figures.css';
import '../styles/narrow.css';
import '../styles/conventional.css';
import { Refloat, RefloatError, type Ciphertext, type KeySet, type Server, type ServerPreset } from 'refloat/client';
import { morph } from '../html.js';
import { revealMessages } from '../reveal.js';
import { keptTheme, otherTheme } from '../theme.js';
import { patients, score, trained } from './model.js';
import { batch, inference, measurementsOf } from './program.js';
import { controls, scores, type State } from './views.js';

const query = new URLSearchParams(location.search);
const serverUrl = query.get('server') ?? location.origin;
const wanted = query.get('set') ?? 'toy-conventional11';

const { train, test } = patients();
const model = trained(train);
const state: State = { sets: undefined, set: wanted, busy: undefined, progress: [0, 0], bootstraps: 0, problem: undefined, rows: [], seconds: 0, sent: 0 };

const library = Refloat.load({ threads: 1 });
const keySets = new Map<string, KeySet>();
/** The server; it remembers what has been made of the keys, so that an upload goes on at once. */
let remote: Server | undefined;
let stop = new AbortController();

function draw(): void {
  const [top, bottom] = [document.getElementById('patients-controls'), document.getElementById('patients-scores')];
  if (top) morph(top, controls(state, model, test.length));
  if (bottom) morph(bottom, scores(state));
}

/** The sets of the server that a program runs on. */
async function findServer(): Promise<void> {
  const rf = await library;
  await rf.loadPresets();
  const server = rf.server(serverUrl, { retry: { attempts: 1 } });
  const offer = await server.params({ parts: true }).catch(() => undefined);
  state.sets = offer?.sets.filter((set) => set.method === 'ckks-conventional') ?? [];
  // Another than the one asked for: that with the fewest keys to send.
  const smallest = [...state.sets].sort((a, b) => a.keyBytes - b.keyBytes)[0];
  if (!state.sets.some((set) => set.name === state.set)) state.set = smallest?.name ?? '';
  draw();
}

async function run(set: ServerPreset): Promise<void> {
  Object.assign(state, { busy: 'keys', problem: undefined, rows: [], progress: [0, 0], bootstraps: 0 });
  stop = new AbortController();
  const { signal } = stop;
  const used: Ciphertext[] = [];
  draw();
  try {
    const rf = await library;
    remote ??= rf.server(serverUrl);
    const server = remote;
    const keys = keySets.get(set.name) ?? (await rf.keygen(set.name, { allowInsecure: !set.secure }));
    keySets.set(set.name, keys);
    const upload = server.uploadKeys(keys, { signal });
    for await (const event of upload) {
      state.progress = [event.bytes, event.totalBytes];
      draw();
    }
    state.busy = 'run';
    const chosen = test.slice(0, batch(set));
    const input = await keys.encrypt(measurementsOf(chosen, set), { level: set.inputLevel + 1, signal });
    used.push(input);
    state.sent = input.byteLength;
    const began = performance.now();
    const job = server.run(inference(model, set), { measurements: input }, { keys, signal });
    for await (const event of job) {
      if (event.kind === 'progress' && event.stage === 'arithmetic') state.progress = [event.done, event.total];
      if (event.kind === 'enter' && event.stage === 'mod_raise') state.bootstraps += 1;
      draw();
    }
    const out = (await job)['score'] as Ciphertext;
    used.push(out);
    const found = await keys.decrypt(out);
    state.seconds = (performance.now() - began) / 1000;
    state.rows = chosen.map((patient, i) => ({
      malignant: patient.malignant,
      encrypted: found[i] ?? NaN,
      clear: score(model, patient.measurements, 'polynomial'),
      exact: score(model, patient.measurements, 'exact'),
    }));
  } catch (error) {
    if (!(error instanceof RefloatError && error.code === 'ABORTED')) state.problem = error instanceof Error ? error.message : String(error);
  } finally {
    for (const ciphertext of used) ciphertext.free();
    state.busy = undefined;
    draw();
    const live = document.getElementById('live');
    if (live) live.textContent = document.getElementById('outcome')?.textContent ?? '';
  }
}

document.addEventListener('click', (event) => {
  const act = (event.target as Element).closest('[data-act]')?.getAttribute('data-act');
  const set = state.sets?.find((set) => set.name === state.set);
  if (act === 'theme') otherTheme();
  if (act === 'run' && set && !state.busy) void run(set);
  if (act === 'cancel') stop.abort(new RefloatError('ABORTED', 'the reader cancelled the run'));
});
document.addEventListener('change', (event) => {
  if (!(event.target instanceof HTMLSelectElement)) return;
  state.set = event.target.value;
  draw();
});

revealMessages('button.primary');
keptTheme();
draw();
findServer().catch((error: unknown) => {
  state.problem = error instanceof Error ? error.message : String(error);
  draw();
});
