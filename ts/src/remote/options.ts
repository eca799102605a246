import { CALLBACK, FLAG, NUMBER, TEXT, objectOf, someOf, type Kind, type Kinds } from '../api/check-options.js';
import type { KeySet } from '../api/key-set.js';
import { ROUNDS, SIGNAL, type RoundsChoice, type SignalOptions } from '../api/options.js';
import { SecretKey } from '../api/secret.js';
import type { GateKeySet } from '../gates/key-set.js';
import type { Fetch } from '../globals.js';
import type { IntegerKeySet } from '../integers/key-set.js';
import { INTEGER_OPERATIONS, type IntegerOp } from '../integers/options.js';
import { PROGRAM, type ProgramOptions } from '../program/run.js';
import { JOB_OPERATIONS } from '../sets.js';
import type { Contact, RetryPolicy } from './http.js';
import { RemoteKeys } from './keys.js';

/** Options of `Refloat.server`. */
export interface ServerOptions {
  /** Sent with every request, e.g. to a proxy in front of the server. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The secret of an API key (`x-api-key`), for servers that ask for one. */
  readonly apiKey?: string | undefined;
  /**
   * The token for key sets for which no other is known: 64 hexadecimal digits in lower case, 32 random bytes. By default a set's token is
   * derived from its secret key and the server's address, so that whoever has the secret key has the token.
   */
  readonly token?: string | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** How often a request is repeated when the network or the server fails; 6 tries by default. */
  readonly retry?: { readonly [Part in keyof RetryPolicy]?: RetryPolicy[Part] | undefined } | undefined;
  /** Told when a request is about to be repeated, and when the server answers again. */
  readonly onContact?: ((contact: Contact) => void) | undefined;
  /**
   * Parts of a key set that are sent at the same time; 2 by default. Each takes as much memory as it is long: up to 14 MB, depending on the set.
   */
  readonly inFlight?: number | undefined;
  /**
   * Milliseconds without a byte from the server after which a request counts as lost, 60,000 by default. Bodies get
   * additional time in proportion to their length.
   */
  readonly timeoutMs?: number | undefined;
}

const HEADERS: Kind = [
  (value) => Object.prototype.toString.call(value) === '[object Object]' && Object.values(value as object).every((text) => typeof text === 'string'),
  "an object of strings, such as { 'x-name': 'value' }",
];

/** @internal */
export const RETRY: Kinds<RetryPolicy> = { attempts: NUMBER, firstDelayMs: NUMBER, maxDelayMs: NUMBER };

/** @internal */
export const SERVER: Kinds<ServerOptions> = {
  headers: HEADERS,
  apiKey: TEXT,
  token: TEXT,
  fetch: CALLBACK,
  retry: [(value) => typeof value === 'object' && value !== null, `an object with some of ${Object.keys(RETRY).join(', ')}`],
  onContact: CALLBACK,
  inFlight: NUMBER,
  timeoutMs: NUMBER,
};

/** Options of `Server.uploadKeys`. */
export interface UploadOptions extends SignalOptions {
  /** The token of the set, instead of the one in {@link ServerOptions}. */
  readonly token?: string | undefined;
  /** `true`: whoever knows the id of the keys may have jobs done with them. Changing or deleting the set still needs the token. */
  readonly public?: boolean | undefined;
}

/** @internal */
export const UPLOAD: Kinds<UploadOptions> = { ...SIGNAL, token: TEXT, public: FLAG };

/** Options of `Server.keys`. */
export interface LookUpOptions extends SignalOptions {
  /** The token of the set, instead of the one in {@link ServerOptions}. */
  readonly token?: string | undefined;
}

/** @internal */
export const LOOK_UP: Kinds<LookUpOptions> = { ...SIGNAL, token: TEXT };

const KEYS: Kind = objectOf('a key set, or what uploadKeys() or keys() of the server gave', RemoteKeys, SecretKey);

/** The operations of a job, in order. */
export type JobOp = (typeof JOB_OPERATIONS)['ckks'][number];

/** Options of `Server.bootstrap`. */
export interface RemoteBootstrapOptions extends RoundsChoice, SignalOptions {
  /**
   * The keys to use; by default those of the ciphertext's own key, if this `Server` has uploaded them or was given their token. If the key
   * set itself is passed, its token is always known, and parts that the server has lost are sent again.
   */
  readonly keys?: RemoteKeys | KeySet | undefined;
  /** The operations, in order; `['bootstrap']` by default. */
  readonly op?: readonly JobOp[] | undefined;
}

/** @internal */
export const BOOTSTRAP_JOB: Kinds<RemoteBootstrapOptions> = { ...ROUNDS, ...SIGNAL, keys: KEYS, op: someOf(...JOB_OPERATIONS.ckks) };

/** Options of `Server.integers`. */
export interface RemoteIntegerOptions extends SignalOptions {
  /** The keys to use; by default those of the inputs' own key, as in {@link RemoteBootstrapOptions}. */
  readonly keys?: RemoteKeys | IntegerKeySet | undefined;
  /** The operations, in order; `['bootstrap']` by default. */
  readonly op?: readonly IntegerOp[] | undefined;
}

/** @internal */
export const INTEGERS_JOB: Kinds<RemoteIntegerOptions> = { ...SIGNAL, keys: KEYS, op: someOf(...INTEGER_OPERATIONS) };

/** Options of `Server.run`. */
export interface RemoteProgramOptions extends ProgramOptions {
  /** The keys to use; by default those of the inputs' own key. */
  readonly keys?: RemoteKeys | KeySet | undefined;
}

/** Options of `Server.run` on exact integers. */
export interface RemoteIntegerProgramOptions extends ProgramOptions {
  /** The keys to use; by default those of the inputs' own key. */
  readonly keys?: RemoteKeys | IntegerKeySet | undefined;
}

/** @internal */
export const PROGRAM_JOB: Kinds<RemoteProgramOptions> & Kinds<RemoteIntegerProgramOptions> = { ...PROGRAM, keys: KEYS };

/** Options of `Server.circuit`. */
export interface RemoteCircuitOptions extends SignalOptions {
  /** The keys to use; by default those of the inputs' own key, as in {@link RemoteBootstrapOptions}. */
  readonly keys?: RemoteKeys | GateKeySet | undefined;
}

/** @internal */
export const CIRCUIT_JOB: Kinds<RemoteCircuitOptions> = { ...SIGNAL, keys: KEYS };
