import type { Http } from './http.js';

/** What the server tells about a key set. */
export interface RemoteKeysInfo {
  readonly id: string;
  readonly params: string;
  readonly digest: string;
  readonly bytes: number;
}

/**
 * A complete, sealed set of bootstrapping keys on a server. It holds no secret: the server can
 * compute with it, and cannot decrypt.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 * declare const url: string;
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy10', { allowInsecure: true });
 * const remote = await rf.server(url).uploadKeys(keys);
 * console.log(remote.id === keys.id, remote.bytes);
 * await remote.delete();
 * rf.close();
 * ```
 */
export class RemoteKeys {
  /** The id of the secret key it belongs to. */
  readonly id: string;
  /** Name of the parameter set. */
  readonly params: string;
  /** Digest of the whole set, as the server stored it. */
  readonly digest: string;
  /** Bytes the server keeps. */
  readonly bytes: number;
  readonly #http: Http;

  /** @internal */
  constructor(http: Http, info: RemoteKeysInfo) {
    this.#http = http;
    this.id = info.id;
    this.params = info.params;
    this.digest = info.digest;
    this.bytes = info.bytes;
  }

  /** Removes the set from the server. */
  async delete(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    await this.#http.send(`/v1/keys/${this.id}`, { method: 'DELETE', signal: options.signal, accept: [404] });
  }
}
