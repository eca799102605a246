import { CORE_ERROR_CODES } from './sets.js';

/** Codes of errors that only this package has. */
const OWN_CODES = ['NO_WASM', 'NO_SIMD', 'NO_WORKER', 'FREED', 'OUT_OF_MEMORY', 'SERVER', 'NETWORK', 'PANICKED'] as const;

/**
 * Stable identifiers of everything that can go wrong: those of the core, which are the same strings in Rust and in the
 * server's problem documents, and those of this package.
 */
export type ErrorCode = (typeof CORE_ERROR_CODES)[number] | (typeof OWN_CODES)[number];

const CODES: ReadonlySet<string> = new Set<ErrorCode>([...CORE_ERROR_CODES, ...OWN_CODES]);

/** What a server said when it refused; part of a {@link RefloatError} that came over HTTP. */
export interface ServerProblem {
  /** HTTP status, e.g. 409. */
  readonly status: number;
  /** The server's own code, which may be one this package does not know. */
  readonly code?: string;
  /** The server's sentence. */
  readonly detail?: string;
}

/** Optional parts of a {@link RefloatError}. */
export interface RefloatErrorOptions {
  /** The error underneath. */
  readonly cause?: unknown;
  /** What the server answered, for errors that came over HTTP. */
  readonly problem?: ServerProblem;
}

/**
 * The one error class of the package. `code` is stable and meant for programs; `message` says what is wrong, with both sides
 * of a mismatch, and after a semicolon what repairs it.
 *
 * An operation stopped through an `AbortSignal` rejects with the signal's own reason instead, as
 * `fetch` does.
 *
 * @example
 * ```ts
 * import { Refloat, RefloatError } from 'refloat';
 *
 * const rf = await Refloat.load();
 * try {
 *   await rf.keygen('toy10'); // a toy: needs { allowInsecure: true }
 * } catch (error) {
 *   if (!(error instanceof RefloatError)) throw error;
 *   console.log(error.code, error.repair); // INSECURE, and to pass { allowInsecure: true } or take a secure set
 * }
 * rf.close();
 * ```
 */
export class RefloatError extends Error {
  /** Stable identifier. */
  readonly code: ErrorCode;
  /** What the server answered, if the error came over HTTP. */
  readonly problem?: ServerProblem;

  /** Makes an error; programs normally only receive them. */
  constructor(code: ErrorCode, message: string, options: RefloatErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'RefloatError';
    this.code = code;
    if (options.problem) this.problem = options.problem;
  }

  /** How to repair the error, if the message says so: the part after the last semicolon, without a server's address at its end. */
  get repair(): string | undefined {
    const said = this.message.replace(/ \((HTTP \d+ from |https?:\/\/).*\)$/, '');
    const at = said.lastIndexOf('; ');
    return at < 0 ? undefined : said.slice(at + 2);
  }
}

/** Whether `code` is one of {@link ErrorCode}. @internal */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && CODES.has(code);
}

/** Throws the signal's reason if it is aborted. @internal */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/** The error of an object that was used after `free()`. @internal */
export function freed(what: string): RefloatError {
  return new RefloatError('FREED', `free() was called on ${what}; keep it until the last use, or make a new one`);
}
