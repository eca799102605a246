import { NUMBERS, mustBe } from '../api/arguments.js';
import { FLAG, checkOptions } from '../api/check-options.js';
import { Ciphertext, joinedMode } from '../api/ciphertext.js';
import type { KeySet } from '../api/key-set.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { OPERATIONS, repaired } from '../api/repairs.js';
import { SecretKey } from '../api/secret.js';
import { keyMismatch, type Sets } from '../api/sets.js';
import { freeing } from '../engine/engine-run.js';
import { stepsOf } from '../engine/fraction.js';
import { GATES, INTEGERS, ckks, classOf, type Handle } from '../engine/handle.js';
import type { ModuleName } from '../engine/modules.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import { circuitText } from '../gates/arguments.js';
import { GateCiphertext } from '../gates/ciphertext.js';
import { describeCircuit, type CircuitInfo } from '../gates/circuit.js';
import type { CircuitEvent } from '../gates/events.js';
import { gatePreset } from '../gates/gates.js';
import type { GateKeySet } from '../gates/key-set.js';
import { IntegerCiphertext } from '../integers/ciphertext.js';
import { integerPreset } from '../integers/arguments.js';
import type { IntegerKeySet } from '../integers/key-set.js';
import type { IntegerEvent, IntegerProgramEvent } from '../integers/params.js';
import type { Preset, SetInfo } from '../params.js';
import { programOf } from '../link/run.js';
import type { Program } from '../program/program.js';
import { inputsOf, mustHaveSlots, type ProgramEvent, type ProgramOptions } from '../program/run.js';
import { Run, SteppableRun, type RunControl } from '../run.js';
import type { KeyProgress, StageEvent } from '../stages.js';
import { Access, bearer, type KnownKeys } from './access.js';
import { address, keyId, milliseconds, operations } from './arguments.js';
import { discard, joined } from './body.js';
import { Http } from './http.js';
import { perform, type Job } from './job.js';
import { RemoteKeys, type Ask } from './keys.js';
import {
  BOOTSTRAP_JOB,
  CIRCUIT_JOB,
  INTEGERS_JOB,
  LOOK_UP,
  PROGRAM_JOB,
  RETRY,
  SERVER,
  UPLOAD,
  type LookUpOptions,
  type RemoteBootstrapOptions,
  type RemoteCircuitOptions,
  type RemoteIntegerOptions,
  type RemoteIntegerProgramOptions,
  type RemoteProgramOptions,
  type ServerOptions,
  type UploadOptions,
} from './options.js';
import { outputsOf, programBody } from './program.js';
import { Shared, ofBootstraps, ofCircuit, ofProgram, type NewShare } from './shares.js';
import { members } from './text.js';
import { upload } from './upload.js';

/**
 * Parts of the keys are being sent again, because the server had lost or damaged them; afterwards the job starts over.
 */
export interface KeyRepair extends Omit<KeyProgress, 'kind'> {
  /** Tells it from other events; the other fields are as in the upload, counting all parts of the set. */
  readonly kind: 'repair';
}

/** A parameter set as a server offers it. */
export interface ServerPreset extends Preset {
  /** Seconds one bootstrapping takes there, if the server has measured it. */
  readonly expectedSeconds: number | null;
}

/** What a server offers. */
export interface ServerParams {
  /** The sets. */
  readonly sets: readonly ServerPreset[];
  /** Limits to keep to. */
  readonly limits: { readonly chunkBytes: number; readonly maxQueued: number };
  /** Kernels in use there. */
  readonly backend: string;
  /** Threads of one bootstrapping there. */
  readonly threads: number;
}

/** For messages: the method that takes ciphertexts which another method does not take. */
const OF_NUMBERS = [Ciphertext, 'bootstrap() of the server takes that'] as const;
const FOR_GATES = [GateCiphertext, 'circuit() of the server takes that'] as const;
const OF_INTEGERS = [IntegerCiphertext, 'integers() of the server takes that'] as const;

