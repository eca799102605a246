import { createParser } from '#eventsource-parser';
import { RefloatError } from '../errors.js';
import { pieces, silent, type Patience } from './body.js';

/** One server-sent event. */
export interface ServerSentEvent {
  /** `event:`, or "message". */
  readonly type: string;
  /** `data:` lines joined by newlines. */
  readonly data: string;
  /** The last `id:` seen so far, "" if none. */
  readonly id: string;
}

/** Longest line and longest event, in characters; refloat's have a few hundred. */
const EVENT = 64 << 10;
/** Most bytes of all events of a job. */
const STREAM = 32 << 20;

/** How many bytes the events of a job may still have, over all its connections. */
export class EventBudget {
  left = STREAM;
}

/**
 * Reads the events of a response as they arrive. The library eventsource-parser finds lines and fields; the limits are set here.
 *
 * @throws RefloatError `SERVER` beyond the limits, `NETWORK` after a silence
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  budget: EventBudget,
  patience: Patience,
  url: string,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const decoder = new TextDecoder();
  let events: ServerSentEvent[] = [];
  let id = '';
  let overflow = false;
  const parser = createParser({
    maxBufferSize: EVENT,
    onId: (next) => void (id = next),
    onEvent: ({ event, data }) => {
      if (data.length > EVENT || id.length > EVENT || (event?.length ?? 0) > EVENT) overflow = true;
      else events.push({ type: event ?? 'message', data, id });
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') overflow = true;
    },
  });
  for await (const piece of pieces(body, patience, () => silent(url, patience.silenceMs))) {
    budget.left -= piece.length;
    if (budget.left < 0) throw endless(url, `more than ${STREAM >> 20} MiB of events`);
    parser.feed(decoder.decode(piece, { stream: true }));
    yield* events;
    events = [];
    if (overflow) throw endless(url, `an event of more than ${EVENT >> 10} KiB`);
  }
}

function endless(url: string, what: string): RefloatError {
  return new RefloatError('SERVER', `${url} sends ${what}, which no refloat server does; check the address`);
}
