import { RefloatError } from '../errors.js';
import { fromHex } from '../hex.js';
import type { KeyPartInfo, SetWithParts } from '../params.js';
import type { RunControl } from '../run.js';
import type { KeyProgress } from '../stages.js';
import { bearer, type KeySource } from './access.js';
import type { Http } from './http.js';
import type { RemoteKeysInfo } from './keys.js';

/** How a set is uploaded. */
export interface UploadChoices {
  readonly token: string | undefined;
  /** Whether jobs need no token. */
  readonly public: boolean;
  /** Parts that are sent at the same time. */
  readonly inFlight: number;
  /** Digests of the parts made before; those made now are added. */
  readonly digests: Map<number, string>;
  /**
   * Whether parts that the server has from an earlier session are made again, without being sent, so that the set is sealed only if every
   * part belongs to this key.
   */
  readonly verify: boolean;
}

/** Slowest rate, in bytes per millisecond, at which a server is expected to check parts. */
const CHECKED = 16_000;

/**
 * Makes the parts one by one and sends each as soon as it exists, a few in flight, so that neither
 * side ever holds the whole set. An upload that was interrupted is resumed: parts that the server has already are not sent again.
 */
export async function upload(
  http: Http,
  source: KeySource,
  choices: UploadChoices,
  control: RunControl<KeyProgress>,
): Promise<RemoteKeysInfo> {
  const { params } = source;
  const sending = new Sending(http, source, choices, control.signal);
  try {
    const opened = await sending.open();
    const missing = new Set(opened.missing);
    const progress = new Progress(params, missing, control);
    for (const part of params.keyParts) {
      const present = !missing.has(part.index);
      if (present && (opened.sealed || !choices.verify || choices.digests.has(part.index))) continue;
      await control.gate();
      sending.check();
      if (present) progress.comparing(part);
      const { bytes, digest } = await source.piece(part.index);
      choices.digests.set(part.index, digest);
      if (present) continue;
      await sending.send(part, bytes, digest, () => progress.finished(part));
    }
    await sending.drain();
    await control.gate();
    return await sending.seal();
  } catch (error) {
    await sending.stop(error);
    throw error;
  } finally {
    sending.end();
  }
}

/** The requests of one upload. */
class Sending {
  readonly #http: Http;
  readonly #source: KeySource;
  readonly #choices: UploadChoices;
  readonly #path: string;
  readonly #caller: AbortSignal;
  /** A failed part stops its siblings, and none of them outlives the run. */
  readonly #group = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(http: Http, source: KeySource, choices: UploadChoices, signal: AbortSignal) {
    this.#http = http;
    this.#source = source;
    this.#choices = choices;
    this.#path = `/v1/keys/${source.id}`;
    this.#caller = signal;
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  readonly #abort = (): void => this.#group.abort(this.#caller.reason);

