import { NATIVE_ONLY } from '../digits/native.js';
import type { Port } from '../engine/port.js';
import type { GlueSet } from '../engine/glue.js';
import { GATES, INTEGERS, ckks } from '../engine/handle.js';
import { MODULES, OTHER_CKKS_MODULES, moduleOf, type CkksMethod, type ModuleName } from '../engine/modules.js';
import { RefloatError } from '../errors.js';
import { toHex } from '../hex.js';
import type { Preset, SetWithParts } from '../params.js';
import { named, sentInstead } from './arguments.js';
import { Encrypted } from './encrypted.js';
import { isObject, mustHold, type WireKind } from './wire-kinds.js';

/** Where an object on the wire has the fingerprint of its set. */
const FINGERPRINT = [16, 32] as const;

/** The CKKS parameter sets: those of the entry point's module, and those of other modules once these are loaded. */
export class Sets {
  readonly #port: Port;
  readonly #main: readonly Preset[];
  readonly #others = new Map<ModuleName, readonly Preset[]>();
  readonly #loading = new Map<ModuleName, Promise<void>>();

  constructor(port: Port, main: readonly GlueSet[]) {
    this.#port = port;
    this.#main = main.map(preset);
  }

  /** The sets known so far, including those of earlier versions, for which no keys are made any more. */
  get known(): readonly Preset[] {
    return [...this.#main, ...OTHER_CKKS_MODULES.flatMap((module) => this.#others.get(module) ?? [])];
  }

  /** The sets known so far for which keys are made. */
  get today(): readonly Preset[] {
    return this.known.filter((p) => !p.successor);
  }

  /** Loads the other modules with sets, or the module of one method, if not loaded yet. */
  async load(method?: CkksMethod): Promise<void> {
    const methods = OTHER_CKKS_MODULES.map((module) => MODULES[module].method);
    if (method !== undefined && method !== MODULES.main.method && !methods.includes(method)) {
      const all = [MODULES.main.method, ...methods].join(', ');
      throw new RefloatError('INVALID_ARGUMENT', `${named(method)} is not a method whose sets run in the page; those are ${all}`);
    }
    const modules = method === undefined ? OTHER_CKKS_MODULES : OTHER_CKKS_MODULES.filter((module) => MODULES[module].method === method);
    await Promise.all(modules.map((module) => this.#load(module)));
  }

  async #load(module: ModuleName): Promise<void> {
    let loading = this.#loading.get(module);
    if (!loading) {
      loading = this.#port.call(ckks(module), 'presets').then((sets) => void this.#others.set(module, sets.map(preset)));
      this.#loading.set(module, loading);
    }
    try {
      await loading;
    } catch (error) {
      if (this.#loading.get(module) === loading) this.#loading.delete(module);
      throw error;
    }
  }

  /** Returns what `found` finds among the sets; loads one module after the other until it finds something. */
  async #search(found: () => Preset | undefined): Promise<Preset | undefined> {
    for (const module of OTHER_CKKS_MODULES) {
      const set = found();
      if (set) return set;
      await this.#load(module);
    }
    return found();
  }

  /** A known set by name. */
  named(name: string): Preset {
    setName(name);
    const found = this.#known(name);
    if (found) return found;
    if ((NATIVE_ONLY as readonly string[]).includes(name)) throw nativeOnly(name);
    const names = this.today.map((p) => p.name).join(', ');
    throw new RefloatError('INVALID_ARGUMENT', `no parameter set of numbers is called "${name}"; there are ${names}; sets of bits are in rf.gates, sets of integers in rf.integers`);
  }

  /** A set by name, from any module. */
  async find(name: string): Promise<Preset> {
    setName(name);
    return (await this.#search(() => this.#known(name))) ?? this.named(name);
  }

  /**
   * The module that reads the bytes: the entry point's, unless another one has their set.
   *
   * @throws RefloatError `BAD_BYTES` for another kind of object, `PARAMS_MISMATCH` for an object of another scheme's set
   */
  async moduleFor(bytes: Uint8Array, kind: WireKind, where: string): Promise<ModuleName> {
    mustHold(bytes, kind, where);
    if (!isObject(bytes)) return 'main';
    const fingerprint = toHex(bytes.subarray(...FINGERPRINT));
    const found = await this.#search(() => this.known.find((p) => p.fingerprint === fingerprint));
    if (found) return moduleOf(found.method);
    const other = await this.#elsewhere(fingerprint);
    if (!other) return 'main';
    const [set, scheme] = other;
    throw new RefloatError('PARAMS_MISMATCH', `rf.${where} reads objects of sets of numbers, and this one belongs to ${set}; rf.${scheme}.${where} reads it`);
  }

  /** The set of another scheme with this fingerprint, and its scheme; loads that scheme's module. */
  async #elsewhere(fingerprint: string): Promise<[set: string, scheme: 'gates' | 'integers'] | undefined> {
    const port = this.#port;
    const gates = async (): Promise<readonly GlueSet[]> =>
      Promise.all(((await port.call(GATES, 'gatePresetNames')) as readonly string[]).map((name) => port.call(GATES, 'gatePreset', name)));
    const integers = async (): Promise<readonly GlueSet[]> =>
      Promise.all(((await port.call(INTEGERS, 'integerPresetNames')) as readonly string[]).map((name) => port.call(INTEGERS, 'integerPreset', name)));
    for (const [scheme, sets] of [['gates', gates], ['integers', integers]] as const) {
      // If that module cannot be loaded, the first module's refusal stands.
      const found = (await sets().catch(() => [])).find((set) => set.fingerprint === fingerprint);
      if (found) return [found.name, scheme];
    }
    return undefined;
  }

  #known(name: string): Preset | undefined {
    return this.known.find((p) => p.name === name);
  }
}

/** Refuses anything that is not the name of a set, such as options in its place. @internal */
export function setName(name: unknown): string {
  if (typeof name === 'string') return name;
  throw new RefloatError('INVALID_ARGUMENT', `a parameter set is given by its name, such as 'toy10', not by ${named(name)}; pass the name, and options after it`);
}

/** The error for a set whose keys the page does not make. @internal */
export function nativeOnly(name: string): RefloatError {
  return new RefloatError(
    'INVALID_ARGUMENT',
    `the page does not compute with ${name}, and does not make its keys; make them on the command line, refloat keygen --preset ${name}, for a server or the Rust library`,
  );
}

/** A set as callers see it, with its parts as a list. */
export function unpacked({ partLabels, partBytes, ...rest }: GlueSet): SetWithParts {
  const keyParts = partLabels.split('\n').map((label, index) => ({ index, label, bytes: partBytes[index] ?? 0 }));
  return { ...rest, keyParts };
}

function preset(set: GlueSet): Preset {
  return unpacked(set) as Preset;
}

/**
 * Throws unless the ciphertext is one, and is encrypted under the key named.
 *
 * @param plain the method that takes plain numbers, if there is one
 */
export function keyMismatch(
  keyId: string,
  ciphertext: { readonly keyId: string; readonly preset: string },
  what: string,
  plain?: string,
): void {
  if (!(ciphertext instanceof Encrypted)) {
    const given: unknown = ciphertext;
    const isNumbers = typeof given === 'number' || typeof given === 'bigint' || Array.isArray(given) || ArrayBuffer.isView(given);
    const forNumbers = plain !== undefined && isNumbers ? `for plain numbers there is ${plain}` : undefined;
    const repair = sentInstead(given) ?? forNumbers ?? 'encrypt() makes one, and ciphertextFromBytes() reads one';
    throw new RefloatError('INVALID_ARGUMENT', `a ciphertext was expected for ${what}, and got ${named(given)}; ${repair}`);
  }
  if (ciphertext.keyId === keyId) return;
  throw new RefloatError(
    'PARAMS_MISMATCH',
    `the ciphertext (set ${ciphertext.preset}) is encrypted under key ${ciphertext.keyId}, but the key of ${what} is ${keyId}; use what belongs to one key set`,
  );
}
