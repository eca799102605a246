import { RefloatError } from '../errors.js';
import { toHex } from '../hex.js';
import type { CircuitInfo } from '../gates/circuit.js';
import type { CircuitEvent, GateEvent, GateStageId, GateView } from '../gates/events.js';
import type { GatePreset } from '../gates/params.js';
import type {
  GateGlue,
  GlueCircuitRun,
  GlueGateCiphertext,
  GlueGateKeyRows,
  GlueGateKeys,
  GlueGateRun,
  GlueGateSecretKey,
} from './gate-glue.js';
import type { GlueListener } from './glue.js';
import { Objects, unpacked, type Digested, type Handle } from './objects.js';

/** What is known about a secret key of gates without holding it. */
export interface GateKeyInfo {
  readonly handle: Handle;
  readonly preset: string;
  readonly id: string;
}

/** What is known about encrypted bits without holding them. */
export interface GateCiphertextInfo {
  readonly handle: Handle;
  readonly preset: string;
  readonly keyId: string;
  readonly length: number;
  readonly messages: number;
  readonly byteLength: number;
}

/** Result of one step of a run of gates. */
export interface GateStep<E> {
  readonly events: E[];
  readonly finished: boolean;
  /** Milliseconds the step took. */
  readonly ms: number;
}

/** Evaluation keys as they lie in the memory of one instance, to be moved to another. */
export type GateKeyRows = GlueGateKeyRows;

/** The result of a gate that was evaluated in another instance. */
export interface GateOutcome {
  readonly bytes: Uint8Array;
  readonly counters: Float64Array;
  readonly ms: number;
}

/** The operations of an instance of the module of gates, on handles as those of `Engine`. */
export class GateEngine extends Objects<GateGlue> {
  gatePresets(): GatePreset[] {
    return this.guard(() => this.glue.gatePresetNames().map((name) => unpacked(this.glue.gatePreset(name)) as GatePreset));
  }

  gatePreset(name: string): GatePreset {
    return this.guard(() => unpacked(this.glue.gatePreset(name)) as GatePreset);
  }

