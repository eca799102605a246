import { unlessAborted } from '../api/abandon.js';
import { bytesOf, named, textOf } from '../api/arguments.js';
import { checkOptions } from '../api/check-options.js';
import { IMPORT, KEYGEN, type ImportOptions, type KeygenOptions } from '../api/options.js';
import { copied } from '../api/secret.js';
import { nativeOnly, setName, unpacked } from '../api/sets.js';
import { mustHold } from '../api/wire-kinds.js';
import { GATES, classOf } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError, throwIfAborted } from '../errors.js';
import { natural } from './arguments.js';
import { GateCiphertext } from './ciphertext.js';
import { describeCircuit, type CircuitInfo } from './circuit.js';
import { GateKeySet } from './key-set.js';
import { WIDE, type GatePreset, type GatePresetName } from './params.js';

/** How an adder or a comparator passes on its carries: with fewest gates, or with fewest levels. */
export type CarryForm = 'ripple' | 'prefix';

/**
 * Gates, look-ups and circuits on encrypted bits and small integers (DM/CGGI): one bootstrapping of
 * milliseconds each, with keys that a page can hold. Their wasm module is loaded with the first call.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 *
 * const rf = await Refloat.load();
 * const vote = await rf.gates.circuit('input a b c\noutput yes\nyes = MAJ3 a b c\n');
 * console.log(vote.bootstraps, vote.gates[0]?.gate); // 1 maj3
 *
 * using keys = await rf.gates.keygen('toy-fbs', { allowInsecure: true });
 * using evaluation = await keys.evaluationKeys();
 * using x = await keys.encryptIntegers([2, 3]);
 * using squares = await evaluation.lookUp(x, Array.from({ length: 16 }, (_, m) => (m * m) % 16));
 * console.log(await keys.decryptIntegers(squares)); // [ 4, 9 ]
 * rf.close();
 * ```
 */
export class Gates {
  readonly #port: Port;

  /** @internal */
  constructor(port: Port) {
    this.#port = port;
  }

  /** The parameter sets of this version that run in the page, the default first. */
  async presets(): Promise<readonly GatePreset[]> {
    const names: readonly string[] = await this.#port.call(GATES, 'gatePresetNames');
    return Promise.all(names.map((name) => this.params(name)));
  }

  /** One parameter set by name. */
  async params(name: GatePresetName | (string & {})): Promise<GatePreset> {
    return gatePreset(this.#port, name);
  }

  /**
   * Makes a secret key from fresh randomness of the platform.
   *
   * @param preset name of a parameter set, `bool-128` (128 bits) if left out
   */
  async keygen(preset: GatePresetName | (string & {}) = 'bool-128', options: KeygenOptions = {}): Promise<GateKeySet> {
    checkOptions(options, 'keygen()', KEYGEN);
    return unlessAborted(options.signal, async () => {
      const params = await gatePreset(this.#port, preset);
      throwIfAborted(options.signal);
      const made = await this.#port.call(SECRET_KEY, 'generate', preset, options.allowInsecure === true, copied(options.seed));
      return new GateKeySet(this.#port, made, params);
    });
  }

  /** Reads back what `GateKeySet.exportSecret()` gave. */
  async importKeys(bytes: Uint8Array, options: ImportOptions = {}): Promise<GateKeySet> {
    checkOptions(options, 'importKeys()', IMPORT);
    const own = bytesOf(bytes, 'importKeys()');
    mustHold(own, 'secret key', 'gates.importKeys()');
    return unlessAborted(options.signal, async () => {
      const made = await this.#port.call(SECRET_KEY, 'importSecret', own, options.allowInsecure === true);
      return new GateKeySet(this.#port, made, await this.params(made.preset));
    });
  }

  /** Reads a list of encrypted bits or integers; damaged or foreign bytes throw `BAD_BYTES`. */
  async ciphertextFromBytes(bytes: Uint8Array): Promise<GateCiphertext> {
    const own = bytesOf(bytes, 'ciphertextFromBytes()');
    mustHold(own, 'ciphertext for gates', 'gates.ciphertextFromBytes()');
    const made = await this.#port.call(classOf(GATES, 'GateCiphertext'), 'fromBytes', own);
    return new GateCiphertext(this.#port, made);
  }

  /**
   * Reads a circuit from text, one statement per line: `input a b c`, `output yes`, `yes = MAJ3 a b c`.
   * Gates have the names of {@link GateName}, in capitals; `a[0..8]` stands for a[0] to a[7], and `#`
   * begins a comment. Mistakes throw `INVALID_ARGUMENT` and name their line.
   */
  async circuit(text: string): Promise<CircuitInfo> {
    return describeCircuit(this.#port, textOf(text, 'circuit()', 'the text of a circuit'));
  }

  /** Adds two unsigned integers, lowest bits first: inputs a, b; outputs the sum and the carry. */
  async adder(width: number, form: CarryForm = 'ripple'): Promise<CircuitInfo> {
    return this.#arithmetic('adder', width, form);
  }

  /** Compares two unsigned integers, lowest bits first: inputs a, b; outputs a < b, a = b, a > b. */
  async comparator(width: number, form: CarryForm = 'ripple'): Promise<CircuitInfo> {
    return this.#arithmetic('comparator', width, form);
  }

  async #arithmetic(kind: string, width: number, form: CarryForm): Promise<CircuitInfo> {
    if (form !== 'ripple' && form !== 'prefix') {
      throw new RefloatError('INVALID_ARGUMENT', `carries travel by 'ripple' or 'prefix', not by ${named(form)}; pass one of the two`);
    }
    return this.circuit(await this.#port.call(GATES, 'circuitText', kind, natural(width, 'the width'), form === 'prefix'));
  }
}

const SECRET_KEY = classOf(GATES, 'GateSecretKey');

/** A parameter set by name. @internal */
export async function gatePreset(port: Port, name: string): Promise<GatePreset> {
  if ((WIDE as readonly string[]).includes(setName(name))) throw nativeOnly(name);
  try {
    return unpacked(await port.call(GATES, 'gatePreset', name)) as GatePreset;
  } catch (cause) {
    if (!(cause instanceof RefloatError) || cause.code !== 'INVALID_ARGUMENT') throw cause;
    const names: readonly string[] = await port.call(GATES, 'gatePresetNames');
    throw new RefloatError('INVALID_ARGUMENT', `no set for gates is called "${name}"; there are ${names.join(', ')}; sets of numbers are in rf.keygen()`, { cause });
  }
}
