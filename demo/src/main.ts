import './styles/base.css';
import './styles/layout.css';
import './styles/hero.css';
import './styles/strip.css';
import './styles/figures.css';
import './styles/costs.css';
import './styles/slot.css';
import './styles/breaking.css';
import './styles/scroll-steps.css';
import './styles/narrow.css';
import { backToAnchor } from './anchored.js';
import { placeBy } from './arrows.js';
import type { Breakage, Choice, Outcome } from './breaking/breakage.js';
import { again } from './contact.js';
import { readHash, writeHash } from './hash.js';
import { whenHiddenLong } from './hidden.js';
import { Desk, waiting } from './input/desk.js';
import type { InputKind } from './input/source.js';
import { render } from './page.js';
import { Player, selectStation } from './player.js';
import { decode, type RecordedVoyage } from './recorded.js';
import recordedUrl from './recorded/toy10.json?url';
import { revealMessages } from './reveal.js';
import { ScrollSteps } from './scroll-steps.js';
import { isLarge } from './sending.js';
import { Session } from './session.js';
import { JOURNEY, STATIONS } from './stages.js';
import { chosenPreset, DEMONSTRATION, FULL_SIZE, shownVoyage, Store, untouched, type State } from './store.js';
import { keptTheme, otherTheme } from './theme.js';
import { slotNear } from './views/canvas.js';
import { followed } from './views/slot.js';
import { tideSentence } from './views/tide.js';
import { latest, type Place } from './voyage.js';

const TITLE = document.title;
/** The part of the address that leads to the glossary. */
const WORDS = '#words';
const query = new URLSearchParams(location.search);
const start = readHash(location.hash);

const initial: State = {
  ...untouched(),
  presets: [],
  pagePreset: start.where !== 'server' && start.set ? start.set : DEMONSTRATION,
  serverPreset: start.where === 'server' && start.set ? start.set : 'ship13',
  input: waiting,
  shown: start.where ?? 'page',
  at: { station: start.station ?? 0, part: start.part ?? 0 },
};

const store = new Store(initial);
const session = new Session(store, query.get('server') ?? location.origin);
const player = new Player(store);
/** Whether the next message is not spoken, because the reader is reading its text anyway. */
let silent = false;
/** The reader has scrolled to a station: it is drawn. */
const scrolled = new ScrollSteps('story', (station) => {
  player.pause();
  silent = true;
  store.update((s) => {
    selectStation(s, station);
    s.said = '';
  });
});
let settled = false;
let spoken = '';
let address = location.hash;
let push = false;
let noting: ReturnType<typeof setTimeout> | undefined;
let pending: string | undefined;

const desk = new Desk(store, (['draw', 'curve', 'numbers'] as const).find((k) => k === start.input) ?? 'boat');

store.subscribe((state) => {
  render(state, desk.tab, session.hasRemoteKeys, settled);
  desk.attach();
  keepInSight(state);
  if (settled) scrolled.show(state.at.station);
  speak(state);
  if (shownVoyage(state)) note(writeHash(state));
  document.title = state.busy ? `${state.busy.label} · ${TITLE}` : TITLE;
});

/** Puts the moment into the address: a choice as a new history entry, passing moments only now and then, as browsers ask. */
function note(next: string): void {
  const chosen = push;
  push = false;
  // The glossary stays in the address until the reader chooses something.
  if (!chosen && location.hash === WORDS) return;
  if (next === (pending ?? address)) return;
  clearTimeout(noting);
  if (chosen) {
    settle();
    history.pushState(null, '', next);
    address = next;
    return;
  }
  pending = next;
  noting = setTimeout(settle, 400);
}

/** Writes the passing moment that is waiting, if any. */
function settle(): void {
  if (pending === undefined) return;
  history.replaceState(null, '', pending);
  address = pending;
  pending = undefined;
}

/** Scrolls the list of stations, on narrow screens, so that the selected one is in sight. */
function keepInSight(state: State): void {
  const option = document.getElementById(`station-${JOURNEY[state.at.station] ?? ''}`);
  const list = option?.parentElement;
  if (!option || !list || list.scrollWidth <= list.clientWidth) return;
  const middle = option.offsetLeft - list.offsetLeft + option.offsetWidth / 2 - list.clientWidth / 2;
  if (Math.abs(list.scrollLeft - middle) > list.clientWidth / 2 - option.offsetWidth) list.scrollLeft = middle;
}

/** Says one message when a station begins and one when it ends; screen readers queue them. */
function speak(state: State): void {
  const voyage = shownVoyage(state);
  const retrying = state.busy?.retrying ? again(state.busy.retrying) : '';
  const text = retrying || state.said || (voyage && !voyage.recorded ? `${STATIONS[JOURNEY[state.at.station] ?? 'encrypt'].title}. ${tideSentence(voyage, state.at.station)}` : '');
  const unsaid = silent;
  silent = false;
  if (text === spoken) return;
  spoken = text;
  if (unsaid) return;
  const live = document.getElementById('live');
  if (live) live.textContent = text;
}

