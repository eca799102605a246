// What relative URLs are resolved against: in a page, in a worker, and where neither exists.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loader, type LoadOptions, type WasmSource } from '../dist/api/loader.js';
import type { StartWorker } from '../dist/engine/port.js';
import type { Request } from '../dist/engine/wire.js';
import { Refloat } from '../dist/index.js';
import { fake } from './support/fake-glue.js';

afterEach(() => vi.unstubAllGlobals());

const inWorker = (): void => void vi.stubGlobal('location', new URL('https://a.test/app/worker.js'));

/** A worker has no document; a page has both. */
function inPage(): void {
  inWorker();
  vi.stubGlobal('document', { baseURI: 'https://a.test/page/' });
}

/** The addresses of worker and module that `load()` computes. */
async function loaded(worker: string, wasm: WasmSource): Promise<{ worker: string; wasm: unknown }> {
  const made = { worker: '', wasm: undefined as unknown };
  const workerAt = (url: URL): StartWorker => {
    made.worker = url.href;
    const start: StartWorker = Object.assign(
      (onReply: Parameters<StartWorker>[0]) => {
        const { host } = fake();
        return {
          post: ({ id, op, args }: Request) => {
            if (op === 'init') made.wasm = (args[0] as LoadOptions).wasm;
            void Promise.resolve(op === 'init' ? undefined : host.perform(op, args)).then((value) => onReply({ id, ok: true, value }));
          },
          terminate: () => undefined,
          hold: () => undefined,
        };
      },
      { file: url.href },
    );
    return start;
  };
  const unused = (): never => expect.unreachable();
  const startWorker = Object.assign(unused, { file: 'none' });
  const load = loader({ artefact: 'full', hasWorkers: true, cores: () => 1, startWorker, workerAt, wrapWorker: unused, openDirect: unused }, () => undefined);
  await load({ worker: worker as unknown as URL, wasm });
  return made;
}

describe('relative URLs', () => {
  it('of load() are resolved against the page, or in a worker against its file', async () => {
    inWorker();
    expect(await loaded('/refloat/worker.js', 'refloat.wasm')).toEqual({
      worker: 'https://a.test/refloat/worker.js',
      wasm: 'https://a.test/app/refloat.wasm',
    });
    inPage();
    expect(await loaded('/refloat/worker.js', 'refloat.wasm')).toEqual({
      worker: 'https://a.test/refloat/worker.js',
      wasm: 'https://a.test/page/refloat.wasm',
    });
  });

  it('of server() are resolved as those of load() are', async () => {
    using rf = await Refloat.load({ worker: false });
    inWorker();
    expect(rf.server('/refloat').url).toBe('https://a.test/refloat');
    expect(rf.server('refloat').url).toBe('https://a.test/app/refloat');
    inPage();
    expect(rf.server('/refloat').url).toBe('https://a.test/refloat');
    expect(rf.server('refloat').url).toBe('https://a.test/page/refloat');
    expect(() => rf.server(undefined as unknown as string)).toThrow(/"undefined" is not the address of a server/);
  });

  it('are refused where nothing has an address', async () => {
    using rf = await Refloat.load({ worker: false });
    expect(() => rf.server('/refloat')).toThrow(/"\/refloat" is not the address of a server; write it as http:\/\/host:port/);
    await expect(loaded('/refloat/worker.js', 'https://a.test/refloat.wasm')).rejects.toThrow(
      /\{ worker: "\/refloat\/worker\.js" \} is not a URL, and there is no page here .*; pass an absolute one/,
    );
  });
});
