/** One server-sent event. */
export interface ServerSentEvent {
  /** `event:`, or "message". */
  readonly type: string;
  /** `data:` lines joined by newlines. */
  readonly data: string;
  /** The last `id:` seen so far, "" if none. */
  readonly id: string;
}

/**
 * Parser of `text/event-stream` by the rules of the HTML standard, fed with pieces of any size.
 */
export class EventStreamParser {
  /** Milliseconds to wait before reconnecting, if the server said so. */
  retryMs: number | undefined;
  #id = '';
  #type = '';
  #data: string[] = [];
  #line = '';
  #started = false;
  #afterCr = false;

  /** Takes in a piece of decoded text and gives the events that it completes. */
  push(text: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    let rest = text;
    if (!this.#started && rest !== '') {
      this.#started = true;
      if (rest.startsWith('\uFEFF')) rest = rest.slice(1);
    }
    for (const char of splitLines(rest)) {
      if (char === '\n' && this.#afterCr) {
        this.#afterCr = false;
        continue;
      }
      this.#afterCr = char === '\r';
      if (char !== '\r' && char !== '\n') {
        this.#line += char;
        continue;
      }
      const line = this.#line;
      this.#line = '';
      const event = this.#take(line);
      if (event) events.push(event);
    }
    return events;
  }

  #take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#type = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const [type, data] = [this.#type || 'message', this.#data];
    this.#type = '';
    this.#data = [];
    return data.length === 0 ? undefined : { type, data: data.join('\n'), id: this.#id };
  }
}

/** Splits into line ends and what is between them, keeping both. */
function splitLines(text: string): string[] {
  return text.split(/([\r\n])/).filter((piece) => piece !== '');
}

/** Reads the events of a response as they come. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  parser: EventStreamParser,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
