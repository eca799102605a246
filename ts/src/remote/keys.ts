import { checkOptions, type Kinds } from '../api/check-options.js';
import type { Ciphertext } from '../api/ciphertext.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { ORDER, type OrderOptions, type Value } from '../program/program.js';
import type { Run } from '../run.js';
import { bearer } from './access.js';
import { discard } from './body.js';
import type { Http } from './http.js';
import type { ProgramEvent } from '../program/run.js';
import type { KeyRepair } from './server.js';

/** Options for questions about the order of slots on a server. */
export interface RemoteOrderOptions extends OrderOptions, SignalOptions {}

const REMOTE_ORDER: Kinds<RemoteOrderOptions> = { ...ORDER, ...SIGNAL };

/** The answer to a question on its way from a server. */
export type Answer = Run<Ciphertext, ProgramEvent | KeyRepair>;

/** Has a question about a value answered with a key set. @internal */
export type Ask = (keys: RemoteKeys, x: Ciphertext, ask: (x: Value) => Value, options: SignalOptions) => Answer;

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
 *
 * Keys of a set that links numbers to gates compare the first slots of a ciphertext. Each method here is a job: a program with one node.
 * `Server.run` can combine them with other operations.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 * declare const url: string;
 *
 * const rf = await Refloat.load();
 * using keys = await rf.keygen('toy-link', { allowInsecure: true }); // a toy; 'n15+fbs16-50' has 128 bits
 * const remote = await rf.server(url).uploadKeys(keys);
 * using scores = await keys.encrypt([0.25, 0.875, 0.5]);
 * using winner = await remote.argmax(scores, 3, { bounds: 'unit' });
 * console.log((await keys.decrypt(winner)).slice(0, 3).map(Math.round)); // 0, 1, 0
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
   * What the server asks for before it uses, changes or deletes the set: 64 hexadecimal digits. Whoever has the token can have jobs done
   * and delete the set, but cannot decrypt. `undefined` if none is known here.
   */
  readonly token: string | undefined;
  readonly #http: Http;
  readonly #ask: Ask;

  /** @internal */
  constructor(http: Http, info: RemoteKeysInfo, token: string | undefined, ask: Ask) {
    this.#http = http;
    this.#ask = ask;
    this.id = info.id;
    this.params = info.params;
    this.digest = info.digest;
    this.bytes = info.bytes;
    this.token = token;
  }

  /**
   * 1 in the slot of the largest of the first `count` slots, and 0 in all others. Slots lie in [-1, 1], unless `bounds` says otherwise.
   * Values that are close may be mistaken for each other, except on a grid, where the first of several equal ones counts as the largest.
   */
  argmax(x: Ciphertext, count: number, options: RemoteOrderOptions = {}): Answer {
    return this.#order('argmax()', x, (value, how) => value.argmax(count, how), options);
  }

  /** 1 in the slot of the smallest of the first `count` slots, and 0 in all others. */
  argmin(x: Ciphertext, count: number, options: RemoteOrderOptions = {}): Answer {
    return this.#order('argmin()', x, (value, how) => value.argmin(count, how), options);
  }

  /** In each of the first `count` slots, the number of the others that are smaller; 0 in all remaining slots. */
  rank(x: Ciphertext, count: number, options: RemoteOrderOptions = {}): Answer {
    return this.#order('rank()', x, (value, how) => value.rank(count, how), options);
  }

  /** 1 in the slots of the `most` largest of the first `count` slots, and 0 in all others. */
  top(x: Ciphertext, count: number, most: number, options: RemoteOrderOptions = {}): Answer {
    return this.#order('top()', x, (value, how) => value.top(count, most, how), options);
  }

  /** 1 in each of the first `count` slots, which lie in [-1, 1], that is at least 0; 0 in all other slots. */
  sign(x: Ciphertext, count: number, options: SignalOptions = {}): Answer {
    checkOptions(options, 'sign()', SIGNAL);
    return this.#ask(this, x, (value) => value.sign(count), options);
  }

  #order(where: string, x: Ciphertext, ask: (x: Value, how: OrderOptions) => Value, options: RemoteOrderOptions): Answer {
    checkOptions(options, where, REMOTE_ORDER);
    const { signal, ...how } = options;
    return this.#ask(this, x, (value) => ask(value, how), { signal });
  }

  /**
   * Has the server load the set into memory before the first job, which then need not wait for that. The set may leave memory again if
   * other sets need the room.
   */
  async wake(options: SignalOptions = {}): Promise<void> {
    checkOptions(options, 'wake()', SIGNAL);
    const request = { method: 'POST', headers: bearer(this.token), signal: options.signal } as const;
    await this.#http.send(`/v1/keys/${encodeURIComponent(this.id)}/wake`, request, discard);
  }

  /** Removes the set from the server. */
  async delete(options: SignalOptions = {}): Promise<void> {
    checkOptions(options, 'delete()', SIGNAL);
    const request = { method: 'DELETE', headers: bearer(this.token), signal: options.signal, accept: [404] } as const;
    await this.#http.send(`/v1/keys/${encodeURIComponent(this.id)}`, request, discard);
  }
}
