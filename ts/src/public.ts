export { ArithmeticKeys } from './api/arithmetic-keys.js';
export { BootstrapKeys } from './api/bootstrap-keys.js';
export { Ciphertext } from './api/ciphertext.js';
export type { Instance } from './api/instance.js';
export { KeySet } from './api/key-set.js';
export type { ArithmeticKeysOptions, BootstrapKeysOptions, BootstrapOptions } from './api/key-set.js';
export type { About, LoadOptions, WasmSource } from './api/loader.js';
export type { EncryptOptions, ImportOptions, KeygenOptions, SignalOptions } from './api/options.js';
export { PublicKey } from './api/public-key.js';
export type { Resource } from './api/resource.js';
export type { SecretKey } from './api/secret.js';
export { complexFromParts, imaginaryParts, realParts } from './complex.js';
export type { Memory } from './engine/engine.js';
export type { DigitOptions } from './digits/run.js';
export type { InspectedOrderOptions } from './link/run.js';
export { RefloatError } from './errors.js';
export type { ErrorCode, RefloatErrorOptions, ServerProblem } from './errors.js';
export { GateCiphertext } from './gates/ciphertext.js';
export type { CircuitGate, CircuitInfo, CircuitSignal } from './gates/circuit.js';
export type { CircuitEvent, GateEvent, GateProgress, GateStageId, GateView } from './gates/events.js';
export { Gates } from './gates/gates.js';
export type { CarryForm } from './gates/gates.js';
export { GateKeySet } from './gates/key-set.js';
export type { GateEncryptOptions } from './gates/key-set.js';
export { GateKeys } from './gates/keys.js';
export type { GateRunOptions } from './gates/keys.js';
export type { GateName, GatePreset, GatePresetName } from './gates/params.js';
export { IntegerArithmeticKeys } from './integers/arithmetic-keys.js';
export { IntegerCiphertext } from './integers/ciphertext.js';
export { Integers } from './integers/integers.js';
export { IntegerKeySet } from './integers/key-set.js';
export type { IntegerArithmeticKeysOptions, IntegerEncryptOptions, IntegerOp } from './integers/options.js';
export { IntegerKeys } from './integers/keys.js';
export type { IntegerBootstrapOptions } from './integers/keys.js';
export type { DigitRemoval, IntegerEvent, IntegerPreset, IntegerPresetName, IntegerProgramEvent, IntegerStageId, IntegerView } from './integers/params.js';
export { IntegerPublicKey } from './integers/public-key.js';
export type {
  Fact,
  GateInfo,
  OrderInfo,
  KeyPartInfo,
  Method,
  Preset,
  PresetName,
  Clamp,
  Reduction,
  Scheme,
  SetInfo,
  SetWithParts,
  SlotMode,
  StageInfo,
} from './params.js';
export type { Bounds, Matrix, Numbers, Way } from './program/encode.js';
export { Program, Value, type OrderOptions } from './program/program.js';
export type { ProgramEvent, ProgramOptions, ProgramStageId } from './program/run.js';
export type { Contact } from './remote/http.js';
export { RemoteKeys, type RemoteOrderOptions } from './remote/keys.js';
export type {
  JobOp,
  LookUpOptions,
  RemoteBootstrapOptions,
  RemoteCircuitOptions,
  RemoteIntegerOptions,
  RemoteIntegerProgramOptions,
  RemoteProgramOptions,
  ServerOptions,
  UploadOptions,
} from './remote/options.js';
export { Server } from './remote/server.js';
export type { KeyRepair, ServerParams, ServerPreset } from './remote/server.js';
export { Run, SteppableRun } from './run.js';
export type { RunState } from './run.js';
export type {
  KeyProgress,
  OrderStageId,
  StageCounters,
  StageEnter,
  StageEvent,
  StageExit,
  StageId,
  StageIds,
  StageProgress,
  StageView,
} from './stages.js';
