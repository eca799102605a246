import { Ciphertext } from '../api/ciphertext.js';
import type { KeySet, SignalOptions } from '../api/key-set.js';
import { RefloatError } from '../errors.js';
import type { Port } from '../engine/port.js';
import { GateCiphertext } from '../gates/ciphertext.js';
import type { CircuitInfo } from '../gates/circuit.js';
import type { CircuitEvent } from '../gates/events.js';
import { GateKeySet } from '../gates/key-set.js';
import { keyMismatch } from '../mismatch.js';
import type { RoundsChoice } from '../options.js';
import type { Preset } from '../params.js';
import type { Program } from '../program/program.js';
import { Run, SteppableRun } from '../run.js';
import type { KeyProgress, StageEvent } from '../stages.js';
import { Http, type Contact, type RetryPolicy } from './http.js';
import { follow, submit } from './job.js';
import { RemoteKeys } from './keys.js';
import { outputsOf, programBody, type ProgramEvent, type RemoteProgramOptions } from './program.js';
import { upload } from './upload.js';

/** Options of `Refloat.server`. */
export interface ServerOptions {
  /** Sent with every request, e.g. `{ authorization: 'Bearer …' }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** How often a request is repeated when the network or the server fails; 6 tries by default. */
  readonly retry?: Partial<RetryPolicy>;
  /** Told when a request is about to be repeated, and when the server answers again. */
  readonly onContact?: (contact: Contact) => void;
  /**
   * Parts of a key set on their way at a time; 2 by default. Each takes up to 8 MiB of memory, or 14 MB with
   * conventional sets.
   */
  readonly inFlight?: number;
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

/** What a job does, in order. */
export type JobOp = 'square' | 'bootstrap';

/** Options of `Server.bootstrap`. */
export interface RemoteBootstrapOptions extends RoundsChoice, SignalOptions {
  /** The keys to use; by default those of the ciphertext's own key. */
  readonly keys?: RemoteKeys | KeySet;
  /** What to do; `['bootstrap']` by default. */
  readonly op?: readonly JobOp[];
}

/**
 * A refloat server. It is given public keys and ciphertexts and never a secret.
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
  /** Its address. */
  readonly url: string;
  readonly #port: Port;
  readonly #presets: () => readonly Preset[];
  readonly #http: Http;
  readonly #inFlight: number;

