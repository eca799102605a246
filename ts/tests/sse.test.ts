import { describe, expect, it } from 'vitest';
import { EventBudget, readEvents, type ServerSentEvent } from '../dist/remote/sse.js';

const STREAM =
  '\uFEFF: welcome\r\nevent: stage\nid: 1\ndata: {"a":1}\n\n' +
  'data:two\rdata: lines\r\r' +
  'event: ignored because it has no data\r\n\r\n' +
  'id: 7\nretry: 150\ndata\n\nid\ndata: id cleared\n\nevent: end\ndata: é🦭\n\ndata: never finished\n';

const EVENTS: ServerSentEvent[] = [
  { type: 'stage', data: '{"a":1}', id: '1' },
  { type: 'message', data: 'two\nlines', id: '1' },
  { type: 'message', data: '', id: '7' },
  { type: 'message', data: 'id cleared', id: '' },
  { type: 'end', data: 'é🦭', id: '' },
];

/** A body that repeats `piece` for ever after `head`; `asked` tells how many pieces were requested. */
function endless(head: string, piece: string): { body: ReadableStream<Uint8Array>; asked: () => number; cancelled: () => boolean } {
  let [asked, cancelled] = [0, false];
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode(asked++ === 0 ? head : piece)),
    cancel: () => void (cancelled = true),
  });
  return { body, asked: () => asked, cancelled: () => cancelled };
}

function events(body: ReadableStream<Uint8Array>, silenceMs = 10_000): AsyncGenerator<ServerSentEvent> {
  return readEvents(body, new EventBudget(), { silenceMs }, 'http://here/events');
}

async function count(stream: AsyncGenerator<ServerSentEvent>): Promise<number> {
  let seen = 0;
  for await (const _event of stream) seen += 1;
  return seen;
}

describe('server-sent events', () => {
  it('follow the standard, however the stream is cut: line ends, comments, ids, several data lines', async () => {
    const bytes = new TextEncoder().encode(STREAM);
    for (const size of [1, 2, 3, 5, 16, 1000]) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.slice(i, i + size));
          controller.close();
        },
      });
      const seen: ServerSentEvent[] = [];
      for await (const event of events(body)) seen.push(event);
      expect(seen).toEqual(EVENTS);
    }
  });

  it('let go of the stream when the reader stops', async () => {
    const { body, cancelled } = endless('data: x\n\n', 'data: x\n\n');
    for await (const event of events(body)) {
      expect(event.data).toBe('x');
      break;
    }
    expect(cancelled()).toBe(true);
  });

  // The longest event is 64 KiB, and all together 32 MiB; a piece here has 1 KiB or 64 KiB.
  const [kilobyte, page] = ['x'.repeat(1 << 10), 'x'.repeat(1 << 16)];
  it.each([
    ['a data line without end', 'data: ', kilobyte, 80],
    ['an event of data lines without end', '', `data: ${kilobyte}\n`, 80],
    ['a line with the name of an event without end', 'event: ', kilobyte, 80],
    ['a line with an id without end', 'id: ', kilobyte, 80],
    ['a comment without end', ': ', page, 520],
    ['a field that nobody knows without end', 'x', page, 520],
    ['comments without end', '', `: ${page}\n`, 520],
    ['carriage returns without end', '', '\r'.repeat(1 << 16), 520],
    ['an id that is long', '', `id: ${page}${page}\ndata: x\n\n`, 4],
  ])('refuse %s', async (_what, head, piece, most) => {
    const { body, asked, cancelled } = endless(head, piece);
    await expect(count(events(body))).rejects.toMatchObject({ code: 'SERVER' });
    expect(asked()).toBeLessThan(most);
    expect(cancelled()).toBe(true);
  });

  it('refuse events without end', async () => {
    const { body, asked } = endless('', `data: ${'x'.repeat(1 << 15)}\n\n`);
    await expect(count(events(body))).rejects.toMatchObject({ code: 'SERVER', message: expect.stringContaining('32 MiB') as unknown });
    expect(asked()).toBeLessThan(1030);
  });

  it('give a server up that falls silent, and not one that says now and then that it is there', async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (sent++ === 5) return new Promise(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 20));
        controller.enqueue(new TextEncoder().encode(': still here\n'));
      },
    });
    await expect(count(events(body, 1000))).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringContaining('for 1 s') as unknown,
    });
    expect(sent).toBe(6);
  });
});