  gateKeygen(preset: string, allowInsecure: boolean, seed: Uint8Array | undefined): GateKeyInfo {
    return this.guard(() => this.#key(this.glue.GateSecretKey.generate(preset, allowInsecure, seed)));
  }

  gateImportSecret(bytes: Uint8Array, allowInsecure: boolean): GateKeyInfo {
    return this.guard(() => this.#key(this.glue.GateSecretKey.importSecret(bytes, allowInsecure)));
  }

  gateExportSecret(secret: Handle): Uint8Array {
    return this.guard(() => this.#secret(secret).exportSecret());
  }

  gateKeyPart(secret: Handle, index: number): Uint8Array {
    return this.guard(() => this.#secret(secret).keyPart(index));
  }

  gateKeyPiece(secret: Handle, index: number): Digested {
    return this.guard(() => this.digested(this.#secret(secret).keyPart(index)));
  }

  gateServerToken(secret: Handle, origin: string): string {
    return this.guard(() => toHex(this.#secret(secret).serverToken(origin)));
  }

  gateEncrypt(secret: Handle, values: Uint32Array, messages: number, seed: Uint8Array | undefined): GateCiphertextInfo {
    return this.guard(() => this.#info(this.#secret(secret).encrypt(values, messages, seed)));
  }

  gateDecrypt(secret: Handle, ciphertext: Handle): Uint32Array {
    return this.guard(() => this.#secret(secret).decrypt(this.#ciphertext(ciphertext)));
  }

  gateToBytes(ciphertext: Handle): Uint8Array {
    return this.guard(() => this.#ciphertext(ciphertext).toBytes());
  }

  /** The wire form of several lists as one. */
  gateListToBytes(ciphertexts: readonly Handle[]): Uint8Array {
    return this.guard(() => this.#joined(ciphertexts, (list) => list.toBytes()));
  }

  gateFromBytes(bytes: Uint8Array): GateCiphertextInfo {
    return this.guard(() => this.#info(this.glue.GateCiphertext.fromBytes(bytes)));
  }

  gateSlice(ciphertext: Handle, start: number, end: number): GateCiphertextInfo {
    return this.guard(() => this.#info(this.#ciphertext(ciphertext).slice(start, end)));
  }

  gateConcat(ciphertexts: readonly Handle[]): GateCiphertextInfo {
    return this.guard(() => this.#info(this.#concatenated(ciphertexts)));
  }

  /** Makes the evaluation keys, and tells how many bytes they take. */
  gateKeys(secret: Handle): { handle: Handle; memoryBytes: number } {
    return this.guard(() => {
      const keys = this.glue.GateKeys.generate(this.#secret(secret));
      return { handle: this.keep(keys), memoryBytes: keys.memoryBytes() };
    });
  }

  gateEvaluate(keys: Handle, gate: string, inputs: readonly Handle[]): GateCiphertextInfo {
    return this.guard(() => this.#joined(inputs, (list) => this.#info(this.#keys(keys).gate(gate, list))));
  }

  gateLookUp(keys: Handle, input: Handle, table: Uint32Array, messages: number): GateCiphertextInfo {
    return this.guard(() => this.#info(this.#keys(keys).lookUp(this.#ciphertext(input), table, messages)));
  }

  gateSum(keys: Handle, inputs: readonly Handle[], weights: Int32Array, constant: number): GateCiphertextInfo {
    return this.guard(() =>
      this.#joined(inputs, (list) => this.#info(this.#keys(keys).weightedSum(list, weights, constant))),
    );
  }

  circuitText(kind: string, width: number, prefix: boolean): string {
    return this.guard(() => this.glue.circuitText(kind, width, prefix));
  }

  circuitInfo(text: string): CircuitInfo {
    return this.guard(() => ({ ...this.glue.describeCircuit(text), text }));
  }

  circuitBegin(text: string, inputs: readonly Handle[]): Handle {
    return this.guard(() => this.#joined(inputs, (list) => this.keep(this.glue.CircuitRun.begin(text, list))));
  }

  /** One gate; events are stamped with the milliseconds since the step began. With `wire` comes what that wire carries. */
  circuitStep(run: Handle, keys: Handle, wire?: number): GateStep<CircuitEvent> & { bytes?: Uint8Array } {
    return this.guard(() => {
      const circuit = this.#circuit(run);
      const step = stepped<CircuitEvent>((listener) => circuit.step(this.#keys(keys), listener));
      return wire === undefined ? step : { ...step, bytes: circuit.wire(wire) };
    });
  }

  /** What the first wires of a run carry, in wire form. */
  circuitWires(run: Handle, count: number): Uint8Array[] {
    return this.guard(() => Array.from({ length: count }, (_, wire) => this.#circuit(run).wire(wire)));
  }

  /** A gate ahead of its turn, and the milliseconds it took. */
  circuitAhead(run: Handle, keys: Handle, gate: number): { bytes: Uint8Array; ms: number } {
    return this.guard(() => {
      const start = performance.now();
      const bytes = this.#circuit(run).ahead(this.#keys(keys), gate);
      return { bytes, ms: performance.now() - start };
    });
  }

  /** Takes the result of a gate that another instance has evaluated. */
  circuitSupply(run: Handle, keys: Handle, gate: number, bytes: Uint8Array, counters: Float64Array): void {
    this.guard(() => this.#circuit(run).supply(this.#keys(keys), gate, bytes, counters));
  }

  /** The words of evaluation keys, for another instance. */
  gateKeyRows(keys: Handle): GateKeyRows {
    return this.guard(() => this.#keys(keys).rows());
  }

  /** The evaluation keys of another instance. */
  gateKeysFromRows({ preset, keyId, switchRows, rotationRows }: GateKeyRows): Handle {
    return this.guard(() => {
      const [narrow, wide] = switchRows instanceof Uint16Array ? [switchRows, undefined] : [undefined, switchRows];
      return this.keep(this.glue.GateKeys.fromRows(preset, keyId, narrow, wide, rotationRows));
    });
  }

  /** A gate of a circuit in another instance: operands in wire form, those inverted first whose bit is set. */
  gateCall(keys: Handle, gate: string, operands: readonly Uint8Array[], inverted: number): GateOutcome {
    return this.guard(() => {
      const start = performance.now();
      const lists = operands.map((bytes) => this.keep(this.glue.GateCiphertext.fromBytes(bytes)));
      try {
        const result = this.#joined(lists, (list) => this.#keys(keys).call(gate, list, inverted));
        const [bytes, counters] = [result.bytes(), result.counters()];
        this.dispose(result);
        return { bytes, counters, ms: performance.now() - start };
      } finally {
        for (const list of lists) this.free(list);
      }
    });
  }

  circuitFinish(run: Handle, keys: Handle): GateCiphertextInfo {
    return this.guard(() => {
      const result = this.#info(this.#circuit(run).finish(this.#keys(keys)));
      this.free(run);
      return result;
    });
  }

  gateRunBegin(keys: Handle, gate: string, inputs: readonly Handle[], products: number): Handle {
    return this.guard(() =>
      this.#joined(inputs, (list) => this.keep(this.glue.GateRun.begin(this.#keys(keys), gate, list, products))),
    );
  }

  gateLookUpBegin(keys: Handle, input: Handle, table: Uint32Array, messages: number, products: number): Handle {
    return this.guard(() => {
      const run = this.glue.GateRun.beginLookUp(this.#keys(keys), this.#ciphertext(input), table, messages, products);
      return this.keep(run);
    });
  }

  gateRunStep(run: Handle): GateStep<GateEvent> {
    return this.guard(() => {
      const gate = this.get(run, 'the run') as GlueGateRun;
      return stepped<GateEvent>((listener) => gate.step(listener));
    });
  }

  /** What the state of a run holds, decrypted with its own key. */
  gateRunView(run: Handle, secret: Handle, stage: GateStageId | 'input', atMs: number): GateView {
    return this.guard(() => {
      const gate = this.get(run, 'the run') as GlueGateRun;
      return { kind: 'view', stage, atMs, ...gate.view(this.#secret(secret)) };
    });
  }

  gateRunFinish(run: Handle): GateCiphertextInfo {
    return this.guard(() => {
      const result = this.#info((this.get(run, 'the run') as GlueGateRun).finish());
      this.free(run);
      return result;
    });
  }

  #key(key: GlueGateSecretKey): GateKeyInfo {
    return { handle: this.keep(key), preset: key.preset(), id: toHex(key.keyId()) };
  }

  #info(ct: GlueGateCiphertext): GateCiphertextInfo {
    return {
      handle: this.keep(ct),
      preset: ct.preset(),
      keyId: toHex(ct.keyId()),
      length: ct.length(),
      messages: ct.messages(),
      byteLength: ct.byteLength(),
    };
  }

  /** A new list with the items of several. */
  #concatenated(handles: readonly Handle[]): GlueGateCiphertext {
    const [first, ...rest] = handles.map((handle) => this.#ciphertext(handle));
    if (!first) throw new RefloatError('INVALID_ARGUMENT', 'no ciphertexts were given: give at least one');
    const list = first.slice(0, first.length());
    for (const other of rest) list.append(other);
    return list;
  }

  /** Uses the items of several lists as one list, which is freed again. */
  #joined<T>(handles: readonly Handle[], use: (list: GlueGateCiphertext) => T): T {
    const list = this.#concatenated(handles);
    try {
      return use(list);
    } finally {
      this.dispose(list);
    }
  }

  #circuit(handle: Handle): GlueCircuitRun {
    return this.get(handle, 'the run') as GlueCircuitRun;
  }

  #secret(handle: Handle): GlueGateSecretKey {
    return this.get(handle, 'the key set') as GlueGateSecretKey;
  }

  #keys(handle: Handle): GlueGateKeys {
    return this.get(handle, 'the evaluation keys') as GlueGateKeys;
  }

  #ciphertext(handle: Handle): GlueGateCiphertext {
    return this.get(handle, 'the ciphertext') as GlueGateCiphertext;
  }
}

/** A step with its events, stamped from its beginning. */
function stepped<E>(step: (listener: GlueListener) => boolean): GateStep<E> {
  const events: E[] = [];
  const start = performance.now();
  const finished = step((event, now) => events.push({ ...event, atMs: now - start } as E));
  return { events, finished, ms: performance.now() - start };
}
