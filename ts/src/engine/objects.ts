import { RefloatError, isErrorCode } from '../errors.js';
import { toHex } from '../hex.js';
import type { KeyPartInfo, SetInfo } from '../params.js';
import type { GlueObject, GlueSet, ModuleGlue } from './glue.js';

/** Names an object inside a wasm instance: no two objects of a thread have the same. */
export type Handle = number;

let next: Handle = 1;

/** Memory of wasm instances. */
export interface Memory {
  /** Bytes of linear memory, of all instances together; they never shrink. */
  readonly bytes: number;
  /** Keys, ciphertexts and runs that have not been freed. */
  readonly objects: number;
  /** Wasm instances: one, one for gates, one for conventional sets and one for each further thread once they have been needed. */
  readonly instances: number;
}

/** Bytes with their BLAKE3 digest in hexadecimal. */
export interface Digested {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

/** The objects of one wasm instance by their handles, and its errors. */
export abstract class Objects<G extends ModuleGlue = ModuleGlue> {
  /** The generated module. */
  protected readonly glue: G;
  readonly #memory: WebAssembly.Memory;
  readonly #objects = new Map<Handle, GlueObject>();
  #poison: RefloatError | undefined;

  constructor(glue: G, memory: WebAssembly.Memory) {
    this.glue = glue;
    this.#memory = memory;
  }

  /** Set by a panic, or by another instance in its place: nothing works any more. */
  get poisoned(): boolean {
    return this.#poison !== undefined;
  }

  /** Whether an object is in this instance. */
  has(handle: Handle): boolean {
    return this.#objects.has(handle);
  }

  /** Frees an object; twice is once. */
  free(handle: Handle): void {
    const object = this.#objects.get(handle);
    this.#objects.delete(handle);
    if (object) this.dispose(object);
  }

  memory(): Memory {
    return { bytes: this.#memory.buffer.byteLength, objects: this.#objects.size, instances: 1 };
  }

  /** BLAKE3 of some bytes, in hexadecimal. */
  digest(bytes: Uint8Array): string {
    return this.guard(() => toHex(this.glue.digest(bytes)));
  }

  /** Tells that the module has another instance now. */
  replaced(): void {
    this.#poison ??= new RefloatError('FREED', 'this instance was replaced by another one: make its objects again there');
  }

  /** Frees what has no handle any more. */
  protected dispose(object: GlueObject): void {
    // A poisoned instance is thrown away whole; its objects must not be called any more.
    if (!this.#poison) object.free();
  }

  /** Bytes with their digest. */
  protected digested(bytes: Uint8Array): Digested {
    return { bytes, digest: toHex(this.glue.digest(bytes)) };
  }

  /** A handle nobody has. */
  protected nextHandle(): Handle {
    return next++;
  }

  /** Keeps an object under a new handle. */
  protected keep(object: GlueObject): Handle {
    const handle = this.nextHandle();
    this.#objects.set(handle, object);
    return handle;
  }

  /** The object of a handle, `what` in the words of an error. */
  protected get(handle: Handle, what: string): GlueObject {
    const object = this.#objects.get(handle);
    if (!object) throw freed(what);
    return object;
  }

  /** Runs an operation, and turns whatever wasm throws into a {@link RefloatError}. */
  protected guard<T>(operation: () => T): T {
    if (this.#poison) throw this.#poison;
    try {
      return operation();
    } catch (error) {
      throw this.#translate(error);
    }
  }

  #translate(error: unknown): unknown {
    if (error instanceof RefloatError) return error;
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
      // After a trap the instance's memory is in an unknown state: nothing may run in it again.
      const panic = this.#panicMessage();
      const megabytes = Math.round(this.#memory.buffer.byteLength / 2 ** 20);
      this.#poison = panic
        ? new RefloatError('PANICKED', `refloat panicked (${panic}): call Refloat.load() for a fresh instance`, {
            cause: error,
          })
        : new RefloatError(
            'OUT_OF_MEMORY',
            `the wasm instance stopped at ${megabytes} MB, most likely out of memory: free keys and ciphertexts, take a smaller set or a server, and call Refloat.load() for a fresh instance`,
            { cause: error },
          );
      return this.#poison;
    }
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
    if (isErrorCode(code)) return new RefloatError(code, (error as Error).message);
    return error;
  }

  #panicMessage(): string | undefined {
    try {
      return this.glue.panicMessage();
    } catch {
      return undefined;
    }
  }
}

/** A set as it is described to callers: with its parts as a list. */
export function unpacked({ partLabels, partBytes, ...rest }: GlueSet): SetInfo & { readonly keyParts: readonly KeyPartInfo[] } {
  const keyParts = partLabels.split('\n').map((label, index) => ({ index, label, bytes: partBytes[index] ?? 0 }));
  return { ...rest, keyParts };
}

/** The error of an object that was used after `free()`. */
export function freed(what: string): RefloatError {
  return new RefloatError('FREED', `free() was called on ${what}: keep it until the last use, or make a new one`);
}
