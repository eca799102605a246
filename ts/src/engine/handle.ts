import type { CkksModule, GateModule, GlueGateCiphertext, GlueObject, IntegerModule } from './glue.js';
import type { ModuleName } from './modules.js';

/** Names something of type `T` on the other side of a port; a plain value, so that it can be sent. */
export interface Handle<out T = unknown> {
  /** The module it is in. */
  readonly module: ModuleName;
  /** The number of an object, the name of a class, or '' for the module itself. */
  readonly object: number | string;
  /** Its name in error messages. */
  readonly what?: string;
  /** Never set: tells the compiler the type. */
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

/** Whether an argument names an object: handles are the only plain objects that are sent. */
export function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && 'module' in value && 'object' in value;
}

/** The facts told about an object together with its handle, if it has them. */
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
  'stage',
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

/** The arguments of a step, without the listener: the caller of the step listens. */
export type StepArguments<F> = F extends (...args: infer A) => unknown ? (A extends [...infer B, Function] ? SentAll<B> : SentAll<A>) : never;

/** What a caller gets from a method: objects stay where they are, so it gets handles. */
export type Received<F> = F extends (...args: never[]) => infer R ? (R extends GlueObject ? Made<R> : R) : never;

/** The result of one step of a long operation. */
export interface Step<V = unknown, S = unknown> {
  readonly value: V;
  /** The events it reported, with times since the step began. */
  readonly events: readonly { readonly atMs: number }[];
  /** Milliseconds it took. */
  readonly ms: number;
  /** Facts about the object afterwards. */
  readonly state: S;
}
