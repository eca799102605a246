import { Refloat, RefloatError, type BootstrapKeys, type Ciphertext, type KeyRepair, type KeySet, type Server, type StageEvent } from 'refloat';
import { serverAt, type Retrying } from './contact.js';
import { sentence } from './format.js';
import { drawnAs, gridFor, slotValues } from './input/source.js';
import { problemOf } from './problems.js';
import { UNPACKING } from './sending.js';
import { chosenPreset, DEMONSTRATION, type Beside, type Busy, type Store } from './store.js';
import { isOfShip, STATIONS } from './stages.js';
import type { KeyProgress, Preset } from './types.js';
import { whileWanted } from './abortable.js';
import { brokenSentence } from './views/breaking.js';
import { latest, observe, quality, type Place, type Specimen, type Voyage } from './voyage.js';

/** Largest key set, in bytes on the wire, that a page keeps in memory, where it takes twice as much. */
const RESIDENT_BYTES = 200e6;
/** Bytes of a ciphertext that are drawn. */
const SAMPLE_BYTES = 4096;
/** How often the page updates how long something has taken. */
const CLOCK_MS = 1000;
/** Where the payload of a wire object begins. */
const HEADER_BYTES = 64;

/** A long operation that can be iterated, awaited and perhaps paused. */
interface Steerable {
  pause?(): void;
  resume?(): void;
  step?(): Promise<void>;
}

/** Everything the page does with the `refloat` package. */
export class Session {
  private rf: Refloat | undefined;
  private remote: Server | undefined;
  private readonly keySets = new Map<string, KeySet>();
  private readonly bootKeys = new Map<string, BootstrapKeys>();
  private readonly results = new Map<Place, Ciphertext>();
  /** Ids of the key sets that have been uploaded completely. */
  private readonly uploaded = new Set<string>();
  private abort: AbortController | undefined;
  private run: Steerable | undefined;

  constructor(private readonly store: Store, private readonly serverUrl: string) {}

  /** Loads the library; problems end up in the state. */
  async load(): Promise<void> {
    this.store.update((s) => {
      s.library = 'loading';
      delete s.problem;
    });
    try {
      this.rf = await Refloat.load();
      this.remote = undefined;
      const about = this.rf.about();
      const presets = this.rf.presets();
      this.store.update((s) => {
        s.library = 'ready';
        s.about = about;
        s.presets = presets;
        // An address may name a set that does not exist.
        if (!presets.some((p) => p.name === s.pagePreset)) s.pagePreset = DEMONSTRATION;
      });
    } catch (error) {
      this.store.update((s) => {
        s.library = 'failed';
        s.problem = {
          beside: 'action',
          title: 'The library could not be loaded',
          detail: sentence(error),
          retry: { label: 'Load it again', action: 'load' },
        };
      });
    }
    if (this.rf) await this.findServer();
  }

  /** Asks the server for its parameter sets. */
  async findServer(): Promise<void> {
    if (!this.rf) return;
    this.store.update((s) => {
      s.server = { state: 'checking' };
    });
    try {
      const offer = await this.rf.server(this.serverUrl, { retry: { attempts: 1 } }).params({ parts: true, signal: AbortSignal.timeout(5000) });
      // The numbers of a set come from this page, whatever the server says about it.
      const offered = new Set(offer.sets.map((p) => p.fingerprint));
      const sets = this.store.state.presets.filter((p) => offered.has(p.fingerprint));
      this.store.update((s) => {
        s.server = { state: 'present', url: this.serverUrl, presets: sets, backend: offer.backend, threads: offer.threads };
        if (sets.length === 0 && s.place === 'server') s.place = 'page';
        if (!sets.some((p) => p.name === s.serverPreset)) s.serverPreset = (sets.find((p) => p.secure) ?? sets[0])?.name ?? s.serverPreset;
      });
    } catch {
      this.store.update((s) => {
        s.server = { state: 'absent' };
        if (s.place === 'server') s.place = 'page';
      });
    }
  }

