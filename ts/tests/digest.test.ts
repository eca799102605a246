// Digests and tokens of the real modules.
import { describe, expect, it } from 'vitest';
import { openDirect } from '../dist/direct-full.js';
import type { CkksGlue } from '../dist/engine/glue.js';
import { GATES, ckks, classOf, type Handle } from '../dist/engine/handle.js';
import { DirectPort } from '../dist/engine/port.js';
import { toHex } from '../dist/hex.js';

const hex = /^[0-9a-f]{64}$/;
const [here, there] = ['https://a.example', 'https://b.example'];

describe('digests', () => {
  it('are those of BLAKE3', async () => {
    const port = new DirectPort(await openDirect({}));
    // Test vectors of BLAKE3: inputs of 0, 1 and 2048 bytes, counting from 0 modulo 251.
    const input = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 251);
    const digests = [0, 1, 2048].map((length) => port.call(ckks('main'), 'digest', input(length)));
    expect((await Promise.all(digests)).map(toHex)).toEqual([
      'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262',
      '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213',
      'e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a',
    ]);
  });

  it.each([
    ['toy10', classOf(ckks('main'), 'SecretKey')],
    ['toy-conventional11', classOf(ckks('conventional'), 'SecretKey')],
    // The methods used here are the same.
    ['toy-bool', classOf(GATES, 'GateSecretKey') as Handle as Handle<CkksGlue['SecretKey']>],
  ] as const)('go with parts, and tokens with keys and servers: %s', async (set, keys) => {
    const port = new DirectPort(await openDirect({}));
    const digest = async (bytes: Uint8Array): Promise<string> => toHex(await port.call(ckks('main'), 'digest', bytes));
    const [key, other] = [await port.call(keys, 'generate', set, true), await port.call(keys, 'generate', set, true)];
    const part = await port.ask('piece', [key, 0]);
    expect(part.digest).toBe(await digest(part.bytes));
    const secret = await port.call(key, 'exportSecret');
    const again = await port.call(keys, 'importSecret', secret, true);
    const tokenOf = async (of: typeof key, origin: string): Promise<string> => toHex(await port.call(of, 'serverToken', origin));
    const mine = await tokenOf(key, here);
    expect(mine).toMatch(hex);
    expect(await tokenOf(again, here)).toBe(mine);
    expect(new Set([mine, await tokenOf(key, there), await tokenOf(other, here), await digest(secret)]).size).toBe(4);
    for (const handle of [key, other, again]) port.release(handle);
  });
});
