import { RefloatError } from '../errors.js';
import type { Engine } from './engine.js';
import type { Op } from './port.js';
import { toWire, transferables, type Reply, type Request } from './wire.js';

/** What a worker listens to and answers on. */
export interface MessagePortLike {
  listen(onMessage: (request: Request) => void): void;
  post(reply: Reply, transfer: ArrayBuffer[]): void;
}

/**
 * The worker's side: serves one engine to one page, in the order of the requests.
 *
 * @param port where requests come from
 * @param open loads the wasm module
 */
export function serve(port: MessagePortLike, open: (source: unknown) => Promise<Engine>): void {
  let engine: Promise<Engine> | undefined;
  let queue: Promise<void> = Promise.resolve();

  const run = async (request: Request): Promise<unknown> => {
    if (request.op === 'init') {
      engine = open(request.args[0]);
      await engine;
      return undefined;
    }
    if (!engine) throw new RefloatError('INVALID_ARGUMENT', 'the first message to the worker must be "init"');
    const target = await engine;
    const method = target[request.op as Op] as (...args: readonly unknown[]) => unknown;
    return method.apply(target, [...request.args]);
  };

  port.listen((request) => {
    queue = queue.then(async () => {
      let reply: Reply;
      try {
        reply = { id: request.id, ok: true, value: await run(request) };
      } catch (error) {
        reply = { id: request.id, ok: false, error: toWire(error) };
      }
      if (request.id !== 0) port.post(reply, reply.ok ? transferables(reply.value) : []);
    });
  });
}
