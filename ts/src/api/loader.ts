import { baseUrl } from '../base-url.js';
import { RefloatError } from '../errors.js';
import type { WasmBytes } from '../globals.js';
import type { GlueAbout } from '../engine/glue.js';
import { ckks } from '../engine/handle.js';
import type { OpenHost } from '../engine/host.js';
import { SOURCES, type ModuleSources, type WasmSource } from '../engine/modules.js';
import { DirectPort, WorkerPort, type Port, type StartWorker } from '../engine/port.js';
import { requireSimd } from '../engine/simd.js';
import { MAX_THREADS, WorkerPool, threadCount } from '../sharing/pool.js';
import { checkOptions, type Kind, type Kinds } from './check-options.js';
import { Sets } from './sets.js';

export type { WasmSource };

/** Options of `Refloat.load()`. */
export interface LoadOptions extends ModuleSources {
  /**
   * `true` (default): computations run in a worker of the package's own (a `Worker`, or a thread in
   * Node). `false`: they run in this thread; a call blocks the event loop until it is done, while runs yield to it
   * between their steps. A URL or a function: the worker to use, for bundlers that do not find it.
   */
  readonly worker?: boolean | URL | (() => Worker) | undefined;
  /**
   * Threads for circuits of gates, and for a bootstrapping whose keys are made on the way
   * (`bootstrapKeys({ resident: false })`): a number, or `'auto'` (default) for one for each core, up to four. Every thread but the first is
   * one more worker, with a wasm instance and memory of its own, started when it is first needed.
   * The result is the same, bit for bit, and no special HTTP headers are needed.
   */
  readonly threads?: 'auto' | number | undefined;
}

const SOURCE: Kind = [
  (value) => typeof value === 'string' || ArrayBuffer.isView(value) || /^\[object (URL|Response|ArrayBuffer|WebAssembly\.Module)\]$/.test(Object.prototype.toString.call(value)),
  'a URL, a Response, bytes or a WebAssembly.Module',
];

const LOAD: Kinds<LoadOptions> = {
  ...(Object.fromEntries(SOURCES.map((name) => [name, SOURCE])) as Kinds<ModuleSources>),
  worker: [
    (value) => ['boolean', 'string', 'function'].includes(typeof value) || Object.prototype.toString.call(value) === '[object URL]',
    'true, false, the URL of the worker, or a function that makes it',
  ],
  threads: [(value) => value === 'auto' || typeof value === 'number', `'auto' or a whole number from 1 to ${MAX_THREADS}`],
};

/** Version and backend of the wasm module. */
export interface About extends GlueAbout {
  /** Which artefact is loaded: `client` cannot bootstrap or compute with SHIP's sets (`toy10`, `ship13`, ...) in the page. */
  readonly artefact: 'client' | 'full';
  /** Threads that a bootstrapping whose keys are made on the way may use; see `LoadOptions.threads`. */
  readonly threads: number;
}

/** What differs between artefacts and platforms. */
export interface Platform {
  readonly artefact: About['artefact'];
  readonly hasWorkers: boolean;
  /** Cores of the machine, as far as the platform tells. */
  readonly cores: () => number;
  readonly startWorker: StartWorker;
  readonly workerAt: (url: URL) => StartWorker;
  readonly wrapWorker: (make: () => Worker, file: string) => StartWorker;
  readonly openDirect: () => Promise<OpenHost>;
}

/**
 * Makes the `load()` of an entry point: equal options share one instance, concurrent calls one
 * promise; failed, closed and crashed instances are replaced.
 */