  /** The whole journey at the chosen place. */
  async refloat(): Promise<void> {
    const preset = chosenPreset(this.store.state);
    if (!this.rf || !preset || this.abort) return;
    const place = this.store.state.place;
    const grid = gridFor(preset.slots);
    const input = slotValues(this.store.state.input, preset, grid);
    const voyage: Voyage = {
      place,
      preset,
      label: this.store.state.input.label,
      drawn: drawnAs(this.store.state.input),
      ...(this.store.state.input.used === undefined ? {} : { used: this.store.state.input.used }),
      ...grid,
      input,
      expected: input,
      squared: false,
      keysOnTheWay: place === 'page' && preset.keyBytes > RESIDENT_BYTES,
      state: 'running',
      marks: [],
      timings: {},
    };
    await this.perform(voyage, async (rf, signal) => {
      const keys = await this.keys(rf, voyage, signal);
      const remote = place === 'server' ? await this.upload(keys, voyage, signal) : undefined;
      const boot = place === 'page' ? await this.bootstrapKeys(keys, voyage, signal) : undefined;
      this.store.update((s) => {
        s.voyages[place] = voyage;
        delete s.again[place];
        s.shown = place;
        s.at = { station: 0, part: 0 };
        s.following = true;
        s.playing = false;
      });
      this.busy({ what: 'encrypt', label: `${preset.slots} numbers into one ciphertext` });
      const started = performance.now();
      using fresh = await whileWanted(signal, keys.encrypt(input));
      voyage.timings.encryptMs = performance.now() - started;
      voyage.fresh = await whileWanted(signal, this.specimen(keys, fresh, input));
      this.follow(voyage);
      using spent = await whileWanted(signal, rf.exhaust(fresh));
      voyage.spent = await whileWanted(signal, this.specimen(keys, spent, input));
      this.follow(voyage);
      const work = remote ? remote.server.bootstrap(spent, { keys, signal }) : keys.bootstrap(spent, boot as BootstrapKeys, { signal, inspect: { message: input } });
      await this.finish(voyage, keys, work, signal);
    });
  }

  /** Squares the result of a voyage and bootstraps the square. */
  async again(): Promise<void> {
    const place = this.store.state.shown;
    const first = this.store.state.voyages[place];
    const result = this.results.get(place);
    const keys = first && this.keySets.get(keyName(place, first.preset));
    if (!first?.result || !result || !keys || this.abort) return;
    const voyage: Voyage = { ...first, squared: true, expected: first.input.map((x) => x * x), state: 'running', marks: [], timings: {} };
    delete voyage.fresh;
    delete voyage.spent;
    delete voyage.result;
    this.store.update((s) => {
      s.again[place] = voyage;
    });
    await this.perform(voyage, async (rf, signal) => {
      if (place === 'server') {
        const server = this.server(rf);
        await this.finish(voyage, keys, server.bootstrap(result, { keys, op: ['square', 'bootstrap'], signal }), signal, false);
        return;
      }
      const boot = await this.bootstrapKeys(keys, voyage, signal);
      this.busy({ what: 'bootstrap', label: 'Squaring' });
      using square = await whileWanted(signal, rf.square(result, boot));
      voyage.spent = await whileWanted(signal, this.specimen(keys, square, voyage.expected));
      await this.finish(voyage, keys, keys.bootstrap(square, boot, { signal }), signal, false);
    });
  }

  /** Spoils a voyage of the toy set as the reader has chosen, and notes what comes out. */
  async breakIt(): Promise<void> {
    const { input: source, presets, breakage } = this.store.state;
    const preset = presets.find((p) => p.name === DEMONSTRATION);
    if (!this.rf || !preset || this.abort) return;
    const grid = gridFor(preset.slots);
    const input = slotValues(source, preset, grid);
    const used = source.used === undefined ? {} : { used: source.used };
    const voyage: Voyage = { place: 'page', preset, label: source.label, drawn: drawnAs(source), ...used, ...grid, input, expected: input, squared: false, keysOnTheWay: false, state: 'running', marks: [], timings: {} };
    this.store.update((s) => {
      s.breakingNow = true;
      delete s.broken;
    });
    await this.perform(
      voyage,
      async (rf, signal) => {
        const keys = await this.keys(rf, voyage, signal);
        const boot = await this.bootstrapKeys(keys, voyage, signal);
        this.busy({ what: 'bootstrap', label: 'Breaking it' });
        // Loaded only when something is broken.
        const { breakIt } = await import('./breaking/breakage.js');
        const broken = await whileWanted(signal, breakIt(rf, keys, boot, voyage, breakage, signal));
        this.store.update((s) => {
          s.broken = broken;
          s.said = brokenSentence(broken);
        });
      },
      'break',
    );
    this.store.update((s) => {
      delete s.breakingNow;
    });
  }

  /** Stops what is going on, at its next boundary. */
  cancel(): void {
    this.abort?.abort(new DOMException('Cancelled by the reader', 'AbortError'));
    this.run?.resume?.();
  }

  /** Can the work going on be paused? */
  get steerable(): boolean {
    return this.run?.pause !== undefined;
  }

  pause(): void {
    this.run?.pause?.();
    this.setPaused(true);
  }

  resume(): void {
    this.run?.resume?.();
    this.setPaused(false);
  }