/** How a program is sent, and how its results are received. */
interface ProgramJob<C> extends ProgramOptions {
  readonly keys?: RemoteKeys | KeySet | IntegerKeySet | undefined;
  readonly mode: string;
  /** The set of the inputs. */
  readonly set: () => Promise<SetInfo>;
  readonly receive: (bytes: Uint8Array) => Promise<C>;
}

/** Something with a wire form. */
interface HasBytes {
  toBytes(): Uint8Array;
}

/**
 * A refloat server. It gets public keys and ciphertexts, but never a secret.
 *
 * @example
 * ```ts
 * import { Refloat } from 'refloat';
 * declare const url: string; // e.g. 'http://127.0.0.1:7878'
 *
 * const rf = await Refloat.load();
 * const server = rf.server(url);
 * console.log((await server.params()).sets.map((s) => s.name));
 *
 * using keys = await rf.keygen('toy10', { allowInsecure: true });
 * const upload = server.uploadKeys(keys);
 * for await (const p of upload) console.log(`${p.bytes} of ${p.totalBytes} bytes`);
 * const remote = await upload;
 *
 * using ct = await keys.encrypt([0.5, -0.25, 1], { level: keys.params.inputLevel });
 * const job = server.bootstrap(ct);
 * for await (const e of job) if (e.kind === 'exit') console.log(e.stage, e.logQ);
 * using fresh = await job;
 * console.log((await keys.decrypt(fresh)).slice(0, 3));
 * await remote.delete();
 * rf.close();
 * ```
 */
export class Server {
  /** The server's address. */
  readonly url: string;
  readonly #port: Port;
  readonly #sets: Sets;
  readonly #http: Http;
  readonly #access: Access;
  readonly #inFlight: number;

