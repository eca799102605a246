import type { SecretKey } from '../api/secret.js';
import type { Digested } from '../engine/engine.js';
import { ckks } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import { toHex } from '../hex.js';
import type { SetWithParts } from '../params.js';

/** Keys whose parts can be made. */
export interface KeySource {
  readonly id: string;
  readonly params: SetWithParts;
  /** Makes one part; the same index always gives the same bytes. */
  piece(index: number): Promise<Digested>;
  /** BLAKE3 of some bytes, in hexadecimal. */
  digest(bytes: Uint8Array): Promise<string>;
}

/** What is known about a key set on a server. */
interface Known {
  /** The token that the server has accepted. */
  token: string | undefined;
  /** Digests of the parts that were made in this session, by their indices. */
  readonly digests: Map<number, string>;
  /** The secret key, as long as its owner keeps it. */
  keys: WeakRef<SecretKey> | undefined;
}

/** What a request needs to know about a key set. */
export interface KnownKeys {
  /** The token: whoever has it may use, change and delete the set; 64 hexadecimal digits. */
  readonly token: string | undefined;
  /** Digests of the parts that were made in this session, by their indices. */
  readonly digests: Map<number, string>;
  /** The secret key, if it is at hand. */
  readonly keys: SecretKey | undefined;
}

const TOKEN = /^[0-9a-f]{64}$/;

/** What a page knows about the key sets on one server: their tokens, and the keys that can make their parts. */
export class Access {
  readonly #port: Port;
  readonly #origin: string;
  readonly #token: string | undefined;
  readonly #known = new Map<string, Known>();

  /** `token` is used for every set for which no other is known. */
  constructor(port: Port, origin: string, token: string | undefined) {
    this.#port = port;
    this.#origin = origin;
    this.#token = checkedToken(token);
  }

  /**
   * What is known about a set. Its token is the first of these: `token`, one that the server has accepted before, that of the server's
   * options, or one derived from the secret key.
   */
  async of(id: string, keys?: SecretKey, token?: string): Promise<KnownKeys> {
    const known = this.#of(id);
    if (keys) known.keys = new WeakRef(keys);
    const held = known.keys?.deref();
    const owner = held && !held.isFreed ? held : undefined;
    const found = checkedToken(token) ?? known.token ?? this.#token ?? (owner && (await this.#derived(owner)));
    return { token: found, digests: known.digests, keys: owner };
  }

  /** Remembers a token that the server has accepted. */
  accepted(id: string, token: string | undefined): void {
    this.#of(id).token = token;
  }

  /** Gives the parts of keys. */
  source(keys: SecretKey): KeySource {
    const secret = keys.handleIn(this.#port);
    return {
      id: keys.id,
      params: keys.params,
      piece: (index) => this.#port.ask('piece', [secret, index]),
      digest: (bytes) => this.digest(bytes),
    };
  }

  /** BLAKE3 of some bytes, in hexadecimal. */
  async digest(bytes: Uint8Array): Promise<string> {
    return toHex(await this.#port.call(ckks('main'), 'digest', bytes));
  }

  async #derived(owner: SecretKey): Promise<string> {
    return toHex(await this.#port.call(owner.handleIn(this.#port), 'serverToken', this.#origin));
  }

  #of(id: string): Known {
    const known = this.#known.get(id) ?? { token: undefined, digests: new Map<number, string>(), keys: undefined };
    this.#known.set(id, known);
    return known;
  }
}

/** The header that carries a token. */
export function bearer(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function checkedToken(token: string | undefined): string | undefined {
  if (token === undefined || TOKEN.test(token)) return token;
  // The token itself is left out of the message: messages end up in logs.
  throw new RefloatError(
    'INVALID_ARGUMENT',
    `the token of a key set is 64 hexadecimal digits in lower case, and this one has ${token.length} characters; pass the \`token\` that the keys were uploaded with`,
  );
}