export function loader<T>(
  platform: Platform,
  make: (port: Port, about: About, sets: Sets) => T,
): (options: LoadOptions) => Promise<T> {
  const loaded: { options: LoadOptions; instance: Promise<T>; port?: Port }[] = [];

  return (options) => {
    try {
      checkOptions(options, 'Refloat.load()', LOAD);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    const at = loaded.findIndex(({ options: o }) => OPTIONS.every((name) => o[name] === options[name]));
    const known = loaded[at];
    if (known && !known.port?.dead) return known.instance;
    if (known) loaded.splice(at, 1);

    const entry: (typeof loaded)[number] = { options: { ...options }, instance: Promise.resolve(null as never) };
    entry.instance = (async () => {
      try {
        const port = await openPort(platform, options);
        entry.port = port;
        const [about, sets] = await Promise.all([port.call(ckks('main'), 'about'), port.call(ckks('main'), 'presets')]);
        const { artefact } = platform;
        return make(port, { ...about, artefact, threads: 1 + (port.pool?.size ?? 0) }, new Sets(port, sets));
      } catch (error) {
        entry.port?.close();
        const failed = loaded.indexOf(entry);
        if (failed >= 0) loaded.splice(failed, 1);
        throw error;
      }
    })();
    loaded.push(entry);
    return entry.instance;
  };
}

const OPTIONS = [...SOURCES, 'worker', 'threads'] as const;

async function openPort(platform: Platform, options: LoadOptions): Promise<Port> {
  requireSimd();
  const worker = options.worker ?? true;
  if (worker === false || (worker === true && !platform.hasWorkers)) {
    if (threadCount(options.threads, 1) > 1) {
      throw new RefloatError(
        'INVALID_ARGUMENT',
        `threads: ${options.threads} needs workers, and there are none here or { worker: false } says so; leave one of the two out`,
      );
    }
    const open = await platform.openDirect();
    return new DirectPort(await open(options));
  }
  const start =
    worker === true
      ? platform.startWorker
      : typeof worker === 'function'
        ? platform.wrapWorker(worker, 'the function passed as { worker }')
        : platform.workerAt(absolute(worker, 'worker'));
  const threads = threadCount(options.threads, platform.cores());
  const sources = await Promise.all(SOURCES.map(async (name) => [name, await portable(options[name], name)] as const));
  const open = async (pool?: WorkerPool): Promise<WorkerPort> => {
    const port = new WorkerPort(start, pool);
    try {
      const copies = sources.map(([name, copy]) => [name, ...copy()] as const);
      const posted = Object.fromEntries(copies.map(([name, source]) => [name, source]));
      await port.init(posted, copies.flatMap(([, , buffers]) => buffers));
      return port;
    } catch (error) {
      port.close();
      throw error;
    }
  };
  return open(threads > 1 ? new WorkerPool(threads - 1, open) : undefined);
}

/** A URL; relative ones are resolved against the page, or in a worker against its own file. */
function absolute(url: URL | string, option: string): URL {
  const base = baseUrl();
  try {
    return new URL(url, base);
  } catch (cause) {
    const against = base === undefined ? ', and there is no page here to resolve a relative one against' : ` relative to ${base}`;
    throw new RefloatError('INVALID_ARGUMENT', `{ ${option}: ${JSON.stringify(url)} } is not a URL${against}; pass an absolute one`, { cause });
  }
}

/** Makes the source in a form that can be posted, with the buffers to transfer: called once for each worker. */
async function portable(source: WasmSource | undefined, option: string): Promise<() => [unknown, ArrayBuffer[]]> {
  if (source === undefined || source instanceof WebAssembly.Module) return () => [source, []];
  if (source instanceof URL || typeof source === 'string') {
    const { href } = absolute(source, option);
    return () => [href, []];
  }
  const bytes = source instanceof Response ? await bodyOf(source) : copied(source);
  return () => {
    const copy = bytes.slice(0);
    return [copy, [copy]];
  };
}

function bodyOf(response: Response): Promise<ArrayBuffer> {
  if (response.ok) return response.arrayBuffer();
  throw new RefloatError('NETWORK', `the wasm module could not be fetched: HTTP ${response.status} from ${response.url}`);
}

function copied(source: WasmBytes): ArrayBuffer {
  const view = ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source);
  return view.slice().buffer;
}
