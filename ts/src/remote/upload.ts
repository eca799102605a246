import { RefloatError } from '../errors.js';
import type { KeyPartInfo } from '../params.js';
import type { RunControl } from '../run.js';
import type { KeyProgress } from '../stages.js';
import type { Http } from './http.js';
import type { RemoteKeysInfo } from './keys.js';

/** What an upload needs to know about a set. */
export interface KeyLayout {
  readonly name: string;
  readonly fingerprint: string;
  readonly keyParts: readonly KeyPartInfo[];
}

/** What an upload needs to know about the keys. */
export interface KeySource {
  readonly id: string;
  readonly params: KeyLayout;
  /** Makes one part; the same index always gives the same bytes. */
  part(index: number): Promise<Uint8Array>;
}

/** Answer to opening or looking up a set. */
interface OpenedKeys {
  readonly id: string;
  readonly state?: 'open' | 'sealed';
  readonly missing: readonly number[];
}

/**
 * Makes the parts one by one and sends each as soon as it exists, a few in flight, so that neither
 * side ever holds the whole set. Parts the server has already are not made again.
 */
export async function upload(
  http: Http,
  source: KeySource,
  inFlight: number,
  control: RunControl<KeyProgress>,
): Promise<RemoteKeysInfo> {
  const { id, params } = source;
  // A failed part stops its siblings, and none of them outlives the run.
  const group = new AbortController();
  const { signal } = group;
  const stop = (): void => group.abort(control.signal.reason);
  control.signal.addEventListener('abort', stop, { once: true });
  const parts = new Map(params.keyParts.map((part) => [part.index, part]));
  const opened = await http.json<OpenedKeys>('/v1/keys', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ params: params.name, fingerprint: params.fingerprint, keyId: id, parts: parts.size }),
    signal,
  });
  const progress = new Progress(params, opened.missing, control);

  const sending = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  const check = (): void => {
    if (failure) throw failure.error;
  };
  try {
    for (const index of opened.missing) {
      await control.gate();
      check();
      const part = parts.get(index);
      if (!part) throw mismatch(http.base, params, index);
      const body = await source.part(index);
      const sent: Promise<void> = put(http, id, part, body, signal)
        .then(
          () => progress.finished(part),
          (error: unknown) => void (failure ??= { error }),
        )
        .finally(() => sending.delete(sent));
      sending.add(sent);
      if (sending.size >= inFlight) await Promise.race(sending);
      check();
    }
    while (sending.size > 0) {
      await Promise.race(sending);
      check();
    }
    await control.gate();
  } catch (error) {
    group.abort(error);
    await Promise.all(sending);
    throw error;
  } finally {
    control.signal.removeEventListener('abort', stop);
  }
  const sealed = await http.json<{ digest: string; bytes: number }>(`/v1/keys/${id}/commit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    signal: control.signal,
  });
  return { id, params: params.name, digest: sealed.digest, bytes: sealed.bytes };
}

async function put(http: Http, id: string, part: KeyPartInfo, body: Uint8Array, signal: AbortSignal): Promise<void> {
  const response = await http.send(`/v1/keys/${id}/chunks/${part.index}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body,
    signal,
  });
  await response.body?.cancel();
}

/** Counts what is finished, starting with what the server had. */
class Progress {
  readonly #control: RunControl<KeyProgress>;
  readonly #total: number;
  readonly #totalBytes: number;
  #done: number;
  #bytes: number;

  constructor(params: KeyLayout, missing: readonly number[], control: RunControl<KeyProgress>) {
    const absent = new Set(missing);
    const present = params.keyParts.filter((part) => !absent.has(part.index));
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

  #emit(label: string): void {
    this.#control.emit({
      kind: 'progress',
      done: this.#done,
      total: this.#total,
      bytes: this.#bytes,
      totalBytes: this.#totalBytes,
      label,
    });
  }
}

function mismatch(base: string, params: KeyLayout, index: number): RefloatError {
  return new RefloatError(
    'PARAMS_MISMATCH',
    `${base} asks for part ${index} of a set "${params.name}" that has ${params.keyParts.length} parts here: bring server and package to the same version`,
  );
}
