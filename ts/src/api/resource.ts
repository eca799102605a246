import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError, freed } from '../errors.js';

// The safety net behind free(): what the collector finds is freed in the instance too.
const forgotten = new FinalizationRegistry<{ port: Port; handle: Handle }>(({ port, handle }) => port.release(handle));

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
  constructor(port: Port, { module, object }: Handle<T>, what: string) {
    Object.defineProperty(this, 'port', { value: port });
    this.#handle = { module, object, what };
    this.#what = what;
    const held: Handle = { module, object };
    port.keep(held);
    // Runs hold the handle alone: as long as one of them does, the object stays.
    forgotten.register(this.#handle, { port, handle: held }, this.#handle);
    // Read by structuredClone() and postMessage() alone, whose copies would be empty.
    Object.defineProperty(this, 'clone', {
      enumerable: true,
      get: () => {
        throw new RefloatError('INVALID_ARGUMENT', `${what} cannot be cloned or posted, for it lives in the instance of Refloat that made it: ${elsewhere}`);
      },
    });
  }

  /** Facts about it, for logs: what it holds stays where it is. */
  toJSON(): Record<string, unknown> {
    const plain = Object.entries(Object.getOwnPropertyDescriptors(this)).filter(([, { value }]) => /^(string|number|boolean)$/.test(typeof value));
    return Object.fromEntries(plain.map(([name, { value }]) => [name, value]));
  }

  /** What messages call it. */
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

const elsewhere = 'pass ciphertexts and public keys on as their toBytes(), and your own keys with exportSecret() and importKeys()';

function foreign(what: string): Error {
  return new RefloatError(
    'INVALID_ARGUMENT',
    `${what} belongs to another instance of Refloat: pass it over as its toBytes()`,
  );
}
