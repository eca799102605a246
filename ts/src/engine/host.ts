import type { Preset } from '../params.js';
import type { Engine } from './engine.js';
import type { GateEngine } from './gates.js';
import { Lazy } from './lazy.js';
import type { Handle, Memory } from './objects.js';

/** All operations: those of the engines, those on gates, and those that only the host can answer. */
export type Operations = Omit<Engine, 'replaced'> &
  Omit<GateEngine, keyof Engine> &
  Pick<Host, 'conventionalPresets'>;

/** The names of the operations. */
export type Op = {
  [K in keyof Operations]: Operations[K] extends (...args: never[]) => unknown ? K : never;
}[keyof Operations];

/** Where the modules come from; `undefined` for the package's files. */
export interface Sources {
  /** That of the entry point. */
  readonly wasm?: unknown;
  readonly gatesWasm?: unknown;
  readonly conventionalWasm?: unknown;
}

/** Loads the module of an entry point. */
export type OpenHost = (sources: Sources) => Promise<Host>;

/** The wasm instances of a thread: that of the entry point, and others once an operation needs them. */
export class Host {
  readonly engine: Engine;
  readonly #gates: Lazy<GateEngine>;
  readonly #conventional: Lazy<Engine>;

  constructor(engine: Engine, gates: () => Promise<GateEngine>, conventional: () => Promise<Engine>) {
    this.engine = engine;
    this.#gates = new Lazy(gates);
    this.#conventional = new Lazy(conventional);
  }

  /** Set by a crash of one of them. */
  get poisoned(): boolean {
    return this.#all().some((engine) => engine.poisoned);
  }

  /** Runs an operation, in whichever instance it is at home. */
  async call(op: Op, args: readonly unknown[]): Promise<unknown> {
    const home = op in this ? this : op in this.engine ? await this.#engineOf(args[0]) : await this.openGates();
    const operation = (home as unknown as Operations)[op] as (...args: readonly unknown[]) => unknown;
    return operation.apply(home, [...args]);
  }

  /** The engine of conventional sets. */
  conventional(): Promise<Engine> {
    return this.#conventional.load();
  }

  /** The conventional sets; their module is loaded for it. */
  async conventionalPresets(): Promise<readonly Preset[]> {
    return (await this.conventional()).describe().presets;
  }

  /** Compares the kernels of the entry point's module. */
  kernelSelfCheck(seed: number): string {
    return this.engine.kernelSelfCheck(seed);
  }

  /** BLAKE3 of some bytes, whatever they are, in hexadecimal. */
  digest(bytes: Uint8Array): string {
    return this.engine.digest(bytes);
  }

  /** Frees an object, wherever it is; twice is once. */
  free(handle: Handle): void {
    for (const engine of this.#all()) engine.free(handle);
  }

  /** Memory of the instances together. */
  memory(): Memory {
    const each = this.#all().map((engine) => engine.memory());
    const sum = (part: (memory: Memory) => number): number => each.reduce((total, memory) => total + part(memory), 0);
    return { bytes: sum((m) => m.bytes), objects: sum((m) => m.objects), instances: sum((m) => m.instances) };
  }

  /** The instance of gates, loaded if it has not been. */
  openGates(): Promise<GateEngine> {
    return this.#gates.load();
  }

  #all(): (Engine | GateEngine)[] {
    return [this.engine, this.#gates.loaded, this.#conventional.loaded].filter((engine) => engine !== undefined);
  }

  /** Which of the two engines the first argument of an operation belongs to: a handle, the name of a set, or bytes of a set. */
  async #engineOf(first: unknown): Promise<Engine> {
    if (typeof first === 'number') return this.#conventional.loaded?.has(first) ? this.#conventional.loaded : this.engine;
    const others = typeof first === 'string' ? !this.engine.knows(first) : first instanceof Uint8Array && this.engine.isForeign(first);
    return others ? this.conventional() : this.engine;
  }
}