  /** @internal */
  constructor(port: Port, presets: () => readonly Preset[], url: string | URL, options: ServerOptions) {
    this.#port = port;
    this.#presets = presets;
    this.#http = new Http(
      address(url),
      options.fetch ?? ((input, init) => fetch(input, init)),
      options.headers ?? {},
      { attempts: 6, firstDelayMs: 250, maxDelayMs: 8000, ...options.retry },
      options.onContact,
    );
    this.#inFlight = Math.max(1, Math.floor(options.inFlight ?? 2));
    this.url = this.#http.base;
  }

  /** The parameter sets on offer, with limits; `parts: true` adds the list of key parts. */
  async params(options: SignalOptions & { readonly parts?: boolean } = {}): Promise<ServerParams> {
    const path = options.parts === true ? '/v1/params?parts=1' : '/v1/params';
    const offer = await this.#http.json<ServerParams>(path, { signal: options.signal });
    if (!Array.isArray(offer.sets)) {
      throw new RefloatError('SERVER', `${this.url} is not a refloat server of this version: it lists no parameter sets`);
    }
    const sets = offer.sets.map((set) => ({
      ...set,
      source: (set as Partial<ServerPreset>).source ?? this.#presets().find((p) => p.name === set.name)?.source ?? '',
      keyParts: (set as Partial<ServerPreset>).keyParts ?? [],
      expectedSeconds: (set as Partial<ServerPreset>).expectedSeconds ?? null,
    }));
    return { ...offer, sets };
  }

  /**
   * Makes the bootstrapping keys, or those for gates, part by part and sends each as soon as it exists, so that memory
   * stays small however large the set is. Parts the server has already are left out: after a
   * failure, or in another session with the same secret key, the same call goes on.
   */
  uploadKeys(keys: KeySet | GateKeySet, options: SignalOptions = {}): SteppableRun<RemoteKeys, KeyProgress> {
    const secret = keys.handleIn(this.#port);
    const op = keys instanceof GateKeySet ? 'gateKeyPart' : 'keyPart';
    const source = {
      id: keys.id,
      params: keys.params,
      part: (index: number) => this.#port.call(op, secret, index),
    };
    return new SteppableRun(
      async (control) => new RemoteKeys(this.#http, await upload(this.#http, source, this.#inFlight, control)),
      options.signal,
    );
  }

  /** Looks a complete key set up; `undefined` if the server has none under this id, or only a part. */
  async keys(id: string, options: SignalOptions = {}): Promise<RemoteKeys | undefined> {
    const response = await this.#http.send(`/v1/keys/${id}`, { signal: options.signal, accept: [404] });
    if (response.status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    const info = (await response.json()) as {
      id: string;
      params: string;
      state: string;
      digest?: string;
      bytes?: number;
    };
    if (info.state !== 'sealed') return undefined;
    const bytes = info.bytes ?? this.#presets().find((p) => p.name === info.params)?.keyBytes ?? 0;
    return new RemoteKeys(this.#http, { id: info.id, params: info.params, digest: info.digest ?? '', bytes });
  }

  /**
   * Bootstraps on the server. Stage events come as they do from a run in the page, except that only
   * a page with the key can look inside. Lost connections are taken up again; cancelling the run
   * cancels the job.
   */
  bootstrap(ciphertext: Ciphertext, options: RemoteBootstrapOptions = {}): Run<Ciphertext, StageEvent> {
    if (options.keys) keyMismatch(options.keys.id, ciphertext, 'this key set');
    const handle = ciphertext.handleIn(this.#port);
    const ops = options.op ?? ['bootstrap'];
    const { rounds } = options;
    const { keyId, mode } = ciphertext;
    return new Run(async (control) => {
      const body = await this.#port.call('ciphertextToBytes', handle);
      const id = await submit(this.#http, { keyId, ops, mode, rounds }, body, control.signal);
      const result = await this.#port.call('ciphertextFromBytes', await follow(this.#http, id, control));
      return new Ciphertext(this.#port, result, mode);
    }, options.signal);
  }

  /**
   * Runs a program on the server, which has the keys of its inputs (`uploadKeys`) and puts bootstraps in where levels run
   * out. A program that does not fit the set is refused by the name of the node before anything runs. The result has the
   * outputs by their names.
   */
  run(
    program: Program,
    inputs: Readonly<Record<string, Ciphertext>>,
    options: RemoteProgramOptions = {},
  ): Run<Record<string, Ciphertext>, ProgramEvent> {
    const given = program.inputs.map((name) => {
      const ciphertext = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
      if (!ciphertext) throw new RefloatError('INVALID_ARGUMENT', `the program has an input "${name}": pass a ciphertext for it`);
      return ciphertext;
    });
    const [first] = given;
    if (!first) throw new RefloatError('INVALID_ARGUMENT', 'the program has no input: add one');
    if (options.keys) keyMismatch(options.keys.id, first, 'this key set');
    for (const ciphertext of given) keyMismatch(first.keyId, ciphertext, 'the first input');
    const handles = given.map((ciphertext) => ciphertext.handleIn(this.#port));
    const [head, outputs] = [program.toBytes(), program.outputs];
    const { keyId, mode } = first;
    return new Run(async (control) => {
      const parts = await Promise.all(handles.map((handle) => this.#port.call('ciphertextToBytes', handle)));
      const body = programBody(head, options.bootstraps ?? 'where-needed', parts);
      const id = await submit(this.#http, { keyId, ops: ['program'], mode }, body, control.signal);
      const out: Record<string, Ciphertext> = {};
      for (const [name, bytes] of outputsOf(outputs, await follow(this.#http, id, control))) {
        out[name] = new Ciphertext(this.#port, await this.#port.call('ciphertextFromBytes', bytes), mode);
      }
      return out;
    }, options.signal);
  }

  /**
   * Evaluates a circuit on the server, which has the keys of its inputs (`uploadKeys`). The items of
   * `inputs`, one after the other, are its inputs; the result holds its outputs in order. Progress
   * comes in batches of gates.
   */
  circuit(
    circuit: CircuitInfo | string,
    inputs: GateCiphertext | readonly GateCiphertext[],
    options: SignalOptions = {},
  ): Run<GateCiphertext, CircuitEvent> {
    const text = new TextEncoder().encode(typeof circuit === 'string' ? circuit : circuit.text);
    const lists = inputs instanceof GateCiphertext ? [inputs] : inputs;
    const handles = lists.map((list) => list.handleIn(this.#port));
    const keyId = lists[0]?.keyId ?? '';
    for (const list of lists) keyMismatch(keyId, list, 'the first input');
    return new Run(async (control) => {
      const list = await this.#port.call('gateListToBytes', handles);
      const body = new Uint8Array(4 + text.length + list.length);
      new DataView(body.buffer).setUint32(0, text.length, true);
      body.set(text, 4);
      body.set(list, 4 + text.length);
      const id = await submit(this.#http, { keyId, ops: ['circuit'], mode: 'bits' }, body, control.signal);
      return new GateCiphertext(this.#port, await this.#port.call('gateFromBytes', await follow(this.#http, id, control)));
    }, options.signal);
  }
}

/** An absolute address; a path is taken relative to the page. */
function address(url: string | URL): string {
  try {
    return new URL(url, globalThis.document?.baseURI).href;
  } catch (cause) {
    throw new RefloatError('INVALID_ARGUMENT', `"${String(url)}" is not the address of a server: write it as http://host:port`, {
      cause,
    });
  }
}
