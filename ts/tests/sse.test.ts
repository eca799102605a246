import { describe, expect, it } from 'vitest';
import { EventStreamParser, readEvents, type ServerSentEvent } from '../dist/remote/sse.js';

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

describe('EventStreamParser', () => {
  it('follows the standard: line ends, comments, ids, several data lines', () => {
    const parser = new EventStreamParser();
    expect(parser.push(STREAM)).toEqual(EVENTS);
    expect(parser.retryMs).toBe(150);
  });

  it('gives the same events however the stream is cut', async () => {
    const bytes = new TextEncoder().encode(STREAM);
    for (const size of [1, 2, 3, 5, 16, 1000]) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.slice(i, i + size));
          controller.close();
        },
      });
      const seen: ServerSentEvent[] = [];
      for await (const event of readEvents(body, new EventStreamParser())) seen.push(event);
      expect(seen).toEqual(EVENTS);
    }
  });

  it('lets go of the stream when the reader stops', async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: x\n\n')),
      cancel: () => void (cancelled = true),
    });
    for await (const event of readEvents(body, new EventStreamParser())) {
      expect(event.data).toBe('x');
      break;
    }
    expect(cancelled).toBe(true);
  });
});
