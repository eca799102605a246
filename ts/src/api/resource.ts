import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError, freed } from '../errors.js';
import { facts, uncloneable } from '../uncloneable.js';

// The safety net behind free(): what the garbage collector finds is freed in the instance too.
const forgotten = new FinalizationRegistry<{ port: Port; handle: Handle }>(({ port, handle }) => port.release(handle));

/** How an object gets into another instance of Refloat, as an error message says it. */
export interface Passing {
  /** Its class. */
  readonly name: string;
  /** What to do. */
  readonly how: string;
}

/** How an object with a wire form gets there: `read` reads it. */
export function asBytes(name: string, read: string): Passing {
  return { name, how: `send toBytes(), read with ${read}()` };
}

/** How a secret key gets there: `read` reads it. */
export function asSecret(name: string, read: string): Passing {
  return { name, how: `send exportSecret() to those who may decrypt, read with ${read}()` };
}

/** How evaluation keys get there: a method of the key set makes them. */
export function byMaking(name: string, make: string): Passing {
  return { name, how: `make them there with ${make}(), or uploadKeys() to a server` };
}

/**
 * Something that lives in the wasm instance. Free it with `free()`, or let a `using` declaration do
 * it; the garbage collector is only the safety net.
 */
export abstract class Resource<T = unknown> {
  /** @internal */
  protected declare readonly port: Port;
  readonly #handle: Handle<T>;
  readonly #what: string;
  #freed = false;

  /** @internal */
  constructor(port: Port, { module, object }: Handle<T>, what: string, passing: Passing) {
    Object.defineProperty(this, 'port', { value: port });
    this.#handle = { module, object, what };
    this.#what = what;
    const held: Handle = { module, object };
    port.keep(held);
    // Runs hold only the handle; while a run holds it, the object is not freed.
    forgotten.register(this.#handle, { port, handle: held }, this.#handle);
    uncloneable(this, passing.name, passing.how);
  }

  /** Facts about the object, for logs; its contents are not included. */
  toJSON(): Record<string, unknown> {
    return facts(this);
  }

  /** The object's name in messages. */
  get [Symbol.toStringTag](): string {
    return this.#what.replace(/^the /, '');
  }

  /** Whether `free()` was called. */
  get isFreed(): boolean {
    return this.#freed;
  }

  /** Throws unless the object lives in `port`'s instance and is not freed. @internal */
  handleIn(port: Port): Handle<T> {
    if (this.#freed) throw freed(this.#what);
    if (port !== this.port) throw foreign(this.#what);
    return this.#handle;
  }

  /** @internal */
  protected get handle(): Handle<T> {
    return this.handleIn(this.port);
  }

  /** Frees the object; secrets are overwritten first. Later uses throw `FREED`; freeing twice is fine. */
  free(): void {
    if (this.#freed) return;
    this.#freed = true;
    forgotten.unregister(this.#handle);
    this.port.release(this.#handle);
  }

  /** As `free()`, for `using`. */
  [Symbol.dispose](): void {
    this.free();
  }
}

function foreign(what: string): Error {
  return new RefloatError(
    'INVALID_ARGUMENT',
    `${what} belongs to another instance of Refloat; pass it over as its toBytes()`,
  );
}