/** Shows a recorded voyage until the reader has made one. Without it the figures wait. */
async function showRecorded(): Promise<void> {
  let linked: number | undefined;
  try {
    const voyage = decode((await (await fetch(recordedUrl)).json()) as RecordedVoyage);
    store.update((s) => {
      s.recorded = voyage;
      if (start.station === undefined) s.at = latest(voyage);
      else if (start.station !== latest(voyage).station) linked = start.station;
    });
  } catch {
    // A page that cannot load it shows empty figures and works all the same.
  }
  settled = true;
  store.update(() => undefined);
  // A link to a station leads to its text, once the text is drawn.
  const station = linked;
  requestAnimationFrame(() => (station === undefined ? backToAnchor() : scrolled.reveal(station)));
}

function refloat(): void {
  const preset = chosenPreset(store.state);
  if (!preset) return;
  if (store.state.place === 'server' && isLarge(preset) && !session.hasRemoteKeys) {
    store.update((s) => {
      s.confirming = true;
    });
    requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-act=confirm]')?.focus());
    return;
  }
  begin(session.refloat());
}

/** Starts a voyage and, on small screens, brings it into sight. */
function begin(work: Promise<void>): void {
  store.update((s) => {
    s.said = '';
  });
  player.pause();
  void work;
}

async function reload(then: () => void): Promise<void> {
  await session.load();
  if (store.state.library === 'ready') then();
}

const actions: Record<string, (argument: string) => void> = {
  refloat,
  confirm: () => begin(session.refloat()),
  dismiss: () => store.update((s) => { s.confirming = false; }),
  cancel: () => session.cancel(),
  again: () => begin(session.again()),
  break: () => begin(session.breakIt()),
  'find-server': () => void session.findServer(),
  'delete-keys': () => void session.deleteRemoteKeys(),
  'close-problem': () => store.update((s) => { delete s.problem; }),
  retry: (what) => {
    if (what === 'load') void session.load();
    else if (what === 'reload') void reload(refloat);
    else if (what === 'again') begin(session.again());
    else if (what === 'break') begin(session.breakIt());
    else if (what === 'delete-keys') void session.deleteRemoteKeys();
    else refloat();
  },
  station: (index) => {
    push = true;
    player.pause();
    store.update((s) => {
      selectStation(s, Number(index));
      s.said = '';
    });
    scrolled.reveal(Number(index));
  },
  play: () => {
    const s = store.state;
    if (running(s)) {
      if (s.busy?.paused) session.resume();
      else session.pause();
    } else if (s.playing) player.pause();
    else play();
  },
  step: () => {
    if (running(store.state)) {
      store.update((s) => { s.following = true; });
      session.step();
    } else player.step(1);
  },
  back: () => {
    player.pause();
    player.step(-1);
  },
  replay: () => {
    store.update((s) => { s.at = { station: 0, part: 0 }; });
    play();
  },
  show: (place) => {
    push = true;
    store.update((s) => {
      s.shown = place as Place;
      selectStation(s, s.at.station);
    });
  },
  table: (id) => store.update((s) => {
    const tables = new Set(s.tables);
    if (!tables.delete(id)) tables.add(id);
    s.tables = tables;
  }),
  tab: (kind) => desk.open(kind as InputKind),
  boat: () => desk.useBoat(),
  'clear-easel': () => desk.clearEasel(),
  curve: (shape) => desk.setCurve(shape),
  theme: () => {
    otherTheme();
    store.update(() => undefined);
  },
};

/** Plays, and scrolls to the matching text; the text then follows by itself, and scrolling to another step pauses. */
function play(): void {
  player.play();
  scrolled.reveal(store.state.at.station);
}

/** Is there a bootstrapping under way, in the voyage that is shown, that can be paused? */
function running(s: State): boolean {
  return s.busy?.what === 'bootstrap' && session.steerable && shownVoyage(s)?.state === 'running';
}

document.addEventListener('click', (e) => {
  const target = (e.target as Element).closest<HTMLElement | SVGElement>('[data-act]');
  if (!target || (target instanceof HTMLButtonElement && target.disabled)) return;
  const [name, argument] = (target.dataset['act'] ?? '').split(':');
  actions[name ?? '']?.(argument ?? '');
});

function chooseBreakage(change: Partial<Choice>): void {
  store.update((s) => {
    s.breakage = { ...s.breakage, ...change };
  });
}

const inputs: Record<string, (el: HTMLInputElement & HTMLSelectElement) => void> = {
  place: (el) => store.update((s) => {
    s.place = el.value === 'server' ? 'server' : 'page';
    if (s.place === 'page') s.pagePreset = el.value === 'page-full' ? FULL_SIZE : DEMONSTRATION;
    s.confirming = false;
  }),
  'set-page': (el) => store.update((s) => { s.pagePreset = el.value; }),
  'set-server': (el) => store.update((s) => { s.serverPreset = el.value; s.confirming = false; }),
  speed: (el) => store.update((s) => { s.speed = Number(el.value); }),
  breakage: (el) => chooseBreakage({ what: el.value as Breakage }),
  doublings: (el) => chooseBreakage({ doublings: Number(el.value) }),
  where: (el) => chooseBreakage({ where: Number(el.value) }),
  keyBits: (el) => chooseBreakage({ keyBits: Number(el.value) }),
  guess: (el) => chooseBreakage({ guess: el.value ? (el.value as Outcome) : undefined }),
  slot: (el) => store.update((s) => { s.slot = Number(el.value); }),
  numbers: (el) => desk.takeNumbers(el.value),
  file: (el) => {
    void desk.takeFile(el.files?.[0]);
    el.value = '';
  },
};

