// Errors for a worker or module that does not start, worded for the person who can fix it. Workers are started in `platform/`.
import { RefloatError } from '../errors.js';

/** Milliseconds after which a silent worker is taken not to run; its file has to be fetched in that time. */
export const START_LIMIT = 30_000;

/** A worker's file, for messages saying that the worker did not start. */
export interface WorkerFile {
  /** Its name in messages. */
  readonly file: string;
  /** The file's origin if it differs from the page's: the worker then starts from a blob that imports the file. */
  readonly blobFor?: string | undefined;
}

/** The message of anything that was thrown. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message || cause.name;
  return cause === undefined ? 'no reason was given' : String(cause);
}

/** A worker that never answered. */
export function workerFailed(worker: WorkerFile, cause: unknown): RefloatError {
  const reason = reasonOf(cause);
  return new RefloatError('NO_WORKER', `the worker of refloat did not start, from ${worker.file} (${reason}); ${repair(worker, cause, reason)}`, { cause });
}

function repair({ blobFor }: WorkerFile, cause: unknown, reason: string): string {
  const sources = blobFor === undefined ? "the worker's URL" : `blob: and ${blobFor}`;
  if (/TrustedScriptURL|TrustedScript\b/.test(reason)) {
    return 'this page requires Trusted Types; pass { worker: () => new Worker(policy.createScriptURL(url), { type: "module" }) } with a policy of your own to Refloat.load()';
  }
  if (isContentSecurityPolicy(reason)) {
    return `allow ${sources} in worker-src of the page's Content-Security-Policy`;
  }
  if (cause instanceof Error && cause.name === 'SecurityError') {
    return 'a worker comes from the origin of its page; serve the file there, or pass { worker } with its URL to Refloat.load()';
  }
  const served = blobFor === undefined ? 'served as JavaScript' : 'served as JavaScript with Access-Control-Allow-Origin';
  return `check that the file and what it imports are ${served}, and that worker-src of the page's Content-Security-Policy, if it has one, allows ${sources}, or pass { worker } with its URL to Refloat.load()`;
}

/** A module, and where it should have come from. */
export interface ModuleOrigin {
  /** The option that says where it is. */
  readonly option: string;
  /** Its file in the package. */
  readonly file: string;
  /** What the option gave; `undefined` for the package's own file. */
  readonly source: unknown;
}

/** A wasm module that could not be loaded. */
export function moduleFailed(cause: unknown, { option, file, source }: ModuleOrigin): RefloatError {
  const reason = reasonOf(cause);
  if (isContentSecurityPolicy(reason)) {
    return new RefloatError(
      'NO_WASM',
      `the Content-Security-Policy of the page or of its worker forbids WebAssembly (${reason}); add 'wasm-unsafe-eval' to its script-src`,
      { cause },
    );
  }
  // A missing import is found before linking, and is a TypeError, which each engine words differently.
  const broken = cause instanceof WebAssembly.CompileError || cause instanceof WebAssembly.LinkError || /\bimport (#\d|object\b|\S+ must be)/i.test(reason);
  const given = source instanceof WebAssembly.Module || source instanceof ArrayBuffer || ArrayBuffer.isView(source);
  if (given || (broken && source !== undefined)) {
    return new RefloatError(
      'BAD_BYTES',
      `what { ${option} } gives is not the wasm module that is needed here (${reason}); pass that of ${file}, in this version of the package, or leave { ${option} } out`,
      { cause },
    );
  }
  return new RefloatError(
    broken ? 'BAD_BYTES' : 'NETWORK',
    `the wasm module could not be loaded (${reason}); check that the .wasm file is served beside the package's JavaScript, and that connect-src of a Content-Security-Policy, if there is one, allows its origin, or pass { ${option} } to Refloat.load()`,
    { cause },
  );
}

/** Whether an engine's message is about a content security policy; each engine words it differently. */
function isContentSecurityPolicy(reason: string): boolean {
  return /content.security.policy|\bCSP\b|unsafe-eval/i.test(reason);
}
