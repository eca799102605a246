import { RefloatError, isErrorCode, type ErrorCode, type ServerProblem } from '../errors.js';

/** An error in a form that survives `postMessage`. */
export interface WireError {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly problem?: ServerProblem;
}

/** What the page sends to its worker. */
export interface Request {
  readonly id: number;
  readonly op: string;
  readonly args: readonly unknown[];
}

/** What the worker sends back. */
export type Reply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: WireError };

/** Packs an error for the way out of the worker. */
export function toWire(error: unknown): WireError {
  if (error instanceof RefloatError) {
    return error.problem
      ? { code: error.code, message: error.message, problem: error.problem }
      : { code: error.code, message: error.message };
  }
  return { code: undefined, message: error instanceof Error ? error.message : String(error) };
}

/** Unpacks an error from a worker. */
export function fromWire(error: WireError): Error {
  if (!isErrorCode(error.code)) return new Error(error.message);
  return new RefloatError(error.code, error.message, error.problem ? { problem: error.problem } : {});
}

/**
 * The buffers inside a plain value, such as a result, to be moved instead of copied: results are made for one
 * caller, so moving them takes nothing away from anyone.
 */
export function transferables(value: unknown, depth = 4): ArrayBuffer[] {
  if (depth === 0 || typeof value !== 'object' || value === null) return [];
  if (ArrayBuffer.isView(value)) return value.buffer instanceof ArrayBuffer ? [value.buffer] : [];
  const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return [...new Set(children.flatMap((child) => transferables(child, depth - 1)))];
}
