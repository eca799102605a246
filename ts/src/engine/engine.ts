import { RefloatError, freed, isErrorCode } from '../errors.js';
import { toHex } from '../hex.js';
import type { GateModule, GlueGateCiphertext, GlueObject, ModuleGlue } from './glue.js';
import { DESCRIBED, isHandle, type Handle, type Joined, type Made, type Step } from './handle.js';
import type { ModuleName } from './modules.js';

let next = 1;

/** Memory of wasm instances. */
export interface Memory {
  /** Bytes of linear memory of all instances together; these never shrink. */
  readonly bytes: number;
  /** Keys, ciphertexts and runs that have not been freed. */
  readonly objects: number;
  /** Wasm instances: one, plus one for each further module and each further thread, once needed. */
  readonly instances: number;
}

/** Bytes with their BLAKE3 digest in hexadecimal. */
export interface Digested {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

/**
 * One wasm instance: its objects by their handles, calls of its functions and methods by name, and its errors. Only plain values go in and
 * out, nothing that points into wasm memory.
 */
export class Engine {
  readonly #name: ModuleName;
  readonly #glue: ModuleGlue;
  readonly #memory: WebAssembly.Memory;
  readonly #objects = new Map<number, GlueObject>();
  #poison: RefloatError | undefined;

  constructor(name: ModuleName, glue: ModuleGlue, memory: WebAssembly.Memory) {
    this.#name = name;
    this.#glue = glue;
    this.#memory = memory;
  }

  /** Set by a panic, or when another instance has replaced this one: nothing works any more. */
  get poisoned(): boolean {
    return this.#poison !== undefined;
  }

  /** Calls a method of an object, a class or the module. New objects stay here; the caller gets their handles. */
  call(target: Handle, method: string, args: readonly unknown[]): unknown {
    return this.#with(args, (given) => this.#sent(this.#apply(target, method, given)));
  }

  /** As `call`, for one step of a long operation: the method gets a listener for events as its last argument. */
  step(target: Handle, method: string, args: readonly unknown[]): Step {
    return this.#with(args, (given) => {
      const events: { readonly atMs: number }[] = [];
      const start = performance.now();
      const listen = (event: object, now: number): void => void events.push({ ...event, atMs: now - start });
      const value = this.#sent(this.#apply(target, method, [...given, listen]));
      const ms = performance.now() - start;
      return { value, events, ms, state: typeof target.object === 'number' ? described(this.#get(target)) : {} };
    });
  }

  /** A part of the keys and its digest, as a server wants it. */
  piece(secret: Handle, index: number): Digested {
    return this.#guard(() => {
      const bytes = this.#apply(secret, 'keyPart', [index]) as Uint8Array;
      return { bytes, digest: toHex(this.#glue.digest(bytes)) };
    });
  }

  /** A new list with the items of several lists of encrypted bits. */
  concat(lists: Joined): Made<GlueGateCiphertext> {
    return this.#guard(() => this.#sent(this.#joined(lists, [])) as Made<GlueGateCiphertext>);
  }

  /** Frees an object; freeing it twice is fine. */
  free({ object }: Handle): void {
    const held = this.#objects.get(object as number);
    this.#objects.delete(object as number);
    if (held) this.#dispose(held);
  }

  memory(): Memory {
    return { bytes: this.#memory.buffer.byteLength, objects: this.#objects.size, instances: 1 };
  }

  /** Notes that the module has another instance now. */
  replaced(): void {
    this.#poison ??= new RefloatError('FREED', 'this instance was replaced by another one; make its objects again there');
  }

  /** Keeps a result if it is an object. */
  #sent(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || !('free' in value)) return value;
    const object = next++;
    this.#objects.set(object, value as GlueObject);
    return { module: this.#name, object, ...described(value) };
  }

  #apply(target: Handle, method: string, args: readonly unknown[]): unknown {
    const { object } = target;
    const glue = this.#glue as unknown as Record<string, object | undefined>;
    const owner = typeof object === 'number' ? this.#get(target) : object === '' ? glue : glue[object];
    const found = (owner as Record<string, unknown> | undefined)?.[method];
    if (typeof found === 'function') return Reflect.apply(found, owner, args) as unknown;
    if (this.#name !== 'main' || glue.BootstrapRun) {
      throw new RefloatError(
        'INVALID_ARGUMENT',
        `the module "${this.#name}" has no ${method}; serve the wasm and worker files of the package's own version`,
      );
    }
    throw new RefloatError(
      'INVALID_ARGUMENT',
      "this is refloat/client, which cannot bootstrap or compute with SHIP's sets (toy10, ship13, ...) in the page; import from 'refloat' instead of 'refloat/client', or send the ciphertext to a server",
    );
  }

  /**
   * Turns arguments as they were sent into what wasm takes: handles become objects, and several lists one list that is freed afterwards.
   */
  #with<T>(args: readonly unknown[], use: (given: unknown[]) => T): T {
    return this.#guard(() => {
      const temporary: GlueObject[] = [];
      const received = (arg: unknown): unknown => {
        if (!Array.isArray(arg)) return isHandle(arg) ? this.#get(arg) : arg;
        const list = this.#joined(arg as Joined, temporary);
        temporary.push(list);
        return list;
      };
      try {
        // Guarded here too: after a trap nothing may be freed.
        return this.#guard(() => use(args.map(received)));
      } finally {
        for (const list of temporary) this.#dispose(list);
      }
    });
  }

  /** A list with the items of several; lists made from bytes are added to `temporary`. */
  #joined(lists: Joined, temporary: GlueObject[]): GlueGateCiphertext {
    const [first, ...rest] = lists.map((list) => {
      if (!(list instanceof Uint8Array)) return this.#get(list) as GlueGateCiphertext;
      const read = (this.#glue as unknown as GateModule).GateCiphertext.fromBytes(list);
      temporary.push(read);
      return read;
    });
    if (!first) throw new RefloatError('INVALID_ARGUMENT', 'no ciphertexts were given; give at least one');
    const all = first.slice(0, first.length());
    try {
      for (const other of rest) all.append(other);
    } catch (error) {
      temporary.push(all);
      throw error;
    }
    return all;
  }

  #get({ object, what }: Handle): GlueObject {
    const held = this.#objects.get(object as number);
    if (!held) throw freed(what ?? 'an object of the run');
    return held;
  }

  #dispose(object: GlueObject): void {
    // A poisoned instance is thrown away whole; its objects must not be called any more.
    if (!this.#poison) object.free();
  }

  /** Runs an operation, and turns whatever wasm throws into a {@link RefloatError}. */
  #guard<T>(operation: () => T): T {
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
        ? new RefloatError('PANICKED', `refloat panicked (${panic}); call Refloat.load() for a fresh instance`, {
            cause: error,
          })
        : new RefloatError(
            'OUT_OF_MEMORY',
            `the wasm instance stopped at ${megabytes} MB, most likely out of memory; free keys and ciphertexts, take a smaller set or a server, and call Refloat.load() for a fresh instance`,
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
      return this.#glue.panicMessage();
    } catch {
      return undefined;
    }
  }
}

/** Facts about an object; ids in hexadecimal. */
function described(object: object): object {
  const methods = object as Record<string, (() => unknown) | undefined>;
  const known = DESCRIBED.flatMap((name) => {
    const value = methods[name]?.call(object);
    return value === undefined ? [] : [[name, name === 'keyId' ? toHex(value as Uint8Array) : value]];
  });
  return Object.fromEntries(known) as object;
}
