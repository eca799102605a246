// Key sets whose pieces the disk of the native server has lost or damaged.
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENT, expectValues, uploadedKeys, type UploadedKeys } from './support/beside.js';
import { SERVER_BINARY } from './support/real-server.js';

describe.skipIf(SERVER_BINARY === undefined)('key pieces at the native server', () => {
  let { rf, real, server, keys, remote, ct, close } = {} as UploadedKeys;

  beforeAll(async () => {
    ({ rf, real, server, keys, remote, ct, close } = await uploadedKeys());
  });
  afterAll(() => close());

  /** The files of the set on disk. */
  async function files(): Promise<string[]> {
    const folder = join(real.data, 'keys');
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    const own = found.filter((e) => e.isFile()).map((e) => join(e.parentPath, e.name)).filter((path) => path.includes(keys.id));
    expect(own.length).toBeGreaterThanOrEqual(keys.params.keyParts.length);
    return own;
  }

  it.each([
    ['damaged', async (path: string) => {
      const bytes = await readFile(path);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
      await writeFile(path, bytes);
    }],
    ['gone', (path: string) => rm(path)],
  ])('heal by themselves where a piece on disk is %s', async (_what, spoil) => {
    await real.kill();
    const [path] = (await files()).slice(-1);
    await spoil(path as string);
    await real.restart();
    const job = server.bootstrap(ct);
    await expectValues(keys, await job);
    const repairs = job.events.filter((e) => e.kind === 'repair');
    expect(repairs.map((e) => e.total - e.done)).toEqual([1, 0]);
    // In another session, with the secret key alone.
    await real.kill();
    await spoil(path as string);
    await real.restart();
    using again = await rf.importKeys(await keys.exportSecret(), { allowInsecure: true });
    const later = rf.server(real.url, PATIENT).bootstrap(ct, { keys: again });
    await expectValues(keys, await later);
    expect(later.events.filter((e) => e.kind === 'repair')).toHaveLength(2);
    expect(await server.keys(keys)).toMatchObject({ digest: remote.digest });
  });

  it('say which piece is missing where the secret key is not at hand', async () => {
    await real.kill();
    const [path] = await files();
    await rm(path as string);
    await real.restart();
    const other = rf.server(real.url, { ...PATIENT, token: remote.token });
    await expect(other.bootstrap(ct)).rejects.toMatchObject({
      message: expect.stringMatching(/piece \d+/) as unknown,
      problem: { code: 'KEY_PIECE_DAMAGED' },
    });
  });
});
