import type { GateEngine, GateStep } from '../engine/gates.js';
import { checkOperands, checkTable, checkWeights, equallyLong, natural } from '../gates/arguments.js';
import type { CircuitInfo } from '../gates/circuit.js';
import type { CircuitEvent, GateEvent, GateStageId } from '../gates/events.js';
import type { GateName, GatePreset } from '../gates/params.js';
import { keyMismatch } from '../mismatch.js';
import { GateCiphertext } from './gate-ciphertext.js';
import type { GateKeySet } from './gate-key-set.js';
import { SyncResource } from './resource.js';
import { SyncRun } from './run.js';

/** Options of `GateKeys.gateRun` and `GateKeys.lookUpRun` in their direct form. */
export interface GateRunOptions {
  /** The secret key: adds `view` events, what the state holds after each step, decrypted here. */
  readonly inspect?: GateKeySet;
  /** Products of the blind rotation done by one step; 64 by default. */
  readonly productsPerStep?: number;
}

/** The public keys for computing on encrypted bits; see `GateKeys` of the main entry. */
export class GateKeys extends SyncResource<GateEngine> {
  /** The parameter set. */
  readonly params: GatePreset;
  /** Hexadecimal id of the secret key they belong to. */
  readonly keyId: string;
  /** Bytes they take in memory. */
  readonly memoryBytes: number;

  /** @internal */
  constructor(engine: GateEngine, handle: number, params: GatePreset, keyId: string, memoryBytes: number) {
    super(engine, handle, 'the evaluation keys');
    this.params = params;
    this.keyId = keyId;
    this.memoryBytes = memoryBytes;
  }

  /** A gate, place by place of its operands, which have the same length. */
  gate(gate: GateName, ...operands: readonly GateCiphertext[]): GateCiphertext {
    checkOperands(gate, operands.map((list) => list.length));
    return this.#made(this.engine.gateEvaluate(this.handle, gate, this.#handles(operands)));
  }

  /** `table[m]` for each item m, as integers below `messages`, by default as many as x has; 0 makes bits. */
  lookUp(x: GateCiphertext, table: readonly number[], options: { readonly messages?: number } = {}): GateCiphertext {
    const [handle] = this.#handles([x]) as [number];
    const [entries, messages] = checkTable(table, options.messages ?? x.messages);
    return this.#made(this.engine.gateLookUp(this.handle, handle, entries, messages));
  }

  /** constant + sum of weights times integers, place by place; no bootstrapping. */
  sum(terms: readonly (readonly [weight: number, x: GateCiphertext])[], constant = 0): GateCiphertext {
    const lists = terms.map(([, x]) => x);
    equallyLong(lists.map((list) => list.length));
    const weights = checkWeights(terms.map(([weight]) => weight));
    return this.#made(this.engine.gateSum(this.handle, this.#handles(lists), weights, natural(constant, 'the constant')));
  }

  /** Evaluates a circuit, a gate a step; see `GateKeys.run` of the main entry. */
  run(
    circuit: CircuitInfo | string,
    inputs: GateCiphertext | readonly GateCiphertext[],
  ): SyncRun<GateCiphertext, CircuitEvent> {
    const { engine, handle } = this;
    const handles = this.#handles(inputs instanceof GateCiphertext ? [inputs] : inputs);
    const run = engine.circuitBegin(typeof circuit === 'string' ? circuit : circuit.text, handles);
    return this.#run(
      run,
      () => engine.circuitStep(run, handle),
      () => engine.circuitFinish(run, handle),
      (event, gateMs) => (event.kind === 'progress' ? { ...event, gateMs } : event),
    );
  }

  /** One gate of one bootstrapping, some products a step; see `GateKeys.gateRun` of the main entry. */
  gateRun(
    gate: GateName,
    operands: readonly GateCiphertext[],
    options: GateRunOptions = {},
  ): SyncRun<GateCiphertext, GateEvent> {
    const handles = this.#handles(operands);
    return this.#bootstrap(options, (products) => this.engine.gateRunBegin(this.handle, gate, handles, products));
  }

  /** A look-up of one bootstrapping on one integer; see `GateKeys.lookUpRun` of the main entry. */
  lookUpRun(
    x: GateCiphertext,
    table: readonly number[],
    options: GateRunOptions & { readonly messages?: number } = {},
  ): SyncRun<GateCiphertext, GateEvent> {
    const [handle] = this.#handles([x]) as [number];
    const [entries, messages] = checkTable(table, options.messages ?? x.messages);
    return this.#bootstrap(options, (products) =>
      this.engine.gateLookUpBegin(this.handle, handle, entries, messages, products),
    );
  }

  #bootstrap(options: GateRunOptions, begin: (products: number) => number): SyncRun<GateCiphertext, GateEvent> {
    const { engine } = this;
    const secret = options.inspect?.handleIn(engine);
    const run = begin(natural(options.productsPerStep ?? 64, 'productsPerStep'));
    let [stage, busyMs, begun]: [GateStageId | 'input', number, boolean] = ['input', 0, false];
    const look = (): GateEvent[] => (secret === undefined ? [] : [engine.gateRunView(run, secret, stage, busyMs)]);
    return this.#run(
      run,
      () => {
        const before = begun ? [] : look();
        const { events, finished, ms } = engine.gateRunStep(run);
        const stamped = events.map((event): GateEvent => {
          if (event.stage !== 'input') stage = event.stage;
          return { ...event, atMs: busyMs + event.atMs };
        });
        [busyMs, begun] = [busyMs + ms, true];
        return { events: [...before, ...stamped, ...look()], finished, ms: 0 };
      },
      () => engine.gateRunFinish(run),
    );
  }

  /** A run whose events are stamped with the milliseconds of work since it began. */
  #run<E extends { readonly atMs: number }>(
    run: number,
    step: () => GateStep<E>,
    finish: () => ConstructorParameters<typeof GateCiphertext>[1],
    mark: (event: E, ms: number) => E = (event) => event,
  ): SyncRun<GateCiphertext, E> {
    let busyMs = 0;
    return new SyncRun({
      step(emit) {
        const { events, finished, ms } = step();
        for (const event of events) emit(mark({ ...event, atMs: busyMs + event.atMs }, ms));
        busyMs += ms;
        return finished;
      },
      finish: () => this.#made(finish()),
      abandon: () => this.engine.free(run),
    });
  }

  #made(info: ConstructorParameters<typeof GateCiphertext>[1]): GateCiphertext {
    return new GateCiphertext(this.engine, info);
  }

  #handles(lists: readonly GateCiphertext[]): number[] {
    for (const list of lists) keyMismatch(this.keyId, list, 'these evaluation keys');
    return lists.map((list) => list.handleIn(this.engine));
  }
}