document.addEventListener('input', (e) => {
  const target = e.target as HTMLInputElement & HTMLSelectElement;
  inputs[target.dataset?.['input'] ?? '']?.(target);
});

document.addEventListener('keydown', (e) => {
  const target = e.target as HTMLElement;
  const list = target.closest('[role=listbox]');
  const tabs = target.closest('[role=tablist]');
  if (list) {
    const to = placeBy(e.key, store.state.at.station, JOURNEY.length);
    if (to !== undefined) {
      e.preventDefault();
      actions['station']?.(String(to));
      requestAnimationFrame(() => document.querySelector<HTMLElement>('[role=option][aria-selected=true]')?.focus());
    } else if (e.key === ' ') {
      e.preventDefault();
      actions['play']?.('');
    }
  } else if (tabs && (e.key === 'ArrowRight' || e.key === 'ArrowLeft')) {
    const all = [...tabs.querySelectorAll<HTMLElement>('[role=tab]')];
    const next = all[(all.indexOf(target) + (e.key === 'ArrowRight' ? 1 : all.length - 1)) % all.length];
    next?.click();
    requestAnimationFrame(() => next?.focus());
  } else if (target.matches('[data-canvas="shown.pick"]')) {
    const voyage = shownVoyage(store.state);
    const row = voyage?.drawn === 'curve' ? 1 : (voyage?.width ?? 1);
    const by: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row };
    const to = voyage && by[e.key] !== undefined ? followed(store.state, voyage) + (by[e.key] ?? 0) : -1;
    if (by[e.key] !== undefined) e.preventDefault();
    if (voyage && to >= 0 && to < (voyage.used ?? voyage.input.length)) store.update((s) => { s.slot = to; });
  } else if (e.key === 'Escape' && store.state.busy) {
    session.cancel();
  }
});

document.addEventListener('pointermove', (e) => pick(e));
document.addEventListener('pointerdown', (e) => pick(e));

/** Singles out the slot under the pointer in the circle or the lens. */
function pick(e: PointerEvent): void {
  const canvas = e.target;
  const voyage = shownVoyage(store.state);
  if (!(canvas instanceof HTMLCanvasElement) || !voyage) return;
  const box = canvas.getBoundingClientRect();
  const x = e.clientX - box.left;
  const y = e.clientY - box.top;
  let slot: number | undefined;
  if (canvas.dataset['canvas'] === 'shown.circle') slot = slotNear(canvas, voyage, store.state.at, x, y);
  else if (canvas.dataset['canvas'] === 'shown.pick' && e.buttons === 0) return;
  else if (canvas.dataset['canvas'] === 'shown.pick' && !canvas.classList.contains('pixels')) {
    const drawn = voyage.used ?? voyage.input.length;
    slot = Math.max(0, Math.min(drawn - 1, Math.floor((x / box.width) * drawn)));
  } else if (['shown.lens', 'shown.pick'].includes(canvas.dataset['canvas'] ?? '') && canvas.classList.contains('pixels')) {
    slot = Math.min(voyage.height - 1, Math.floor((y / box.height) * voyage.height)) * voyage.width + Math.min(voyage.width - 1, Math.floor((x / box.width) * voyage.width));
  } else return;
  if (slot !== undefined && slot !== store.state.slot) store.update((s) => { s.slot = slot; });
}

for (const type of ['dragover', 'drop'] as const) {
  document.addEventListener(type, (e) => {
    if (!e.dataTransfer?.types.includes('Files')) return;
    e.preventDefault();
    document.body.classList.toggle('dragging', type === 'dragover');
    if (type === 'drop') void desk.takeFile(e.dataTransfer.files[0]);
  });
}
document.addEventListener('dragleave', () => document.body.classList.remove('dragging'));

window.addEventListener('hashchange', () => {
  if (location.hash === address) return;
  clearTimeout(noting);
  pending = undefined;
  address = location.hash;
  const to = readHash(location.hash);
  store.update((s) => {
    if (to.where) s.shown = to.where;
    if (to.station !== undefined) selectStation(s, to.station);
    if (to.part !== undefined) s.at = { station: s.at.station, part: to.part };
  });
  if (to.station !== undefined) scrolled.reveal(to.station);
});

// What has been unfolded now has a width, and is drawn for it; the event does not bubble.
document.addEventListener('toggle', () => store.update(() => undefined), true);
new ResizeObserver(() => store.update(() => undefined)).observe(document.body);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => store.update(() => undefined));

whenHiddenLong(() => session.freeKeys());
keptTheme();
revealMessages('.action button');
store.update(() => undefined);
void desk.load();
void showRecorded();
void session.load();