  step(): void {
    void this.run?.step?.();
    this.setPaused(true);
  }

  /** Frees the memory of keys; they are made again when they are needed. */
  freeKeys(): void {
    if (this.abort) return;
    for (const keys of this.bootKeys.values()) keys.free();
    this.bootKeys.clear();
  }

  /** Deletes the reader's keys on the server. */
  async deleteRemoteKeys(): Promise<void> {
    if (!this.rf || this.abort) return;
    try {
      for (const [name, keys] of this.keySets) {
        if (!name.startsWith('server ')) continue;
        if (this.uploaded.delete(keys.id)) await (await this.server(this.rf).keys(keys))?.delete();
        keys.free();
        this.keySets.delete(name);
        this.results.delete('server');
      }
      this.store.update((s) => {
        s.deleted = true;
        if (s.problem?.beside === 'keys') delete s.problem;
        s.said = 'Your evaluation keys have been deleted from the server.';
      });
    } catch (error) {
      this.fail(error, 'keys');
    }
  }

  /** Are there keys of this page on the server? */
  get hasRemoteKeys(): boolean {
    return [...this.keySets.keys()].some((name) => name.startsWith('server '));
  }

  /** The server object; it remembers the tokens of keys, and what has been made of them. */
  private server(rf: Refloat): Server {
    this.remote ??= serverAt(rf, this.serverUrl, (retrying) => this.contact(retrying));
    return this.remote;
  }

  private async perform(voyage: Voyage, work: (rf: Refloat, signal: AbortSignal) => Promise<void>, beside: Beside = voyage.squared ? 'again' : 'action'): Promise<void> {
    if (!this.rf) return;
    this.abort = new AbortController();
    this.store.update((s) => {
      delete s.problem;
      s.confirming = false;
    });
    // Time passes even when nothing else happens, and what the page says about it must not stand still.
    const clock = setInterval(() => this.store.update(() => undefined), CLOCK_MS);
    try {
      await work(this.rf, this.abort.signal);
      voyage.state = 'done';
      this.store.update((s) => {
        s.finished += 1;
      });
    } catch (error) {
      const cancelled = this.abort.signal.aborted || (error instanceof RefloatError && error.code === 'ABORTED');
      voyage.state = cancelled ? 'cancelled' : 'failed';
      if (!cancelled) this.fail(error, beside, voyage);
      else
        this.store.update((s) => {
          s.said = voyage.place === 'server' ? 'Cancelled. The server keeps what it has received; Refloat goes on from there.' : 'Cancelled.';
        });
    } finally {
      clearInterval(clock);
      this.abort = undefined;
      this.run = undefined;
      this.store.update((s) => {
        delete s.busy;
      });
    }
  }

  private async keys(rf: Refloat, voyage: Voyage, signal: AbortSignal): Promise<KeySet> {
    const name = keyName(voyage.place, voyage.preset);
    const known = this.keySets.get(name);
    if (known) return known;
    this.busy({ what: 'keys', label: 'Drawing a secret key for this page only' });
    // Throw-away keys: this page shows noise and decryptions on purpose, so its keys are never
    // exported and end with the page.
    const keys = await rf.keygen(voyage.preset.name, { allowInsecure: !voyage.preset.secure, signal });
    this.keySets.set(name, keys);
    return keys;
  }

  private async bootstrapKeys(keys: KeySet, voyage: Voyage, signal: AbortSignal): Promise<BootstrapKeys> {
    const known = this.bootKeys.get(voyage.preset.name);
    if (known) return known;
    // Full-size keys are made on the way, track by track, and dropped: otherwise they would not fit.
    const making = keys.bootstrapKeys({ signal, resident: !voyage.keysOnTheWay });
    const started = performance.now();
    this.run = making;
    for await (const p of making) this.progress('keys', p, started);
    const boot = await making;
    voyage.timings.keygenMs = performance.now() - started;
    this.bootKeys.set(voyage.preset.name, boot);
    return boot;
  }

  private async upload(keys: KeySet, voyage: Voyage, signal: AbortSignal): Promise<{ server: Server }> {
    const server = this.server(this.rf as Refloat);
    this.busy({ what: 'upload', label: 'Asking which pieces the server has' });
    // The server may have been emptied since.
    if (!this.uploaded.has(keys.id) || !(await server.keys(keys, { signal }))) {
      const sending = server.uploadKeys(keys, { signal });
      const started = performance.now();
      this.run = sending;
      for await (const p of sending) this.progress('upload', p, started);
      await sending;
      this.uploaded.add(keys.id);
      this.store.update((s) => {
        delete s.deleted;
      });
      voyage.timings.uploadMs = performance.now() - started;
    }
    return { server };
  }

