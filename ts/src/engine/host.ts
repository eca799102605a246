import { RefloatError } from '../errors.js';
import type { Digested, Engine, Memory } from './engine.js';
import type { GlueGateCiphertext } from './glue.js';
import type { Handle, Joined, Made, Step } from './handle.js';
import type { ModuleName, ModuleSources } from './modules.js';

/** Where the modules come from; `undefined` for the package's files. */
export type Sources = { readonly [S in keyof ModuleSources]?: unknown };

/** Loads the module of an entry point. */
export type OpenHost = (sources: Sources) => Promise<Host>;

/** The operations that a host performs by name. */
const OPERATIONS = ['call', 'step', 'piece', 'concat', 'memory', 'free'] as const;

/** The name of an operation. */
export type Op = (typeof OPERATIONS)[number];

/**
 * The wasm instances of a thread: the entry point's, and others once they are needed. A call to a loaded instance completes before its
 * promise is returned.
 */
export class Host {
  readonly #open: (module: ModuleName) => Promise<Engine>;
  readonly #engines = new Map<ModuleName, Engine>();

  constructor(open: (module: ModuleName) => Promise<Engine>) {
    this.#open = open;
  }

  /** Set when one of them has crashed. */
  get poisoned(): boolean {
    return [...this.#engines.values()].some((engine) => engine.poisoned);
  }

  /** Does an operation. */
  async perform(op: string, args: readonly unknown[]): Promise<unknown> {
    if (!OPERATIONS.includes(op as Op)) throw new RefloatError('INVALID_ARGUMENT', `there is no operation "${op}"`);
    return (this[op as Op] as (...args: readonly unknown[]) => unknown).apply(this, args as unknown[]);
  }

  /** Loads a module, if it is not loaded yet. */
  load(module: ModuleName): Promise<void> {
    return this.#in(module, () => undefined);
  }

  /** See {@link Engine.call}. */
  call(target: Handle, method: string, args: readonly unknown[]): Promise<unknown> {
    return this.#in(target.module, (engine) => engine.call(target, method, args));
  }

  /** See {@link Engine.step}. */
  step(target: Handle, method: string, args: readonly unknown[]): Promise<Step> {
    return this.#in(target.module, (engine) => engine.step(target, method, args));
  }

  /** See {@link Engine.piece}. */
  piece(secret: Handle, index: number): Promise<Digested> {
    return this.#in(secret.module, (engine) => engine.piece(secret, index));
  }

  /** See {@link Engine.concat}. */
  concat(lists: Joined): Promise<Made<GlueGateCiphertext>> {
    return this.#in('gates', (engine) => engine.concat(lists));
  }

  /** Memory of the instances together. */
  memory(): Memory {
    const each = [...this.#engines.values()].map((engine) => engine.memory());
    const sum = (part: keyof Memory): number => each.reduce((total, memory) => total + memory[part], 0);
    return { bytes: sum('bytes'), objects: sum('objects'), instances: sum('instances') };
  }

  /** Frees an object; freeing it twice is fine. */
  free(handle: Handle): void {
    this.#engines.get(handle.module)?.free(handle);
  }

  async #in<T>(module: ModuleName, use: (engine: Engine) => T): Promise<T> {
    const engine = this.#engines.get(module) ?? (await this.#open(module));
    this.#engines.set(module, engine);
    return use(engine);
  }
}
