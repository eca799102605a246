import { RefloatError } from '../errors.js';
import type { About, Engine } from '../engine/engine.js';
import type { WasmSource } from '../engine/open.js';
import { DirectPort, WorkerPort, type Port, type StartWorker } from '../engine/port.js';
import { requireSimd } from '../engine/simd.js';
import type { Preset } from '../params.js';

export type { WasmSource };

/** Options of `Refloat.load()`. */
export interface LoadOptions {
  /**
   * Where the wasm module is: an URL, a `Response`, bytes or a compiled module. By default the file
   * in the package, which Vite and webpack find and emit by themselves; esbuild needs this.
   */
  readonly wasm?: WasmSource;
  /**
   * `true` (default): computations run in a worker of the package's own (a `Worker`, or a thread in
   * Node). `false`: they run in this thread, with a pause between the steps of long ones. An URL or
   * a function: the worker to use, for bundlers that do not find it.
   */
  readonly worker?: boolean | URL | (() => Worker);
}

/** What differs between artefacts and platforms. */
export interface Platform {
  readonly hasWorkers: boolean;
  readonly startWorker: StartWorker;
  readonly wrapWorker: (make: () => Worker) => StartWorker;
  readonly openDirect: () => Promise<(source: unknown) => Promise<Engine>>;
}

/**
 * Makes the `load()` of an entry point: equal options share one instance, concurrent calls one
 * promise; failed, closed and crashed instances are replaced.
 */
export function loader<T>(
  platform: Platform,
  make: (port: Port, about: About, presets: readonly Preset[]) => T,
): (options: LoadOptions) => Promise<T> {
  const loaded: { options: LoadOptions; instance: Promise<T>; port?: Port }[] = [];

  return (options) => {
    const at = loaded.findIndex((l) => l.options.wasm === options.wasm && l.options.worker === options.worker);
    const known = loaded[at];
    if (known && !known.port?.dead) return known.instance;
    if (known) loaded.splice(at, 1);

    const entry: (typeof loaded)[number] = { options: { ...options }, instance: Promise.resolve(null as never) };
    entry.instance = (async () => {
      try {
        const port = await openPort(platform, options);
        entry.port = port;
        const { about, presets } = await port.call('describe');
        return make(port, about, presets);
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

async function openPort(platform: Platform, options: LoadOptions): Promise<Port> {
  requireSimd();
  const worker = options.worker ?? true;
  if (worker === false || (worker === true && !platform.hasWorkers)) {
    const open = await platform.openDirect();
    return new DirectPort(await open(options.wasm));
  }
  const start =
    worker === true
      ? platform.startWorker
      : platform.wrapWorker(typeof worker === 'function' ? worker : () => new Worker(worker, { type: 'module' }));
  const port = new WorkerPort(start);
  try {
    await port.init(...(await portable(options.wasm)));
  } catch (error) {
    port.close();
    throw error;
  }
  return port;
}

/** The source in a form that can be posted, with the buffers to move. */
async function portable(source: WasmSource | undefined): Promise<[unknown, ArrayBuffer[]]> {
  if (source === undefined || source instanceof WebAssembly.Module) return [source, []];
  // Relative URLs mean relative to the page, not to the worker's file.
  if (source instanceof URL) return [source.href, []];
  if (typeof source === 'string') return [new URL(source, globalThis.document?.baseURI).href, []];
  if (source instanceof Response) {
    if (!source.ok) {
      throw new RefloatError('NETWORK', `the wasm module could not be fetched: HTTP ${source.status} from ${source.url}`);
    }
    const bytes = await source.arrayBuffer();
    return [bytes, [bytes]];
  }
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength).slice().buffer
    : source.slice(0);
  return [bytes, [bytes as ArrayBuffer]];
}
