import type { CkksMethod } from './engine/modules.js';
import type { OrderStageId, StageIds } from './sets.js';

export type { OrderStageId, StageIds };

/** Identifiers of the stages of CKKS: of bootstrapping, of which `meta_correct` ends each round of several after the first, and of comparison. */
export type StageId = StageIds[CkksMethod] | OrderStageId | 'meta_correct';

/** Work done by a stage, in units that do not depend on the machine. */
export interface StageCounters {
  /** Number-theoretic transforms of one residue row. */
  readonly ntt: number;
  /** Multiply-accumulates of one residue row. */
  readonly limbMac: number;
  /** Key-switching inner products. */
  readonly keySwitch: number;
}

interface StageEventBase<S> {
  /** The stage. */
  readonly stage: S;
  /** Milliseconds of work since the run began (server runs: since the job began). */
  readonly atMs: number;
  /**
   * How much of the whole run is done, from 0 to 1, counted in its steps; it never falls, and the last event has 1. Of a program on a
   * server, a bootstrap is one of the steps.
   */
  readonly fraction?: number;
}

/** A stage begins. */
export interface StageEnter<S = StageId> extends StageEventBase<S> {
  readonly kind: 'enter';
}

/** `done` of `total` independent parts of a stage are finished: tracks, levels of the tree. */
export interface StageProgress<S = StageId> extends StageEventBase<S> {
  readonly kind: 'progress';
  readonly done: number;
  readonly total: number;
}

/** A stage is complete, and this is the ciphertext it left. */
export interface StageExit<S = StageId> extends StageEventBase<S> {
  readonly kind: 'exit';
  /** Level of the ciphertext. */
  readonly level: number;
  /** log2 of its modulus. */
  readonly logQ: number;
  /** log2 of its scale. */
  readonly logScale: number;
  /** Work done. */
  readonly counters: StageCounters;
}

/**
 * What a ciphertext inside the run holds, decrypted in this page with the reader's own key. Only
 * runs made here with `inspect: true` have these; a server cannot.
 */
export interface StageView extends StageEventBase<StageId> {
  readonly kind: 'view';
  /** Which of the independent blind rotations, if the view is of one. */
  readonly track?: number;
  /** Which level of the product tree, if the view is of a node. */
  readonly levelOfTree?: number;
  /**
   * `slots`: interleaved re, im; `coefficients`: reals in units of the message, Re | Im; `phases`:
   * angles in turns, the message divided by the set's gap gamma; `quotients`: coefficients of the
   * message over q0, with the integers that a raised modulus adds; with few slots, all coefficients of the
   * ring in `mod_raise` and `sub_sum`, of which every 2^logN / (2 slots)-th is the message's.
   */
  readonly view: 'slots' | 'coefficients' | 'phases' | 'quotients';
  /** What a message of 1 comes to in these numbers. */
  readonly unit: number;
  /** At most 1024 points, evenly spread. */
  readonly data: Float64Array;
  /** What exact arithmetic gives for the same points, in the same layout. */
  readonly expected: Float64Array;
  /** Which slot or coefficient each point is. */
  readonly indices: Uint32Array;
  /** Largest error over all slots against the exact computation, in units of the view. */
  readonly maxError: number;
  /** Root mean square of the error. */
  readonly rmsError: number;
  /** Bits of precision of the worst slot: -log2 of `maxError`, in units of the message or of the factor. */
  readonly bitsMax: number;
  /** Bits of precision by the root mean square. */
  readonly bitsRms: number;
}

/** Everything a bootstrapping reports, in the browser and on the server. */
export type StageEvent = StageEnter | StageProgress | StageExit | StageView;

/** Progress of key generation or of an upload. */
export interface KeyProgress {
  readonly kind: 'progress';
  /** Parts finished. */
  readonly done: number;
  /** Parts in all. */
  readonly total: number;
  /** Bytes finished. */
  readonly bytes: number;
  /** Bytes in all. */
  readonly totalBytes: number;
  /** How much of all bytes is finished, from 0 to 1. */
  readonly fraction: number;
  /** What was finished last. */
  readonly label: string;
}
