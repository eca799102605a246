import type { GateEngine } from '../engine/gates.js';
import { natural } from '../gates/arguments.js';
import type { CircuitInfo } from '../gates/circuit.js';
import type { CarryForm } from '../gates/gates.js';
import type { GatePreset, GatePresetName } from '../gates/params.js';
import { GateCiphertext } from './gate-ciphertext.js';
import { GateKeySet } from './gate-key-set.js';

/**
 * Gates, look-ups and circuits in this thread; see `Gates` of the main entry.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat/sync';
 *
 * const rf = await Refloat.load();
 * const gates = await rf.gates();
 * using keys = gates.keygen('toy-bool', { allowInsecure: true });
 * using evaluation = keys.evaluationKeys();
 * using a = keys.encrypt([true, true]);
 * using b = keys.encrypt([true, false]);
 * console.log(keys.decrypt(evaluation.gate('nand', a, b))); // [ false, true ]
 * ```
 */
export class Gates {
  readonly #engine: GateEngine;

  /** @internal */
  constructor(engine: GateEngine) {
    this.#engine = engine;
  }

  /** The parameter sets of this version that run in the page, the default first. */
  presets(): readonly GatePreset[] {
    return this.#engine.gatePresets();
  }

  /** One parameter set by name. */
  params(name: GatePresetName | (string & {})): GatePreset {
    return this.#engine.gatePreset(name);
  }

  /** Makes a secret key from fresh randomness of the platform; `bool-128` if no set is named. */
  keygen(
    preset: GatePresetName | (string & {}) = 'bool-128',
    options: { readonly allowInsecure?: boolean; readonly seed?: Uint8Array } = {},
  ): GateKeySet {
    return new GateKeySet(this.#engine, this.#engine.gateKeygen(preset, options.allowInsecure === true, options.seed));
  }

  /** Takes back what `GateKeySet.exportSecret()` gave. */
  importKeys(bytes: Uint8Array, options: { readonly allowInsecure?: boolean } = {}): GateKeySet {
    return new GateKeySet(this.#engine, this.#engine.gateImportSecret(bytes, options.allowInsecure === true));
  }

  /** Reads a list of encrypted bits or integers; damaged or foreign bytes throw `BAD_BYTES`. */
  ciphertextFromBytes(bytes: Uint8Array): GateCiphertext {
    return new GateCiphertext(this.#engine, this.#engine.gateFromBytes(bytes));
  }

  /** Reads a circuit from text; see the main entry. */
  circuit(text: string): CircuitInfo {
    return this.#engine.circuitInfo(text);
  }

  /** Adds two unsigned integers, lowest bits first: inputs a, b; outputs the sum and the carry. */
  adder(width: number, form: CarryForm = 'ripple'): CircuitInfo {
    return this.#arithmetic('adder', width, form);
  }

  /** Compares two unsigned integers, lowest bits first: inputs a, b; outputs a < b, a = b, a > b. */
  comparator(width: number, form: CarryForm = 'ripple'): CircuitInfo {
    return this.#arithmetic('comparator', width, form);
  }

  #arithmetic(kind: string, width: number, form: CarryForm): CircuitInfo {
    return this.circuit(this.#engine.circuitText(kind, natural(width, 'the width'), form === 'prefix'));
  }
}
