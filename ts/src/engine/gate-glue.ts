import type { CircuitInfo } from '../gates/circuit.js';
import type { GlueListener, GlueObject, GlueSet, ModuleGlue } from './glue.js';

/** The surface of the module of gates on encrypted bits, as `Glue` is that of the others. */
export interface GateGlue extends ModuleGlue {
  gatePresetNames(): string[];
  gatePreset(name: string): GlueSet;
  GateSecretKey: {
    generate(preset: string, allowInsecure: boolean, seed?: Uint8Array): GlueGateSecretKey;
    importSecret(bytes: Uint8Array, allowInsecure: boolean): GlueGateSecretKey;
  };
  GateCiphertext: {
    fromBytes(bytes: Uint8Array): GlueGateCiphertext;
  };
  GateKeys: {
    generate(secret: GlueGateSecretKey): GlueGateKeys;
    fromRows(
      preset: string,
      keyId: Uint8Array,
      narrow: Uint16Array | undefined,
      wide: Uint32Array | undefined,
      rotation: Uint32Array,
    ): GlueGateKeys;
  };
  GateRun: {
    begin(keys: GlueGateKeys, gate: string, inputs: GlueGateCiphertext, products: number): GlueGateRun;
    beginLookUp(
      keys: GlueGateKeys,
      input: GlueGateCiphertext,
      table: Uint32Array,
      messages: number,
      products: number,
    ): GlueGateRun;
  };
  CircuitRun: {
    begin(text: string, inputs: GlueGateCiphertext): GlueCircuitRun;
  };
  circuitText(kind: string, width: number, prefix: boolean): string;
  describeCircuit(text: string): Omit<CircuitInfo, 'text'>;
}

export interface GlueGateSecretKey extends GlueObject {
  preset(): string;
  keyId(): Uint8Array;
  /** Bits if `messages` is 0, otherwise integers below it. */
  encrypt(values: Uint32Array, messages: number, seed?: Uint8Array): GlueGateCiphertext;
  decrypt(ciphertext: GlueGateCiphertext): Uint32Array;
  keyPart(index: number): Uint8Array;
  exportSecret(): Uint8Array;
  serverToken(origin: string): Uint8Array;
}

export interface GlueGateCiphertext extends GlueObject {
  preset(): string;
  keyId(): Uint8Array;
  length(): number;
  messages(): number;
  byteLength(): number;
  toBytes(): Uint8Array;
  slice(start: number, end: number): GlueGateCiphertext;
  append(other: GlueGateCiphertext): void;
}

export interface GlueGateKeys extends GlueObject {
  keyId(): Uint8Array;
  memoryBytes(): number;
  gate(gate: string, inputs: GlueGateCiphertext): GlueGateCiphertext;
  lookUp(inputs: GlueGateCiphertext, table: Uint32Array, messages: number): GlueGateCiphertext;
  weightedSum(inputs: GlueGateCiphertext, weights: Int32Array, constant: number): GlueGateCiphertext;
  rows(): GlueGateKeyRows;
  /** A gate of a circuit; bit i of `inverted` says that operand i is inverted first. */
  call(gate: string, operands: GlueGateCiphertext, inverted: number): GlueGateResult;
}

/** Evaluation keys as they lie in memory, for another instance of the module. */
export interface GlueGateKeyRows {
  readonly preset: string;
  readonly keyId: Uint8Array;
  readonly switchRows: Uint16Array | Uint32Array;
  readonly rotationRows: Uint32Array;
}

export interface GlueGateResult extends GlueObject {
  bytes(): Uint8Array;
  counters(): Float64Array;
}

export interface GlueGateRun extends GlueObject {
  step(onEvent: GlueListener): boolean;
  view(secret: GlueGateSecretKey): { form: 'phase' | 'polynomial'; data: Float64Array };
  finish(): GlueGateCiphertext;
}

export interface GlueCircuitRun extends GlueObject {
  /** One gate; `true` when it was the last. */
  step(keys: GlueGateKeys, onEvent: GlueListener): boolean;
  /** The value of a wire, inputs first, then gates. */
  wire(index: number): Uint8Array;
  ahead(keys: GlueGateKeys, gate: number): Uint8Array;
  supply(keys: GlueGateKeys, gate: number, bytes: Uint8Array, counters: Float64Array): void;
  finish(keys: GlueGateKeys): GlueGateCiphertext;
}
