import { bearer } from './access.js';
import { discard } from './body.js';
import type { Http } from './http.js';

/** What the server tells about a key set. */
export interface RemoteKeysInfo {
  readonly id: string;
  readonly params: string;
  readonly digest: string;
  readonly bytes: number;
}

/**
 * A complete, sealed set of bootstrapping keys on a server. It holds no secret key: the server can
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
  /**
   * What the server asks for before it uses, changes or deletes the set: 64 hexadecimal digits. Whoever has it can have
   * jobs done and delete the set; it does not decrypt. `undefined` if none is known here.
   */
  readonly token: string | undefined;
  readonly #http: Http;

  /** @internal */
  constructor(http: Http, info: RemoteKeysInfo, token: string | undefined) {
    this.#http = http;
    this.id = info.id;
    this.params = info.params;
    this.digest = info.digest;
    this.bytes = info.bytes;
    this.token = token;
  }

  /** Removes the set from the server. */
  async delete(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    const request = { method: 'DELETE', headers: bearer(this.token), signal: options.signal, accept: [404] } as const;
    await this.#http.send(`/v1/keys/${encodeURIComponent(this.id)}`, request, discard);
  }
}
