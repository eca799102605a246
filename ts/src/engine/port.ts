import { RefloatError } from '../errors.js';
import type { WorkerPool } from '../sharing/pool.js';
import type { Arguments, Description, Handle, Methods, Received, Step, StepArguments } from './handle.js';
import type { Host, Op, Sources } from './host.js';
import { START_LIMIT, workerFailed, type WorkerFile } from './start-failures.js';
import { fromWire, transferables, type Reply, type Request } from './wire.js';

/** Calls the instances of a thread, wherever it runs. */
export abstract class Port {
  /** Workers that share the tasks of runs, if there are any. */
  abstract readonly pool: WorkerPool | undefined;

  /** Set once the instances can no longer be used. */
  abstract get dead(): boolean;

  /**
   * One operation of the thread's {@link Host}; results never alias wasm memory. With `move`, the arrays among the arguments are moved
   * where possible: the caller's are empty afterwards.
   */
  abstract ask<K extends Op>(op: K, args: Parameters<Host[K]>, move?: boolean): Promise<Awaited<ReturnType<Host[K]>>>;

  /** Frees an object without waiting; used by finalisers too, so it never throws. */
  abstract release(handle: Handle): void;

  /** Notes an object that lasts until it is released or the port is closed. */
  abstract keep(handle: Handle): void;

  /** Ends the thread. Calls under way reject with `FREED`. */
  abstract close(): void;

  /** Calls a method of what a handle names. */
  call<T, M extends Methods<T>>(target: Handle<T>, method: M, ...args: Arguments<T[M]>): Promise<Received<T[M]>> {
    return this.ask('call', [target, method, args]) as Promise<Received<T[M]>>;
  }

  /** As `call`, but moves the arrays among the arguments. */
  move<T, M extends Methods<T>>(target: Handle<T>, method: M, ...args: Arguments<T[M]>): Promise<Received<T[M]>> {
    return this.ask('call', [target, method, args], true) as Promise<Received<T[M]>>;
  }

  /** As `call`, for one step of a long operation; also gives the events it reports and the time it takes. */
  step<T, M extends Methods<T>>(target: Handle<T>, method: M, ...args: StepArguments<T[M]>): Promise<Step<Received<T[M]>, Description<T>>> {
    return this.ask('step', [target, method, args]) as Promise<Step<Received<T[M]>, Description<T>>>;
  }
}

/** The instances in this thread. Others may use them too, so closing the port does not end them. */
export class DirectPort extends Port {
  readonly pool = undefined;
  readonly #host: Host;
  readonly #kept = new Map<string, Handle>();
  #closed = false;

  constructor(host: Host) {
    super();
    this.#host = host;
  }

  get dead(): boolean {
    return this.#closed || this.#host.poisoned;
  }