  private progress(what: Busy['what'], p: KeyProgress, startedAt: number): void {
    const now = performance.now();
    this.store.update((s) => {
      const first = (s.busy?.startedAt === startedAt && s.busy.first) || { bytes: p.bytes, at: now };
      s.busy = { what, label: p.label, done: p.done, total: p.total, bytes: p.bytes, totalBytes: p.totalBytes, startedAt, first, movedAt: now };
    });
  }

  private async finish(
    voyage: Voyage,
    keys: KeySet,
    work: AsyncIterable<StageEvent | KeyRepair> & PromiseLike<Ciphertext> & Steerable,
    signal: AbortSignal,
    keep = true,
  ): Promise<void> {
    this.run = work;
    this.busy({ what: 'bootstrap', label: voyage.place === 'server' ? `${UNPACKING}.` : 'Starting' });
    const repairedFrom = performance.now();
    for await (const event of work) {
      if (event.kind === 'repair') {
        this.progress('upload', { ...event, kind: 'progress', label: `the server asks again for ${event.label}` }, repairedFrom);
        continue;
      }
      if (!isOfShip(event)) continue;
      observe(voyage, event);
      this.store.update((s) => {
        // A view of a part says nothing new about the progress.
        if (s.busy && event.kind !== 'view') {
          const { done: _done, total: _total, retrying: _retrying, ...rest } = s.busy;
          s.busy = { ...rest, label: STATIONS[event.stage].title, ...(event.kind === 'progress' ? { done: event.done, total: event.total } : {}) };
        }
      });
      this.follow(voyage);
    }
    const output = await work;
    this.run = undefined;
    if (voyage.place === 'page' && this.rf) voyage.memory = await whileWanted(signal, this.rf.memory());
    this.busy({ what: 'decrypt', label: 'With your key, in this page' });
    const started = performance.now();
    try {
      voyage.result = await whileWanted(signal, this.specimen(keys, output, voyage.expected));
    } catch (error) {
      output.free();
      throw error;
    }
    voyage.timings.decryptMs = performance.now() - started;
    if (keep) {
      this.results.get(voyage.place)?.free();
      this.results.set(voyage.place, output);
      this.follow(voyage);
    } else {
      output.free();
    }
  }

  private async specimen(keys: KeySet, ciphertext: Ciphertext, expected: Float64Array): Promise<Specimen> {
    const wire = await ciphertext.toBytes();
    const slots = (await keys.decrypt(ciphertext)).slice(0, expected.length);
    return {
      level: ciphertext.level,
      logQ: ciphertext.logQ,
      logScale: ciphertext.logScale,
      bytes: wire.length,
      sample: wire.slice(HEADER_BYTES, HEADER_BYTES + SAMPLE_BYTES),
      slots,
      quality: quality(expected, slots),
    };
  }

  /** Moves the selected moment to the latest one, if it follows the run. */
  private follow(voyage: Voyage): void {
    this.store.update((s) => {
      if (s.following && s.voyages[s.shown] === voyage) s.at = latest(voyage);
    });
  }

  private busy(busy: Omit<Busy, 'startedAt'>): void {
    this.store.update((s) => {
      s.busy = { ...busy, startedAt: performance.now() };
    });
  }

  private setPaused(paused: boolean): void {
    this.store.update((s) => {
      if (s.busy) s.busy = { ...s.busy, paused };
    });
  }

  /** Says that the server does not answer while requests are repeated, and stops saying so once it does. */
  private contact(retrying: Retrying | undefined): void {
    this.store.update((s) => {
      if (!s.busy) return;
      const { retrying: _retrying, ...rest } = s.busy;
      s.busy = retrying ? { ...rest, retrying } : { ...rest, movedAt: performance.now() };
    });
  }

  private fail(error: unknown, beside: Beside, voyage?: Voyage): void {
    const code = error instanceof RefloatError ? error.code : undefined;
    if (code === 'PANICKED' || code === 'OUT_OF_MEMORY') this.forget();
    this.store.update((s) => {
      s.problem = problemOf(error, beside, voyage, s);
      s.said = s.problem.title;
      if (code === 'NETWORK') s.server = s.server.state === 'present' ? s.server : { state: 'absent' };
    });
  }

  /** Forgets everything that an ended instance held. */
  private forget(): void {
    this.keySets.clear();
    this.bootKeys.clear();
    this.results.clear();
    this.rf = undefined;
  }
}

function keyName(place: Place, preset: Preset): string {
  return `${place} ${preset.name}`;
}