  /** Opens the set, or finds it, and returns what is missing. */
  async open(): Promise<{ readonly sealed: boolean; readonly missing: readonly number[] }> {
    const { id, params } = this.#source;
    const manifest = {
      params: params.name,
      fingerprint: params.fingerprint,
      keyId: id,
      parts: params.keyParts.length,
      ...(this.#choices.public ? { public: true } : {}),
    };
    const answer = await this.#http.json('/v1/keys', this.#posted(manifest));
    return { sealed: answer['state'] === 'sealed', missing: this.#indices(answer['missing']) };
  }

  /** Sends a part, and waits until there is room for the next. */
  async send(part: KeyPartInfo, body: Uint8Array, digest: string, finished: () => void): Promise<void> {
    const request = {
      method: 'PUT',
      headers: {
        ...bearer(this.#choices.token),
        'content-type': 'application/octet-stream',
        'refloat-digest': digest,
      },
      body,
      signal: this.#group.signal,
    } as const;
    const sent: Promise<void> = this.#http
      .done(`${this.#path}/chunks/${part.index}`, request)
      .then(finished, (error: unknown) => void (this.#failure ??= { error }))
      .finally(() => this.#underWay.delete(sent));
    this.#underWay.add(sent);
    if (this.#underWay.size >= this.#choices.inFlight) await Promise.race(this.#underWay);
    this.check();
  }

  /** Waits for everything that is under way. */
  async drain(): Promise<void> {
    while (this.#underWay.size > 0) {
      await Promise.race(this.#underWay);
      this.check();
    }
  }

  /** Throws the error of a part that failed. */
  check(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** Seals the set; parts that the server has lost, or has with other bytes, are sent again first. */
  async seal(): Promise<RemoteKeysInfo> {
    const digest = await this.#digest();
    try {
      return await this.#commit(digest);
    } catch (error) {
      const code = error instanceof RefloatError ? error.problem?.code : undefined;
      if (code !== 'PIECES_DIFFER' && code !== 'KEYS_INCOMPLETE') throw error;
      if (!(await this.#replaceOthers())) throw error;
      return this.#commit(digest);
    }
  }

  /** Ends everything that is under way. */
  async stop(reason: unknown): Promise<void> {
    this.#group.abort(reason);
    await Promise.all(this.#underWay);
  }

  /** Stops listening to the caller's signal. */
  end(): void {
    this.#caller.removeEventListener('abort', this.#abort);
  }

  /** Sends parts again that are missing on the server or have other digests there; returns whether there were any. */
  async #replaceOthers(): Promise<boolean> {
    const state = await this.#http.json(this.#path, {
      headers: bearer(this.#choices.token),
      signal: this.#group.signal,
    });
    const theirs: unknown[] = Array.isArray(state['digests']) ? state['digests'] : [];
    const mine = this.#choices.digests;
    if (theirs.length === 0) return false;
    const differs = ({ index }: KeyPartInfo): boolean =>
      typeof theirs[index] !== 'string' || (mine.has(index) && theirs[index] !== mine.get(index));
    const others = this.#source.params.keyParts.filter(differs);
    for (const part of others) {
      const { bytes, digest } = await this.#source.piece(part.index);
      await this.send(part, bytes, digest, () => undefined);
    }
    await this.drain();
    return others.length > 0;
  }

  async #commit(digest: string | undefined): Promise<RemoteKeysInfo> {
    const { id, params } = this.#source;
    const workMs = params.keyParts.reduce((sum, part) => sum + part.bytes, 0) / CHECKED;
    const request = { ...this.#posted(digest === undefined ? {} : { digest }), workMs };
    const sealed = await this.#http.json(`${this.#path}/commit`, request);
    const { digest: stored, bytes } = sealed;
    if (typeof stored !== 'string' || typeof bytes !== 'number') {
      throw new RefloatError('SERVER', `${this.#http.base} does not say what it has sealed; bring server and package to the same version`);
    }
    return { id, params: params.name, digest: stored, bytes };
  }

  /** BLAKE3 of the digests of all parts in order, if all are known. */
  async #digest(): Promise<string | undefined> {
    const each = this.#source.params.keyParts.map(({ index }) => this.#choices.digests.get(index));
    if (each.some((digest) => digest === undefined)) return undefined;
    return this.#source.digest(fromHex(each.join('')));
  }

  #posted(value: object): { method: 'POST'; headers: Record<string, string>; body: string; signal: AbortSignal } {
    const headers = { ...bearer(this.#choices.token), 'content-type': 'application/json' };
    return { method: 'POST', headers, body: JSON.stringify(value), signal: this.#group.signal };
  }

  /** A list of parts, as a server sent it. */
  #indices(value: unknown): readonly number[] {
    const parts = this.#source.params.keyParts.length;
    const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
    const fits = (index: unknown): boolean => Number.isInteger(index) && (index as number) >= 0 && (index as number) < parts;
    if (!list || list.length > parts || !list.every(fits)) {
      throw mismatch(this.#http.base, this.#source.params, list?.find((index) => !fits(index)));
    }
    return list as number[];
  }
}

/** Counts what is finished, starting with what the server had. */
class Progress {
  readonly #control: RunControl<KeyProgress>;
  readonly #total: number;
  readonly #totalBytes: number;
  #done: number;
  #bytes: number;

  constructor(params: SetWithParts, missing: ReadonlySet<number>, control: RunControl<KeyProgress>) {
    const present = params.keyParts.filter((part) => !missing.has(part.index));
    this.#control = control;
    this.#total = params.keyParts.length;
    this.#totalBytes = params.keyParts.reduce((sum, part) => sum + part.bytes, 0);
    this.#done = present.length;
    this.#bytes = present.reduce((sum, part) => sum + part.bytes, 0);
    if (this.#done > 0) this.#emit(`${this.#done} parts are on the server already`);
  }

  finished(part: KeyPartInfo): void {
    this.#done += 1;
    this.#bytes += part.bytes;
    this.#emit(part.label);
  }

  /** Reports that a part which the server has is made again for comparison. */
  comparing(part: KeyPartInfo): void {
    this.#emit(`comparing with the server: ${part.label}`);
  }

  #emit(label: string): void {
    this.#control.emit({
      kind: 'progress',
      done: this.#done,
      total: this.#total,
      bytes: this.#bytes,
      totalBytes: this.#totalBytes,
      fraction: this.#bytes / this.#totalBytes,
      label,
    });
  }
}

function mismatch(base: string, params: SetWithParts, asked: unknown): RefloatError {
  const which = typeof asked === 'number' ? `part ${asked}` : 'something that is not a list of parts';
  return new RefloatError(
    'PARAMS_MISMATCH',
    `${base} asks for ${which}, of a set "${params.name}" that has ${params.keyParts.length} parts here; bring server and package to the same version`,
  );
}
