import type { Engine } from './engine.js';
import type { GateEngine } from './gates.js';
import type { Handle, Memory } from './objects.js';

/** All operations: those of the engine, and those on gates. */
export type Operations = Omit<Engine, 'replaced'> & Omit<GateEngine, keyof Engine>;

/** The names of the operations. */
export type Op = {
  [K in keyof Operations]: Operations[K] extends (...args: never[]) => unknown ? K : never;
}[keyof Operations];

/** Where the modules come from: that of the entry point, and that of gates; `undefined` for the package's files. */
export type Sources = readonly [wasm?: unknown, gatesWasm?: unknown];

/** Loads the module of an entry point. */
export type OpenHost = (sources: Sources) => Promise<Host>;

/** The wasm instances of a thread: the engine's own, and that of gates once an operation on them is called. */
export class Host {
  readonly engine: Engine;
  readonly #openGates: () => Promise<GateEngine>;
  #opening: Promise<GateEngine> | undefined;
  #gates: GateEngine | undefined;

  constructor(engine: Engine, openGates: () => Promise<GateEngine>) {
    this.engine = engine;
    this.#openGates = openGates;
  }

  /** Set by a crash of one of them. */
  get poisoned(): boolean {
    return this.engine.poisoned || this.#gates?.poisoned === true;
  }

  /** Runs an operation, in whichever instance it is at home. */
  async call(op: Op, args: readonly unknown[]): Promise<unknown> {
    const home = op in this ? this : op in this.engine ? this.engine : await this.#withGates();
    const operation = (home as unknown as Operations)[op] as (...args: readonly unknown[]) => unknown;
    return operation.apply(home, [...args]);
  }

  /** Frees an object, wherever it is; twice is once. */
  free(handle: Handle): void {
    this.engine.free(handle);
    this.#gates?.free(handle);
  }

  /** Memory of the instances together. */
  memory(): Memory {
    const own = this.engine.memory();
    const gates = this.#gates?.memory();
    if (!gates) return own;
    return {
      bytes: own.bytes + gates.bytes,
      objects: own.objects + gates.objects,
      instances: own.instances + gates.instances,
    };
  }

  async #withGates(): Promise<GateEngine> {
    try {
      this.#gates = await (this.#opening ??= this.#openGates());
      return this.#gates;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
