import { mustBe } from '../api/arguments.js';
import { NUMBER, checkOptions, objectOf, type Kinds } from '../api/check-options.js';
import { EvaluationKeys } from '../api/evaluation-keys.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { SecretKey } from '../api/secret.js';
import { keyMismatch } from '../api/sets.js';
import { EngineRun, freeing } from '../engine/engine-run.js';
import { Fraction } from '../engine/fraction.js';
import type { GlueCircuitRun, GlueGateCiphertext, GlueGateKeys, GlueGateRun, GlueTasks } from '../engine/glue.js';
import { GATES, classOf, type Handle, type Made } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import { SteppableRun } from '../run.js';
import { gateMs, shareGates } from '../sharing/gates.js';
import { checkJoined, checkOperands, checkTable, checkTerms, checkWeights, circuitText, equallyLong, natural } from './arguments.js';
import { GateCiphertext } from './ciphertext.js';
import { describeCircuit, type CircuitInfo } from './circuit.js';
import type { CircuitEvent, GateEvent, GateStageId, GateView } from './events.js';
import type { GateKeySet } from './key-set.js';
import type { GateName, GatePreset } from './params.js';

/** Options of `GateKeys.gateRun` and `GateKeys.lookUpRun`. */
export interface GateRunOptions extends SignalOptions {
  /** The secret key: adds `view` events, what the state holds after each step, decrypted here. */
  readonly inspect?: GateKeySet | undefined;
  /** Products of the blind rotation that one step does; 64 by default. */
  readonly productsPerStep?: number | undefined;
}

const RUN: Kinds<GateRunOptions> = {
  ...SIGNAL,
  inspect: objectOf('the key set that decrypts the operands', SecretKey),
  productsPerStep: NUMBER,
};

/**
 * The public keys for computing on encrypted bits, resident in the wasm instance. Every gate but
 * NOT is one bootstrapping (`mux` and the three-input AND and OR are two), so its result is as
 * fresh as its operands were.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * using keys = await rf.gates.keygen('toy-bool', { allowInsecure: true });
 * using evaluation = await keys.evaluationKeys();
 * using a = await keys.encrypt([true, true]);
 * using b = await keys.encrypt([true, false]);
 * using nand = await evaluation.gate('nand', a, b);
 * console.log(await keys.decrypt(nand)); // [ false, true ]
 *
 * const circuit = await rf.gates.adder(8);
 * const bits = (n: number): boolean[] => Array.from({ length: 8 }, (_, i) => ((n >> i) & 1) === 1);
 * using x = await keys.encrypt(bits(200));
 * using y = await keys.encrypt(bits(77));
 * const run = evaluation.run(circuit, [x, y]);
 * for await (const e of run) if (e.kind === 'progress') console.log(`gate ${e.done} of ${e.total}`);
 * using sum = await run;
 * console.log((await keys.decrypt(sum)).reduce((n, bit, i) => n + (Number(bit) << i), 0)); // 277
 * rf.close();
 * ```
 */
export class GateKeys extends EvaluationKeys<GlueGateKeys, GatePreset> {
  /** @internal */
  constructor(port: Port, made: Made<GlueGateKeys>, params: GatePreset) {
    super(port, made, { params, id: made.keyId }, made.memoryBytes, 'the evaluation keys', 'GateKeys', 'evaluationKeys');
  }