  async ask<K extends Op>(op: K, args: Parameters<Host[K]>): Promise<Awaited<ReturnType<Host[K]>>> {
    // Long operations yield between their steps; all others complete at once.
    if (op === 'step' || op === 'piece') await macrotask();
    if (this.#closed) throw closed();
    return this.#host.perform(op, args) as Awaited<ReturnType<Host[K]>>;
  }

  release(handle: Handle): void {
    this.#kept.delete(nameOf(handle));
    this.#host.free(handle);
  }

  keep(handle: Handle): void {
    this.#kept.set(nameOf(handle), handle);
  }

  close(): void {
    this.#closed = true;
    for (const handle of this.#kept.values()) this.#host.free(handle);
    this.#kept.clear();
  }
}

function nameOf({ module, object }: Handle): string {
  return `${module} ${object}`;
}

/** A worker as this package needs it: the same for browsers and for Node. */
export interface WorkerLike {
  post(message: Request, transfer: readonly ArrayBuffer[]): void;
  terminate(): void;
  /** Keeps the process alive while a call is under way; nothing in browsers. */
  hold(busy: boolean): void;
}

/** Starts a worker and passes on its messages and its end; throws if the platform refuses to start one. */
export interface StartWorker extends WorkerFile {
  (onReply: (reply: Reply) => void, onDeath: (reason: unknown) => void): WorkerLike;
}

interface Pending {
  resolve(value: never): void;
  reject(error: unknown): void;
}

/** The instances in a worker. */
export class WorkerPort extends Port {
  readonly pool: WorkerPool | undefined;
  readonly #worker: WorkerLike;
  readonly #pending = new Map<number, Pending>();
  readonly #file: WorkerFile;
  #next = 1;
  #end: RefloatError | undefined;
  #poisoned = false;
  #alive = false;
  #deadline: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param limit milliseconds that the worker has to report that it runs
   */
  constructor(start: StartWorker, pool?: WorkerPool, limit = START_LIMIT) {
    super();
    this.pool = pool;
    this.#file = start;
    try {
      this.#worker = start(
        (reply) => this.#receive(reply),
        (reason) => this.#failed(reason),
      );
    } catch (cause) {
      throw cause instanceof RefloatError ? cause : workerFailed(this.#file, cause);
    }
    this.#deadline = setTimeout(() => {
      this.#failed(new Error(`it said nothing for ${limit / 1000} seconds`));
      this.#worker.terminate();
    }, limit);
  }

  get dead(): boolean {
    return this.#end !== undefined || this.#poisoned;
  }

  /** Tells the worker where its modules are, and loads the first; must be the first call. */
  init(sources: Sources, transfer: readonly ArrayBuffer[]): Promise<void> {
    return this.#send('init', [sources], transfer) as Promise<void>;
  }

  ask<K extends Op>(op: K, args: Parameters<Host[K]>, move = false): Promise<Awaited<ReturnType<Host[K]>>> {
    return this.#send(op, args, move ? transferables(args) : []) as Promise<Awaited<ReturnType<Host[K]>>>;
  }

  release({ module, object }: Handle): void {
    const handle = { module, object };
    this.pool?.forget(handle);
    if (!this.#end) this.#worker.post({ id: 0, op: 'free', args: [handle] }, []);
  }

  /** Nothing to note: objects in a worker end with it. */
  keep(): void {}

  close(): void {
    this.pool?.close();
    this.#die(closed());
    this.#worker.terminate();
  }

  #send(op: string, args: readonly unknown[], transfer: readonly ArrayBuffer[]): Promise<unknown> {
    if (this.#end) return Promise.reject(this.#end);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#worker.hold(true);
      this.#worker.post({ id, op, args }, transfer);
    });
  }

  #failed(cause: unknown): void {
    this.#die(
      this.#alive
        ? new RefloatError('PANICKED', 'the worker of refloat died; call Refloat.load() for a fresh one', { cause })
        : workerFailed(this.#file, cause),
    );
  }

  #receive(reply: Reply): void {
    this.#alive = true;
    clearTimeout(this.#deadline);
    const pending = this.#pending.get(reply.id);
    if (!pending) return;
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#worker.hold(false);
    if (reply.ok) {
      pending.resolve(reply.value as never);
      return;
    }
    const error = fromWire(reply.error);
    if (error instanceof RefloatError && (error.code === 'PANICKED' || error.code === 'OUT_OF_MEMORY')) {
      this.#poisoned = true;
    }
    pending.reject(error);
  }

  #die(end: RefloatError): void {
    this.#end ??= end;
    clearTimeout(this.#deadline);
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    this.#worker.hold(false);
    for (const pending of waiting) pending.reject(this.#end);
  }
}

function closed(): RefloatError {
  return new RefloatError(
    'FREED',
    'this instance was closed, perhaps elsewhere: calls of Refloat.load() with equal options share one, and close() ends it for all; call Refloat.load() for a new one',
  );
}

/** Resolves in a later task, so that timers, events and drawing get their turn. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    // Node's own way; using a MessageChannel there would load all of its fetch.
    const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void };
    if (setImmediate) return setImmediate(resolve);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
