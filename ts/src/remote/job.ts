import { RefloatError } from '../errors.js';
import { toHex } from '../hex.js';
import { bearer } from './access.js';
import { discard } from './body.js';
import { gone, refusal, type Http } from './http.js';
import type { Shared } from './shares.js';
import { EventBudget, readEvents, type ServerSentEvent } from './sse.js';
import { members, parsed } from './text.js';

/** A job for a server, and what is needed to follow it. */
export interface Job {
  readonly keyId: string;
  /** Token of the keys, if one is known. */
  readonly token: string | undefined;
  readonly ops: readonly string[];
  readonly mode: string;
  readonly rounds?: number | undefined;
  readonly body: Uint8Array;
  /** Longest result that the job's parameter set allows, in bytes. */
  readonly resultBytes: number;
  /** BLAKE3 of some bytes, in hexadecimal. */
  digest(bytes: Uint8Array): Promise<string>;
}

/** How a job ended, as the server's last event says. */
interface JobEnd {
  readonly state: 'done' | 'failed' | 'cancelled';
  readonly problem: unknown;
}

/** Has a job done, passes on its events, and returns the bytes of its result. */
export async function perform(http: Http, job: Job, events: Shared, signal: AbortSignal): Promise<Uint8Array> {
  return follow(http, job, await submit(http, job, signal), events, signal);
}

/** Submits a job and returns its id. */
async function submit(http: Http, job: Job, signal: AbortSignal): Promise<string> {
  // The idempotency key makes repeating the request safe: the server answers with the job it already has.
  const once = crypto.getRandomValues(new Uint8Array(16));
  const query = new URLSearchParams({ key: job.keyId, op: job.ops.join(','), mode: job.mode });
  if (job.rounds !== undefined) query.set('rounds', String(job.rounds));
  const answer = http.json(`/v1/jobs?${query.toString()}`, {
    method: 'POST',
    headers: {
      ...bearer(job.token),
      'content-type': 'application/octet-stream',
      'idempotency-key': toHex(once),
      'refloat-digest': await job.digest(job.body),
    },
    body: job.body,
    signal,
  });
  const { id } = await answer.catch((error: unknown) => {
    // The server words it in its own way; this tells how keys get there from here.
    if (!(error instanceof RefloatError) || error.problem?.code !== 'NOT_FOUND') throw error;
    const message = `${http.base} has no evaluation keys of key ${job.keyId}; send them with await server.uploadKeys(keys)`;
    throw new RefloatError('MISSING_KEY', message, { cause: error, problem: error.problem });
  });
  // The id becomes part of addresses.
  if (typeof id === 'string' && /^[\w-]{1,128}$/.test(id)) return id;
  throw new RefloatError('SERVER', `${http.base} took a job and did not say its id; check that this is the address of a refloat server`);
}

/** Follows a job to its end, reconnecting where the stream broke off; cancels the job when the run is cancelled. */
async function follow(http: Http, job: Job, id: string, shared: Shared, signal: AbortSignal): Promise<Uint8Array> {
  const path = `/v1/jobs/${id}`;
  const headers = bearer(job.token);
  const cancel = (): void => {
    // Not awaited: if this request is lost, the job runs to its end on the server.
    http.once(path, { method: 'DELETE', headers }).then(discard, () => undefined);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    if (signal.aborted) cancel();
    shared.begin();
    const end = await events(http, path, headers, signal, shared).finally(() => shared.end(false));
    if (end.state !== 'done') throw failure(end, `${http.base}${path}`);
    const check = async (bytes: Uint8Array, answered: Headers): Promise<void> => {
      const digest = answered.get('refloat-digest');
      if (digest === null || digest === (await job.digest(bytes))) return;
      throw new RefloatError('NETWORK', `the result of ${http.base}${path} was damaged on the way; check the connection and call again`);
    };
    return await http.bytes(`${path}/result`, job.resultBytes, { signal, headers }, check);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Reads the event stream, however often it breaks, until the job has ended. */
async function events(
  http: Http,
  job: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  shared: Shared,
): Promise<JobEnd> {
  const path = `${job}/events`;
  const budget = new EventBudget();
  let last = '';
  let failures = 0;
  for (;;) {
    let lost: unknown = new Error('the event stream ended before the job');
    let busy: Response | undefined;
    try {
      const response = await http.once(path, {
        headers: { ...headers, accept: 'text/event-stream', ...(last === '' ? {} : { 'last-event-id': last }) },
        signal,
      });
      if (!response.ok) {
        const refused = await http.problem(response, path, signal);
        if (response.status !== 429 && response.status < 500) throw refused;
        lost = refused;
        busy = response;
      } else if (response.body) {
        for await (const event of readEvents(response.body, budget, http.patience(signal), `${http.base}${path}`)) {
          failures = 0;
          // Events are numbered; a new connection sends back the last id.
          if (/^\d{1,20}$/.test(event.id)) last = event.id;
          const end = take(event, shared, `${http.base}${path}`);
          if (end) return end;
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RefloatError && error.code !== 'NETWORK') throw error;
      lost = error;
    }
    failures += 1;
    if (failures >= http.retry.attempts) {
      throw lost instanceof RefloatError ? lost : gone(http.base, path, lost);
    }
    await http.wait(failures, busy, signal);
  }
}

function take(event: ServerSentEvent, shared: Shared, url: string): JobEnd | undefined {
  if (!['state', 'stage', 'end'].includes(event.type)) return undefined;
  let data: Readonly<Record<string, unknown>>;
  try {
    data = members(parsed(event.data));
  } catch (cause) {
    throw new RefloatError('SERVER', `${url} sent an event that is not JSON; check that this is the address of a refloat server`, { cause });
  }
  if (event.type === 'stage') {
    const event = report(data);
    if (event) shared.take(event);
    return undefined;
  }
  const { state, problem } = data;
  if (event.type === 'state') {
    if (state === 'running' && data['phase'] === undefined) shared.begin();
    return undefined;
  }
  if (state === 'done' || state === 'failed' || state === 'cancelled') {
    shared.end(state === 'done');
    return { state, problem };
  }
  throw new RefloatError('SERVER', `${url} ended the job without saying how; bring server and package to the same version`);
}

/** The numbers that each kind of event has besides its stage: required ones, then optional ones. */
const NUMBERS: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  enter: [['atMs'], []],
  progress: [['atMs', 'done', 'total'], []],
  exit: [['atMs'], ['level', 'logQ', 'logScale']],
};

/** The event in the data, if it is one that a server can report: no views, and numbers where numbers belong. */
function report(data: Readonly<Record<string, unknown>>): object | undefined {
  const { kind, stage, counters } = data;
  const numbers = typeof kind === 'string' && Object.hasOwn(NUMBERS, kind) ? NUMBERS[kind] : undefined;
  if (!numbers || typeof stage !== 'string') return undefined;
  const [must, may] = numbers;
  const values = [...must, ...may.filter((name) => name in data)].map((name) => [name, data[name]] as const);
  const work = kind === 'exit' ? Object.entries(members(counters)) : [];
  if (![...values, ...work].every(([, value]) => Number.isFinite(value))) return undefined;
  return { kind, stage, ...Object.fromEntries(values), ...(work.length > 0 ? { counters: Object.fromEntries(work) } : {}) };
}

function failure(end: JobEnd, url: string): RefloatError {
  if (end.state === 'cancelled') {
    return new RefloatError('ABORTED', `the job was cancelled on the server (${url}); submit it again to get a result`);
  }
  const { status } = members(end.problem);
  return refusal(end.problem, { status: typeof status === 'number' ? status : 500, otherwise: 'the job failed', at: url });
}
