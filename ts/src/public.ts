export { BootstrapKeys } from './api/bootstrap-keys.js';
export { Ciphertext } from './api/ciphertext.js';
export type { ImportOptions, Instance, KeygenOptions } from './api/instance.js';
export { KeySet } from './api/key-set.js';
export type { BootstrapKeysOptions, BootstrapOptions, EncryptOptions, SignalOptions } from './api/key-set.js';
export type { LoadOptions, WasmSource } from './api/loader.js';
export type { Resource } from './api/resource.js';
export { complexFromParts, imaginaryParts, realParts } from './complex.js';
export type { About, Memory } from './engine/engine.js';
export { RefloatError } from './errors.js';
export type { ErrorCode, RefloatErrorOptions, ServerProblem } from './errors.js';
export type { KeyPartInfo, Preset, PresetName, SlotMode, StageInfo } from './params.js';
export { RemoteKeys } from './remote/keys.js';
export { Server } from './remote/server.js';
export type {
  JobOp,
  RemoteBootstrapOptions,
  ServerOptions,
  ServerParams,
  ServerPreset,
} from './remote/server.js';
export { Run, SteppableRun } from './run.js';
export type { RunState } from './run.js';
export type {
  KeyProgress,
  StageCounters,
  StageEnter,
  StageEvent,
  StageExit,
  StageId,
  StageProgress,
  StageView,
} from './stages.js';