  /** Applies a gate to each position of its operands, which have the same length. */
  async gate(gate: GateName, ...operands: readonly GateCiphertext[]): Promise<GateCiphertext> {
    for (const operand of operands) mustBeEncrypted(operand, `${gate}()`);
    checkOperands(gate, lengths(operands));
    return new GateCiphertext(this.port, await this.port.call(this.handle, 'gate', gate, this.#handles(operands)));
  }

  /** not a. Free: no bootstrapping. */
  not(a: GateCiphertext): Promise<GateCiphertext> {
    return this.gate('not', a);
  }

  /** a and b. */
  and(a: GateCiphertext, b: GateCiphertext): Promise<GateCiphertext> {
    return this.gate('and', a, b);
  }

  /** not (a and b). */
  nand(a: GateCiphertext, b: GateCiphertext): Promise<GateCiphertext> {
    return this.gate('nand', a, b);
  }

  /** a or b. */
  or(a: GateCiphertext, b: GateCiphertext): Promise<GateCiphertext> {
    return this.gate('or', a, b);
  }

  /** a xor b. */
  xor(a: GateCiphertext, b: GateCiphertext): Promise<GateCiphertext> {
    return this.gate('xor', a, b);
  }

  /** choice ? a : b. */
  mux(choice: GateCiphertext, a: GateCiphertext, b: GateCiphertext): Promise<GateCiphertext> {
    return this.gate('mux', choice, a, b);
  }

  /**
   * Any function of a bit or a small integer: `table[m]` for each item m. The results are integers
   * below `messages`, by default `x.messages`; 0 makes them bits.
   */
  async lookUp(
    x: GateCiphertext,
    table: readonly number[],
    options: { readonly messages?: number | undefined } = {},
  ): Promise<GateCiphertext> {
    checkOptions(options, 'lookUp()', { messages: NUMBER });
    const handle = this.#handle(x);
    const [entries, messages] = checkTable(table, options.messages ?? x.messages);
    return new GateCiphertext(this.port, await this.port.call(this.handle, 'lookUp', handle, entries, messages));
  }

  /**
   * The bits of integers, the lowest first, each for all items at once; there are as many as integers below `x.messages` have. Each bit is
   * a look-up, so all of them are fresh.
   *
   * @example
   * ```ts
   * import { Refloat } from 'refloat';
   *
   * const rf = await Refloat.load();
   * using keys = await rf.gates.keygen('toy-fbs', { allowInsecure: true });
   * using evaluation = await keys.evaluationKeys();
   * using x = await keys.encryptIntegers([2, 3]);
   * const [low, ...rest] = await evaluation.toBits(x);
   * if (!low) throw new Error('integers have a bit at least');
   * using flipped = await evaluation.not(low);
   * using y = await evaluation.fromBits([flipped, ...rest]);
   * console.log(await keys.decryptIntegers(y)); // 3, 2
   * rf.close();
   * ```
   */
  async toBits(x: GateCiphertext): Promise<GateCiphertext[]> {
    mustBeEncrypted(x, 'toBits()');
    if (x.messages === 0) throw new RefloatError('INVALID_ARGUMENT', 'toBits() got bits, which it would give; pass integers, of encryptIntegers() or a look-up');
    const out: GateCiphertext[] = [];
    try {
      for (let place = 0; 2 ** place < x.messages; place++) {
        const table = Array.from({ length: x.messages }, (_, value) => (value >> place) & 1);
        out.push(await this.lookUp(x, table, { messages: 0 }));
      }
    } catch (error) {
      for (const bit of out) bit.free();
      throw error;
    }
    return out;
  }

  /**
   * Integers below `messages` from their bits, the lowest first: bits from {@link GateKeys.toBits}, if `messages` is a power of two, or
   * bits that gates have computed. Each bit is a look-up.
   *
   * @param messages by default the number that the set is made for, `params.gates.messages`
   */
  async fromBits(bits: readonly GateCiphertext[], messages: number = this.params.gates.messages): Promise<GateCiphertext> {
    checkJoined(bits, messages);
    equallyLong(lengths(bits));
    const terms: GateCiphertext[] = [];
    try {
      for (const [place, bit] of bits.entries()) terms.push(await this.lookUp(bit, [0, 2 ** place], { messages }));
      return await this.sum(terms.map((term) => [1, term] as const));
    } finally {
      for (const term of terms) term.free();
    }
  }

  /**
   * constant + sum of weights times integers, place by place; no bootstrapping. The sums must stay
   * below `messages`, which nobody can check, and their noise grows with the squares of the weights.
   */
  async sum(terms: readonly (readonly [weight: number, x: GateCiphertext])[], constant = 0): Promise<GateCiphertext> {
    checkTerms(terms);
    const lists = terms.map(([, x]) => x);
    equallyLong(lengths(lists));
    const weights = checkWeights(terms.map(([weight]) => weight));
    const handles = this.#handles(lists);
    const made = await this.port.call(this.handle, 'weightedSum', handles, weights, natural(constant, 'the constant'));
    return new GateCiphertext(this.port, made);
  }

  /**
   * Evaluates a circuit in the page, on the threads that `Refloat.load()` was given. Gates that do not
   * depend on each other are computed at the same time, with the same result, bit for bit. The items of
   * `inputs`, one after the other, are the circuit's inputs; the result holds its outputs in order. A step
   * of the run is one gate.
   */
  run(
    circuit: CircuitInfo | string,
    inputs: GateCiphertext | readonly GateCiphertext[],
    options: SignalOptions = {},
  ): SteppableRun<GateCiphertext, CircuitEvent> {
    checkOptions(options, 'run()', SIGNAL);
    const text = circuitText(circuit, 'run()');
    const handles = this.#handles(inputs instanceof GateCiphertext ? [inputs] : inputs);
    const { port, handle: keys } = this;
    return new SteppableRun(async (control) => {
      await control.gate();
      const begun = port.call(classOf(GATES, 'CircuitRun'), 'begin', text, handles);
      return freeing(port, begun, async (handle) => {
        const run = new EngineRun<GlueCircuitRun, CircuitEvent>(port, handle, control, Fraction.of(['gates']));
        const finish = async () => new GateCiphertext(port, await port.call(handle, 'finish', keys));
        const tasks: GlueTasks | undefined = handle.tasks;
        if (port.pool && tasks) {
          const info = typeof circuit === 'string' ? await describeCircuit(port, text) : circuit;
          if (info.gates.length > info.depth) {
            await shareGates(run, port.pool, tasks, keys, info);
            return finish();
          }
        }
        for (;;) {
          const step = await port.step(handle, 'step', keys);
          run.report(step, (event) => gateMs(event, step.ms));
          if (step.value) return finish();
          await control.gate();
        }
      });
    }, options.signal);
  }

  /**
   * One gate of one bootstrapping (all but `not`, `mux` and the three-input AND and OR), stage by
   * stage, on operands of one bit each. With `inspect` its events tell what the state holds.
   */
  gateRun(
    gate: GateName,
    operands: readonly GateCiphertext[],
    options: GateRunOptions = {},
  ): SteppableRun<GateCiphertext, GateEvent> {
    checkOptions(options, 'gateRun()', RUN);
    const [keys, handles] = [this.handle, this.#handles(operands)];
    return this.#bootstrapRun(options, (products) => this.port.call(GATE_RUN, 'begin', keys, gate, handles, products));
  }

  /**
   * A look-up of one bootstrapping, as {@link GateKeys.lookUp}, on one integer, stage by stage. With
   * `inspect` its events tell what the state holds: the accumulator is the table, being turned.
   */
  lookUpRun(
    x: GateCiphertext,
    table: readonly number[],
    options: GateRunOptions & { readonly messages?: number | undefined } = {},
  ): SteppableRun<GateCiphertext, GateEvent> {
    checkOptions(options, 'lookUpRun()', { ...RUN, messages: NUMBER });
    const handle = this.#handle(x);
    const [entries, messages] = checkTable(table, options.messages ?? x.messages);
    const keys = this.handle;
    return this.#bootstrapRun(options, (products) =>
      this.port.call(GATE_RUN, 'beginLookUp', keys, handle, entries, messages, products),
    );
  }

  #bootstrapRun(
    options: GateRunOptions,
    begin: (products: number) => Promise<Handle<GlueGateRun>>,
  ): SteppableRun<GateCiphertext, GateEvent> {
    const { port } = this;
    const secret = options.inspect?.handleIn(port);
    const products = natural(options.productsPerStep ?? 64, 'productsPerStep');
    return new SteppableRun(async (control) => {
      await control.gate();
      return freeing(port, begin(products), async (handle) => {
        const run = new EngineRun<GlueGateRun, GateEvent>(port, handle, control, Fraction.of(GATE_STAGES));
        let stage: GateStageId | 'input' = 'input';
        const look = async (): Promise<void> => {
          if (!secret) return;
          const seen: Pick<GateView, 'form' | 'data'> = await port.call(handle, 'view', secret);
          control.emit({ kind: 'view', stage, atMs: run.busyMs, ...seen });
        };
        await look();
        for (;;) {
          const { value: finished, events } = await run.step('step');
          stage = (events.at(-1) as GateEvent | undefined)?.stage ?? stage;
          await look();
          if (finished) return new GateCiphertext(port, await port.call(handle, 'finish'));
          await control.gate();
        }
      });
    }, options.signal);
  }

  #handle(list: GateCiphertext): Handle<GlueGateCiphertext> {
    mustBeEncrypted(list, 'this operation');
    keyMismatch(this.keyId, list, 'these evaluation keys');
    return list.handleIn(this.port);
  }

  #handles(lists: readonly GateCiphertext[]): Handle<GlueGateCiphertext>[] {
    // Anything that is not a list is refused by its name.
    if (!Array.isArray(lists)) mustBeEncrypted(lists, 'this operation');
    return lists.map((list) => this.#handle(list));
  }
}

const GATE_RUN = classOf(GATES, 'GateRun');

function mustBeEncrypted(value: unknown, where: string): void {
  mustBe(value, GateCiphertext, where, 'ciphertexts of bits, which encrypt() of a key set of rf.gates makes');
}

function lengths(lists: readonly GateCiphertext[]): number[] {
  return lists.map((list) => list.length);
}

const GATE_STAGES: readonly GateStageId[] = ['key_switch', 'mod_switch', 'blind_rotate', 'sample_extract'];