  /** @internal */
  constructor(port: Port, sets: Sets, url: string | URL, options: ServerOptions) {
    checkOptions(options, 'server()', SERVER);
    checkOptions(options.retry ?? {}, 'retry of server()', RETRY);
    const { attempts = 6, firstDelayMs = 250, maxDelayMs = 8000 } = options.retry ?? {};
    this.#port = port;
    this.#sets = sets;
    this.#http = new Http(address(url), {
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      headers: { ...options.headers, ...(options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey }) },
      retry: { attempts, firstDelayMs, maxDelayMs },
      silenceMs: milliseconds(options.timeoutMs ?? 60_000),
      onContact: options.onContact,
    });
    this.#access = new Access(port, this.#http.origin, options.token);
    this.#inFlight = Math.max(1, Math.floor(options.inFlight ?? 2));
    this.url = this.#http.base;
  }

  /** The parameter sets on offer, with limits; `parts: true` adds the list of key parts. */
  async params(options: SignalOptions & { readonly parts?: boolean | undefined } = {}): Promise<ServerParams> {
    checkOptions(options, 'params()', { ...SIGNAL, parts: FLAG });
    const path = options.parts === true ? '/v1/params?parts=1' : '/v1/params';
    const offer = await this.#http.json(path, { signal: options.signal });
    const sets: readonly unknown[] | undefined = Array.isArray(offer['sets']) ? offer['sets'] : undefined;
    if (!sets?.every((set) => typeof members(set)['name'] === 'string')) {
      throw new RefloatError('SERVER', `${this.url} is not a refloat server of this version: it lists no parameter sets; check the address, or bring server and package to the same version`);
    }
    const complete = (set: Partial<ServerPreset>): ServerPreset =>
      ({
        ...set,
        source: set.source ?? this.#sets.known.find((p) => p.name === set.name)?.source ?? '',
        keyParts: set.keyParts ?? [],
        expectedSeconds: set.expectedSeconds ?? null,
      }) as ServerPreset;
    return { ...offer, sets: sets.map((set) => complete(members(set))) } as unknown as ServerParams;
  }

  /**
   * Makes the bootstrapping keys, or those for gates, part by part and sends each as soon as it exists, so that memory
   * stays small however large the set is. Parts the server has already are not sent again: after a
   * failure, or in another session with the same secret key, the same call goes on. Each part carries its digest, and the
   * set is sealed under a digest of all of them.
   */
  uploadKeys(keys: KeySet | GateKeySet | IntegerKeySet, options: UploadOptions = {}): SteppableRun<RemoteKeys, KeyProgress> {
    checkOptions(options, 'uploadKeys()', UPLOAD);
    mustBe(keys, SecretKey, 'uploadKeys()', 'a key set, which keygen() makes and importKeys() reads');
    const source = this.#access.source(keys);
    return new SteppableRun(async (control) => {
      const { token, digests } = await this.#access.of(keys.id, keys, options.token);
      const choices = { token, digests, public: options.public === true, inFlight: this.#inFlight, verify: true };
      const info = await upload(this.#http, source, choices, control);
      this.#access.accepted(keys.id, token);
      return new RemoteKeys(this.#http, info, token, this.#answer);
    }, options.signal);
  }

  /**
   * The address of the server for a key set, given by its id or by its secret key, if several fronts divide key sets among themselves. It
   * is this server's own address if it is alone or has the keys. Other fronts refuse new keys with `OTHER_FRONT` and that address.
   */
  async frontOf(keys: string | KeySet | GateKeySet | IntegerKeySet, options: SignalOptions = {}): Promise<string> {
    checkOptions(options, 'frontOf()', SIGNAL);
    const [id] = identified(keys, 'frontOf()');
    const { key } = await this.#http.json(`/v1/shards?key=${encodeURIComponent(id)}`, { signal: options.signal });
    const { url } = members(key);
    return typeof url === 'string' ? url : this.url;
  }

  /**
   * Looks up a complete key set by its id or by its secret key; `undefined` if the server has none, or only a part.
   */
  async keys(keys: string | KeySet | GateKeySet | IntegerKeySet, options: LookUpOptions = {}): Promise<RemoteKeys | undefined> {
    checkOptions(options, 'keys()', LOOK_UP);
    const [id, owner] = identified(keys, 'keys()');
    const { token } = await this.#access.of(id, owner, options.token);
    const path = `/v1/keys/${encodeURIComponent(id)}`;
    const request = { headers: bearer(token), signal: options.signal, accept: [404] };
    return this.#http.send(path, request, async (response) => {
      if (response.status === 404) {
        discard(response);
        return undefined;
      }
      const { state, params, digest, bytes } = await this.#http.object(response, path, options.signal);
      if (state !== 'sealed' || typeof params !== 'string') return undefined;
      const info = {
        id,
        params,
        digest: typeof digest === 'string' ? digest : '',
        bytes: typeof bytes === 'number' ? bytes : 0,
      };
      this.#access.accepted(id, token);
      return new RemoteKeys(this.#http, info, token, this.#answer);
    });
  }

  /**
   * Bootstraps on the server. Stage events come as from a run in the page, except that only a page with the key can look inside. Lost
   * connections are resumed; cancelling the run cancels the job.
   */
  bootstrap(ciphertext: Ciphertext, options: RemoteBootstrapOptions = {}): Run<Ciphertext, StageEvent | KeyRepair> {
    checkOptions(options, 'bootstrap()', BOOTSTRAP_JOB);
    mustBe(ciphertext, Ciphertext, 'bootstrap()', NUMBERS, FOR_GATES, OF_INTEGERS);
    if (options.keys) keyMismatch(options.keys.id, ciphertext, 'this key set');
    const handle = ciphertext.handleIn(this.#port);
    const ops = operations(options.op);
    const { rounds } = options;
    const { keyId, mode } = ciphertext;
    return new Run(async (control) => {
      const body = await this.#port.call(handle, 'toBytes');
      const set = await this.#sets.find(ciphertext.preset);
      const share = ofBootstraps(stepsOf(set), ops, rounds);
      const job = { keyId, ops, mode, rounds, body, resultBytes: Math.max(...set.ciphertextBytes), share };
      const result = await repaired(this.#job(job, options.keys, control), OPERATIONS);
      return this.#received(result, handle.module, ciphertext);
    }, options.signal);
  }

  /**
   * Runs a program on the server, which has the keys of its inputs (`uploadKeys`) and inserts bootstraps where levels run out. A program
   * that does not fit the set is refused before anything runs, and the error names the node. The result has the outputs by their names.
   */
  run(
    program: Program,
    inputs: Readonly<Record<string, Ciphertext>>,
    options?: RemoteProgramOptions,
  ): Run<Record<string, Ciphertext>, ProgramEvent | KeyRepair>;
  /** Runs a program on exact integers on the server. */
  run(
    program: Program,
    inputs: Readonly<Record<string, IntegerCiphertext>>,
    options?: RemoteIntegerProgramOptions,
  ): Run<Record<string, IntegerCiphertext>, IntegerProgramEvent | KeyRepair>;
  run(
    program: Program,
    inputs: Readonly<Record<string, Ciphertext>> | Readonly<Record<string, IntegerCiphertext>>,
    options: RemoteProgramOptions | RemoteIntegerProgramOptions = {},
  ): Run<Record<string, Ciphertext> | Record<string, IntegerCiphertext>, ProgramEvent | IntegerProgramEvent | KeyRepair> {
    checkOptions(options, 'run()', PROGRAM_JOB);
    if (Object.values(inputs ?? {}).some((input) => input instanceof IntegerCiphertext)) {
      const [first, given] = inputsOf(program, inputs as Record<string, IntegerCiphertext>, IntegerCiphertext);
      const set = (): Promise<SetInfo> => integerPreset(this.#port, first.preset);
      const receive = (bytes: Uint8Array): Promise<IntegerCiphertext> => this.#receivedIntegers(bytes, first);
      return this.#program<IntegerCiphertext, IntegerProgramEvent>(program, given, { ...options, mode: 'integers', set, receive });
    }
    const [first, given] = inputsOf(program, inputs as Record<string, Ciphertext>, Ciphertext);
    const { module } = first.handleIn(this.#port);
    const mode = given.reduce((mode, x) => joinedMode({ mode }, x), first.mode);
    const set = (): Promise<SetInfo> => this.#sets.find(first.preset);
    const receive = (bytes: Uint8Array): Promise<Ciphertext> => this.#received(bytes, module, first);
    return this.#program<Ciphertext, ProgramEvent>(program, given, { ...options, mode, set, receive });
  }

  #program<C extends Ciphertext | IntegerCiphertext, E>(program: Program, given: readonly C[], how: ProgramJob<C>): Run<Record<string, C>, E | KeyRepair> {
    const { keys, bootstraps, signal, mode } = how;
    for (const ciphertext of given) if (keys) keyMismatch(keys.id, ciphertext, 'this key set');
    const handles = given.map((ciphertext): Handle<HasBytes> => ciphertext.handleIn(this.#port));
    const [head, outputs, keyId] = [program.toBytes(), program.outputs, given[0]?.keyId ?? ''];
    return new Run(async (control) => {
      const set = await how.set();
      mustHaveSlots(program, set);
      const parts = await Promise.all(handles.map((handle) => this.#port.call(handle, 'toBytes')));
      const body = programBody(head, bootstraps ?? 'where-needed', parts);
      const resultBytes = outputs.length * Math.max(...set.ciphertextBytes);
      const result = await this.#job({ keyId, ops: ['program'], mode, body, resultBytes, share: ofProgram }, keys, control);
      const out: Record<string, C> = {};
      for (const [name, bytes] of outputsOf(outputs, result)) out[name] = await how.receive(bytes);
      return out;
    }, signal);
  }

  /**
   * Evaluates a circuit on the server, which has the keys of its inputs (`uploadKeys`). The items of
   * `inputs`, one after the other, are the circuit's inputs; the result holds its outputs in order. Progress
   * comes in batches of gates.
   */
  circuit(
    circuit: CircuitInfo | string,
    inputs: GateCiphertext | readonly GateCiphertext[],
    options: RemoteCircuitOptions = {},
  ): Run<GateCiphertext, CircuitEvent | KeyRepair> {
    checkOptions(options, 'circuit()', CIRCUIT_JOB);
    const source = circuitText(circuit, 'circuit()');
    const text = new TextEncoder().encode(source);
    const lists = Array.isArray(inputs) ? (inputs as readonly GateCiphertext[]) : [inputs as GateCiphertext];
    for (const list of lists) mustBe(list, GateCiphertext, 'circuit()', 'ciphertexts of bits, which encrypt() of a key set of rf.gates makes', OF_NUMBERS, OF_INTEGERS);
    const handles = lists.map((list) => list.handleIn(this.#port));
    const [first] = lists;
    if (!first) throw new RefloatError('INVALID_ARGUMENT', 'the circuit is given no input; pass the ciphertexts of its inputs');
    const { keyId } = first;
    if (options.keys) keyMismatch(options.keys.id, first, 'this key set');
    for (const list of lists) keyMismatch(keyId, list, 'the first input');
    return new Run(async (control) => {
      const list = await freeing(this.#port, this.#port.ask('concat', [handles]), (all) => this.#port.call(all, 'toBytes'));
      const head = new Uint8Array(4);
      new DataView(head.buffer).setUint32(0, text.length, true);
      const body = joined([head, text, list]);
      const { outputs } = typeof circuit === 'string' ? await describeCircuit(this.#port, source) : circuit;
      const { ciphertextBytes } = await gatePreset(this.#port, first.preset);
      const resultBytes = outputs.length * (ciphertextBytes[0] ?? 0);
      const result = await this.#job({ keyId, ops: ['circuit'], mode: 'bits', body, resultBytes, share: ofCircuit }, options.keys, control);
      const made = await this.#port.call(classOf(GATES, 'GateCiphertext'), 'fromBytes', result);
      return new GateCiphertext(this.#port, this.#own(made, first));
    }, options.signal);
  }

  /**
   * Multiplies and bootstraps integers on the server, which has the keys of its inputs (`uploadKeys`). The operations are applied to the
   * first input, and each `multiply` takes the next one.
   */
  integers(
    inputs: IntegerCiphertext | readonly IntegerCiphertext[],
    options: RemoteIntegerOptions = {},
  ): Run<IntegerCiphertext, IntegerEvent | KeyRepair> {
    checkOptions(options, 'integers()', INTEGERS_JOB);
    const list = Array.isArray(inputs) ? (inputs as readonly IntegerCiphertext[]) : [inputs as IntegerCiphertext];
    for (const x of list) mustBe(x, IntegerCiphertext, 'integers()', 'ciphertexts of integers, which encrypt() of a key set of rf.integers makes', OF_NUMBERS, FOR_GATES);
    const handles = list.map((x) => x.handleIn(this.#port));
    const [first] = list;
    if (!first) throw new RefloatError('INVALID_ARGUMENT', 'the job is given no ciphertext; pass one, and another for each multiply');
    if (options.keys) keyMismatch(options.keys.id, first, 'this key set');
    for (const x of list) keyMismatch(first.keyId, x, 'the first input');
    const { keyId, preset } = first;
    const ops = operations(options.op);
    return new Run(async (control) => {
      const parts = await Promise.all(handles.map((handle) => this.#port.call(handle, 'toBytes')));
      const { ciphertextBytes, stages } = await integerPreset(this.#port, preset);
      const share = ofBootstraps(stages.map(({ id }) => ({ id, steps: 1 })), ops);
      const job = { keyId, ops, mode: 'integers', body: joined(parts), resultBytes: Math.max(...ciphertextBytes), share };
      const result = await this.#job(job, options.keys, control);
      return this.#receivedIntegers(result, first);
    }, options.signal);
  }

  /** The answer to a question about the slots of a ciphertext: a job with a program of one node. */
  readonly #answer: Ask = (keys, x, ask, { signal }) => {
    mustBe(x, Ciphertext, 'a question about slots', NUMBERS, FOR_GATES, OF_INTEGERS);
    keyMismatch(keys.id, x, 'this key set');
    const handle = x.handleIn(this.#port);
    const program = programOf(this.#sets.named(x.preset).slots, ask).toBytes();
    const { keyId, mode, preset } = x;
    return new Run(async (control) => {
      const body = programBody(program, 'as-written', [await this.#port.call(handle, 'toBytes')]);
      const resultBytes = await this.#ciphertextBytes(preset);
      const result = await this.#job({ keyId, ops: ['program'], mode, body, resultBytes, share: ofProgram }, keys, control);
      return this.#received(result, handle.module, x);
    }, signal);
  };

  /**
   * Has a job done. If the server turns out to have lost or damaged parts of the keys, and the secret key is at hand,
   * they are sent again and the job is given once more.
   */
  async #job<E>(
    { share, ...job }: Omit<Job, 'token' | 'digest'> & { readonly share: NewShare },
    keys: RemoteKeys | KeySet | GateKeySet | IntegerKeySet | undefined,
    control: RunControl<E | KeyRepair>,
  ): Promise<Uint8Array> {
    const known = await (keys instanceof RemoteKeys
      ? this.#access.of(job.keyId, undefined, keys.token)
      : this.#access.of(job.keyId, keys));
    const whole: Job = { ...job, token: known.token, digest: (bytes) => this.#access.digest(bytes) };
    const events = new Shared(share, (event) => control.emit(event as E));
    try {
      return await perform(this.#http, whole, events, control.signal);
    } catch (error) {
      if (!isRepairable(error) || !(await this.#repair(known, control))) throw error;
      return perform(this.#http, whole, events, control.signal);
    }
  }

  /** Sends the parts of keys that the server is missing; `false` if the secret key is not here. */
  async #repair(known: KnownKeys, control: RunControl<KeyRepair>): Promise<boolean> {
    const { keys, token, digests } = known;
    if (!keys || keys.isFreed) return false;
    const emit = (progress: KeyProgress): void => control.emit({ ...progress, kind: 'repair' });
    const choices = { token, digests, public: false, inFlight: this.#inFlight, verify: false };
    const gate = (): Promise<void> => control.gate();
    await upload(this.#http, this.#access.source(keys), choices, { signal: control.signal, emit, gate });
    return true;
  }

  /** Bytes of the longest ciphertext of a set. */
  async #ciphertextBytes(name: string): Promise<number> {
    return Math.max(...(await this.#sets.find(name)).ciphertextBytes);
  }

  /** A ciphertext that a server sent for `input`, in the module that `input` is in. */
  async #received(bytes: Uint8Array, module: ModuleName, input: Ciphertext): Promise<Ciphertext> {
    const made = await this.#port.call(classOf(ckks(module), 'Ciphertext'), 'fromBytes', bytes);
    return new Ciphertext(this.#port, this.#own(made, input), input.mode);
  }

  /** As `#received`, for integers. */
  async #receivedIntegers(bytes: Uint8Array, input: IntegerCiphertext): Promise<IntegerCiphertext> {
    const made = await this.#port.call(classOf(INTEGERS, 'IntegerCiphertext'), 'fromBytes', bytes);
    return new IntegerCiphertext(this.#port, this.#own(made, input));
  }

  /** Frees a result that is not under the input's key. */
  #own<M extends Handle & { readonly keyId: string }>(made: M, input: { readonly keyId: string }): M {
    if (made.keyId === input.keyId) return made;
    this.#port.release(made);
    throw new RefloatError(
      'SERVER',
      `${this.url} sent a result under key ${made.keyId} for an input under key ${input.keyId}; check that this is the address of a refloat server`,
    );
  }
}

/** The id of a key set, and the secret key if that was given instead of the id. */
function identified<K extends SecretKey>(keys: string | K, where: string): [id: string, owner: K | undefined] {
  if (typeof keys === 'string') return [keyId(keys), undefined];
  mustBe(keys, SecretKey, where, 'a key set, or the id of one');
  return [keys.id, keys];
}

/** Whether sending parts of the keys again would help. */
function isRepairable(error: unknown): boolean {
  const code = error instanceof RefloatError ? error.problem?.code : undefined;
  return code === 'KEYS_INCOMPLETE' || code === 'KEY_PIECE_DAMAGED';
}
