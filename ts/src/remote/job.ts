import { RefloatError, isErrorCode } from '../errors.js';
import type { RunControl } from '../run.js';
import { gone, problem, type Http } from './http.js';
import { EventStreamParser, readEvents, type ServerSentEvent } from './sse.js';

/** How a job ended, as the server's last event says. */
interface JobEnd {
  readonly state: 'done' | 'failed' | 'cancelled';
  readonly problem?: { readonly code?: unknown; readonly detail?: unknown; readonly title?: unknown };
}

/** Sends a ciphertext off and gives the id of its job. */
export async function submit(
  http: Http,
  what: { readonly keyId: string; readonly ops: readonly string[]; readonly mode: string; readonly rounds?: number | undefined },
  body: Uint8Array,
  signal: AbortSignal,
): Promise<string> {
  // The key makes repeating the request safe: the server answers with the job it has.
  const once = crypto.getRandomValues(new Uint8Array(16));
  const query = new URLSearchParams({ key: what.keyId, op: what.ops.join(','), mode: what.mode });
  if (what.rounds !== undefined) query.set('rounds', String(what.rounds));
  const job = await http.json<{ id: string }>(`/v1/jobs?${query.toString()}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/octet-stream',
      'idempotency-key': Array.from(once, (b) => b.toString(16).padStart(2, '0')).join(''),
    },
    body,
    signal,
  });
  return job.id;
}

/** Follows a job to its end, reconnecting where it stopped; cancels it when the run is cancelled. */
export async function follow<E>(http: Http, id: string, control: RunControl<E>): Promise<Uint8Array> {
  const { signal } = control;
  const cancel = (): void => {
    // Nobody waits for this: if it is lost, the job runs to its end on the server.
    http.once(`/v1/jobs/${id}`, { method: 'DELETE' }).then(
      (response) => response.body?.cancel(),
      () => undefined,
    );
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    if (signal.aborted) cancel();
    const end = await events(http, id, control);
    if (end.state !== 'done') throw failure(end, `${http.base}/v1/jobs/${id}`);
    const result = await http.send(`/v1/jobs/${id}/result`, { signal });
    return new Uint8Array(await result.arrayBuffer());
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Reads the event stream, however often it breaks, until the job has ended. */
async function events<E>(http: Http, id: string, control: RunControl<E>): Promise<JobEnd> {
  const { signal } = control;
  const path = `/v1/jobs/${id}/events`;
  let last = '';
  let failures = 0;
  for (;;) {
    const parser = new EventStreamParser();
    let lost: unknown = new Error('the event stream ended before the job');
    let refused: Response | undefined;
    try {
      const response = await http.once(path, {
        headers: { accept: 'text/event-stream', ...(last === '' ? {} : { 'last-event-id': last }) },
        signal,
      });
      if (!response.ok) {
        const refusal = await problem(response, `${http.base}${path}`);
        if (response.status !== 429 && response.status < 500) throw refusal;
        lost = refusal;
        refused = response;
      } else if (response.body) {
        for await (const event of readEvents(response.body, parser)) {
          failures = 0;
          if (event.id !== '') last = event.id;
          const end = take(event, control);
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
      throw lost instanceof RefloatError ? lost : gone(http.base, lost);
    }
    await http.wait(failures, refused, signal);
  }
}

function take<E>(event: ServerSentEvent, control: RunControl<E>): JobEnd | undefined {
  if (event.type !== 'stage' && event.type !== 'end') return undefined;
  let data: unknown;
  try {
    data = JSON.parse(event.data);
  } catch (cause) {
    throw new RefloatError('SERVER', `the server sent an event that is not JSON (${event.data.slice(0, 80)})`, { cause });
  }
  if (event.type === 'end') return data as JobEnd;
  control.emit(data as E);
  return undefined;
}

function failure(end: JobEnd, url: string): RefloatError {
  if (end.state === 'cancelled') {
    return new RefloatError('ABORTED', `the job was cancelled on the server (${url}): submit it again to get a result`);
  }
  const { code, detail, title } = end.problem ?? {};
  const said = typeof detail === 'string' ? detail : typeof title === 'string' ? title : 'the job failed';
  return new RefloatError(isErrorCode(code) ? code : 'SERVER', `${said} (${url})`);
}
