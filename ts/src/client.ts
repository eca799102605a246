/**
 * The same as `refloat` with a smaller wasm module: keys, including public ones, encryption, decryption and servers, but for SHIP's sets no
 * bootstrapping and no arithmetic in the page. `gates` are the same.
 *
 * @packageDocumentation
 */
import * as platform from '#platform-client';
import { Instance } from './api/instance.js';
import { loader, type LoadOptions, type Platform } from './api/loader.js';

/** Loads the module into this thread. */
const openDirect: Platform['openDirect'] = async () => (await import('./direct-client.js')).openDirect;

/**
 * As `Refloat` of the main entry; with SHIP's sets, `KeySet.bootstrapKeys()`, `KeySet.bootstrap()`, `KeySet.arithmeticKeys()` and
 * operations of ciphertexts throw `INVALID_ARGUMENT`.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat/client';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('ship13');
 * using ct = await keys.encrypt([0.5, -0.25, 1]);
 * console.log((await keys.decrypt(ct)).slice(0, 3)); // on the way a server may refresh it
 * rf.close();
 * ```
 */
export class Refloat extends Instance {
  static readonly #load = loader({ ...platform, artefact: 'client', openDirect }, (port, about, sets) => new Refloat(port, about, sets));

  /**
   * Loads the wasm module. Calls with equal options share one instance; a failed load can be tried
   * again, and after `close()` or a crash the next call makes a fresh instance.
   */
  static load(options: LoadOptions = {}): Promise<Refloat> {
    return Refloat.#load(options);
  }
}

export * from './public.js';
