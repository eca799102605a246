import { freed, type Objects } from '../engine/objects.js';
import { RefloatError } from '../errors.js';

const forgotten = new FinalizationRegistry<{ engine: Objects; handle: number }>(({ engine, handle }) =>
  engine.free(handle),
);

/** Something that lives in the wasm instance of this thread; free it, or let `using` do it. */
export abstract class SyncResource<E extends Objects = Objects> {
  /** @internal */
  protected readonly engine: E;
  readonly #handle: number;
  readonly #what: string;
  #freed = false;

  /** @internal */
  constructor(engine: E, handle: number, what: string) {
    this.engine = engine;
    this.#handle = handle;
    this.#what = what;
    forgotten.register(this, { engine, handle }, this);
  }

  /** Whether `free()` was called. */
  get isFreed(): boolean {
    return this.#freed;
  }

  /** @internal */
  handleIn(engine: E): number {
    if (this.#freed) throw freed(this.#what);
    if (engine !== this.engine) {
      throw new RefloatError(
        'INVALID_ARGUMENT',
        `${this.#what} belongs to an instance that was replaced after a crash: make a new one`,
      );
    }
    return this.#handle;
  }

  /** @internal */
  protected get handle(): number {
    return this.handleIn(this.engine);
  }

  /** Frees the object; secrets are overwritten first. Later uses throw `FREED`; freeing twice is fine. */
  free(): void {
    if (this.#freed) return;
    this.#freed = true;
    forgotten.unregister(this);
    this.engine.free(this.#handle);
  }

  /** As `free()`, for `using`. */
  [Symbol.dispose](): void {
    this.free();
  }
}
