import { RefloatError } from '../errors.js';
import type { Host, OpenHost, Sources } from './host.js';
import { toWire, transferables, type Reply, type Request } from './wire.js';

/** What a worker listens to and answers on. */
export interface MessagePortLike {
  listen(onMessage: (request: Request) => void): void;
  post(reply: Reply, transfer: ArrayBuffer[]): void;
}

/**
 * The worker's side: serves the instances of its thread to one page, in the order of the requests.
 *
 * @param port where requests come from
 * @param open loads the wasm module
 */
export function serve(port: MessagePortLike, open: OpenHost): void {
  let host: Promise<Host> | undefined;
  let queue: Promise<void> = Promise.resolve();

  const run = async ({ op, args }: Request): Promise<unknown> => {
    if (op === 'init') {
      host = open(args[0] as Sources);
      await host;
      return undefined;
    }
    if (!host) throw new RefloatError('INVALID_ARGUMENT', 'the first message to the worker must be "init"');
    return (await host).perform(op, args);
  };

  port.listen((request) => {
    queue = queue.then(async () => {
      let reply: Reply;
      try {
        reply = { id: request.id, ok: true, value: await run(request) };
      } catch (error) {
        // What came with the request belongs to this worker, even a secret key that was lent and not read, so it is wiped.
        for (const buffer of transferables(request.args)) new Uint8Array(buffer).fill(0);
        reply = { id: request.id, ok: false, error: toWire(error) };
      }
      if (request.id !== 0) port.post(reply, reply.ok ? transferables(reply.value) : []);
    });
  });
  // Tells the page that the script runs, before anything is asked of it.
  port.post({ id: 0, ok: true, value: undefined }, []);
}
