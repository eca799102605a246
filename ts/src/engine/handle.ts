import type { CkksModule, GateModule, GlueGateCiphertext, GlueObject, IntegerModule } from './glue.js';
import type { ModuleName } from './modules.js';

/** Names something of type `T` on the other side of a port; a plain value, so that it can be sent. */
export interface Handle<out T = unknown> {
  /** Where it is. */
  readonly module: ModuleName;
  /** The number of an object, the name of a class, or '' for the module itself. */
  readonly object: number | string;
  /** What it is in the words of an error. */
  readonly what?: string;
  /** Never there: tells the compiler what is named. */
  readonly of?: T;
}

/** A module with CKKS sets, for its functions. */
export function ckks(module: ModuleName): Handle<CkksModule> {
  return { module, object: '' };
}

/** The module of gates, for its functions. */
export const GATES: Handle<GateModule> = { module: 'gates', object: '' };

/** The module of exact integers, for its functions. */
export const INTEGERS: Handle<IntegerModule> = { module: 'integers', object: '' };

/** A class of a module, for its static methods. */
export function classOf<G, C extends keyof G & string>(module: Handle<G>, name: C): Handle<G[C]> {
  return { module: module.module, object: name };
}

/** Whether an argument names an object: of plain objects only these are sent. */
export function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && 'module' in value && 'object' in value;
}

/** What is told about an object together with its handle, as far as it has it. */
export const DESCRIBED = [
  'preset',
  'keyId',
  'level',
  'logQ',
  'logScale',
  'capacity',
  'byteLength',
  'length',
  'messages',
  'memoryBytes',
  'tasks',
  'passes',
  'labels',
  'keyBytes',
] as const;

/** What is known about an object without holding it; ids in hexadecimal. */
export type Description<T> = {
  readonly [K in Extract<keyof T, (typeof DESCRIBED)[number]>]: K extends 'keyId' ? string : T[K] extends () => infer R ? R : never;
};

/** The handle of a new object, and what is known about it. */
export type Made<T> = Handle<T> & Description<T>;

/** Names of the methods of `T`. */
export type Methods<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T] & string;

/** Several lists of encrypted bits, or their wire forms, that are passed as one. */
export type Joined = readonly (Handle<GlueGateCiphertext> | Uint8Array)[];

/** An argument as it is sent. */
type Sent<A> = A extends GlueGateCiphertext ? Handle<A> | Joined : A extends GlueObject ? Handle<A> : A;

type SentAll<A extends readonly unknown[]> = { [I in keyof A]: Sent<A[I]> };

/** The arguments of a method as they are sent. */
export type Arguments<F> = F extends (...args: infer A) => unknown ? SentAll<A> : never;

/** Those of a step: whoever makes the step listens. */
export type StepArguments<F> = F extends (...args: infer A) => unknown ? (A extends [...infer B, Function] ? SentAll<B> : SentAll<A>) : never;

/** What a method gives: objects stay where they are. */
export type Received<F> = F extends (...args: never[]) => infer R ? (R extends GlueObject ? Made<R> : R) : never;

/** A step of something long. */
export interface Step<V = unknown, S = unknown> {
  readonly value: V;
  /** What it reported, stamped from its beginning. */
  readonly events: readonly { readonly atMs: number }[];
  /** Milliseconds it took. */
  readonly ms: number;
  /** Facts about the object afterwards. */
  readonly state: S;
}
