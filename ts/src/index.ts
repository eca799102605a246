/**
 * Fully homomorphic encryption with bootstrapping, in the browser and in Node.
 *
 * @packageDocumentation
 */
import * as platform from '#platform-full';
import { Instance } from './api/instance.js';
import { loader, type LoadOptions, type Platform } from './api/loader.js';

/** Loads the module into this thread. */
const openDirect: Platform['openDirect'] = async () => (await import('./direct-full.js')).openDirect;

/**
 * The entry point to everything. Computations run in a worker, or in this thread with `{ worker: false }`. `refloat/client`
 * is a smaller download that cannot bootstrap or compute with SHIP's sets (`toy10`, `ship13`, ...) in the page.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * console.log(rf.about().version, rf.presets().map((p) => p.name));
 * using keys = await rf.keygen('toy10', { allowInsecure: true });
 * using ct = await keys.encrypt([0.5, -0.25, 1]);
 * console.log((await keys.decrypt(ct)).slice(0, 3));
 * rf.close();
 * ```
 */
export class Refloat extends Instance {
  static readonly #load = loader({ ...platform, artefact: 'full', openDirect }, (port, about, sets) => new Refloat(port, about, sets));

  /**
   * Loads the wasm module. Calls with equal options share one instance. A failed load can be tried
   * again, and after `close()` or a crash the next call creates a fresh instance.
   */
  static load(options: LoadOptions = {}): Promise<Refloat> {
    return Refloat.#load(options);
  }
}

export * from './public.js';
