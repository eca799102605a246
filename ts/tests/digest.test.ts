// Digests and tokens of the real modules.
import { describe, expect, it } from 'vitest';
import { openDirect } from '../dist/direct-full.js';

const hex = /^[0-9a-f]{64}$/;
const [here, there] = ['https://a.example', 'https://b.example'];

describe('digests', () => {
  it('are those of BLAKE3', async () => {
    const host = await openDirect({});
    // Test vectors of BLAKE3: inputs of 0, 1 and 2048 bytes, counting from 0 modulo 251.
    const input = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 251);
    expect([0, 1, 2048].map((length) => host.digest(input(length)))).toEqual([
      'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262',
      '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213',
      'e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a',
    ]);
  });

  it.each([
    ['toy10', 'keygen', 'keyPiece', 'serverToken', 'exportSecret', 'importSecret'],
    ['toy-conventional11', 'keygen', 'keyPiece', 'serverToken', 'exportSecret', 'importSecret'],
    ['toy-bool', 'gateKeygen', 'gateKeyPiece', 'gateServerToken', 'gateExportSecret', 'gateImportSecret'],
  ] as const)('go with parts, and tokens with keys and servers: %s', async (set, keygen, piece, token, save, load) => {
    const host = await openDirect({});
    const made = async (): Promise<number> => ((await host.call(keygen, [set, true, undefined])) as { handle: number }).handle;
    const [key, other] = [await made(), await made()];
    const part = (await host.call(piece, [key, 0])) as { bytes: Uint8Array; digest: string };
    expect(part.digest).toBe(host.digest(part.bytes));
    const secret = (await host.call(save, [key])) as Uint8Array;
    const again = (await host.call(load, [secret, true])) as { handle: number };
    const tokenOf = (handle: number, origin: string): Promise<unknown> => host.call(token, [handle, origin]);
    const mine = await tokenOf(key, here);
    expect(mine).toMatch(hex);
    expect(await tokenOf(again.handle, here)).toBe(mine);
    expect(new Set([mine, await tokenOf(key, there), await tokenOf(other, here), host.digest(secret)]).size).toBe(4);
    for (const handle of [key, other, again.handle]) host.free(handle);
  });
});
