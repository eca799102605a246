// Key sets on the native server: who owns them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Server } from 'refloat';
import { PATIENT, VALUES, expectValues, uploadedKeys, type UploadedKeys } from './support/beside.js';
import { SERVER_BINARY, realServer } from './support/real-server.js';

const STRANGE = 'ab'.repeat(32);

describe.skipIf(SERVER_BINARY === undefined)('keys at the native server', () => {
  let { rf, real, server, keys, remote, ct, close } = {} as UploadedKeys;

  beforeAll(async () => {
    ({ rf, real, server, keys, remote, ct, close } = await uploadedKeys());
  });
  afterAll(() => close());

  it('are refused to whoever has not their token, and stay as they are', async () => {
    const stranger = rf.server(real.url, { ...PATIENT, token: STRANGE });
    const nobody = rf.server(real.url, PATIENT);
    for (const [who, problem] of [
      [stranger, { status: 403, code: 'TOKEN_WRONG' }],
      [nobody, { status: 401, code: 'TOKEN_MISSING' }],
    ] as const) {
      await expect(who.bootstrap(ct)).rejects.toMatchObject({ problem });
      await expect(who.keys(keys.id)).rejects.toMatchObject({ problem });
    }
    await expect(stranger.uploadKeys(keys)).rejects.toMatchObject({ problem: { code: 'TOKEN_WRONG' } });
    const headers = { authorization: `Bearer ${STRANGE}` };
    const deleted = await fetch(`${real.url}/v1/keys/${keys.id}`, { method: 'DELETE', headers });
    expect(deleted.status).toBe(403);
    await expectValues(keys, await server.bootstrap(ct));
  });

  it('are at hand in another session with the same secret key, or with the token', async () => {
    using again = await rf.importKeys(await keys.exportSecret(), { allowInsecure: true });
    const later = rf.server(real.url, PATIENT);
    expect(await later.keys(again)).toMatchObject({ id: keys.id, digest: remote.digest, token: remote.token });
    await expectValues(keys, await rf.server(real.url, PATIENT).bootstrap(ct, { keys: again }));
    await expectValues(keys, await rf.server(real.url, { ...PATIENT, token: remote.token }).bootstrap(ct));
    expect(await rf.server(real.url, PATIENT).uploadKeys(again)).toMatchObject({ digest: remote.digest });
  });

  it('of two clients are apart, also at the same time', async () => {
    using other = await rf.keygen('toy10', { allowInsecure: true });
    using theirs = await other.encrypt(VALUES, { level: other.params.inputLevel });
    const second = rf.server(real.url, PATIENT);
    const [mine, uploaded] = await Promise.all([server.bootstrap(ct), second.uploadKeys(other)]);
    await expectValues(keys, mine);
    const [one, two] = await Promise.all([server.bootstrap(ct), second.bootstrap(theirs)]);
    await expectValues(keys, one);
    await expectValues(other, two);
    await expect(server.bootstrap(theirs, { keys: uploaded })).resolves.toMatchObject({ keyId: other.id });
    await expect(second.bootstrap(ct)).rejects.toMatchObject({ problem: { code: 'TOKEN_MISSING' } });
    await uploaded.delete();
    await expectValues(keys, await server.bootstrap(ct));
  });

  it('that two sessions upload at the same time are sealed once for both', async () => {
    using other = await rf.keygen('toy10', { allowInsecure: true });
    const each = await Promise.all([0, 1].map(() => rf.server(real.url, PATIENT).uploadKeys(other)));
    expect(each[0]).toMatchObject({ digest: each[1]?.digest ?? '', token: each[1]?.token ?? '' });
    await each[0]?.delete();
  });

  it('are taken only from those with an API key, where the server asks for one', async () => {
    // BLAKE3 of "open sesame".
    const hash = 'd1d74e495e30e73859f0343ea93d3eea8e57fa72674e4ce3ff565ec8942d3449';
    const guarded = await realServer(`[[access.api_keys]]\nname = "ali"\nhash = "${hash}"\n`);
    try {
      const at = (apiKey?: string): Server => rf.server(guarded.url, { ...PATIENT, ...(apiKey === undefined ? {} : { apiKey }) });
      await expect(at().uploadKeys(keys)).rejects.toMatchObject({ problem: { status: 401, code: 'API_KEY_MISSING' } });
      await expect(at('open barley').uploadKeys(keys)).rejects.toMatchObject({ problem: { status: 403, code: 'API_KEY_WRONG' } });
      const mine = at('open sesame');
      await mine.uploadKeys(keys);
      await expectValues(keys, await mine.bootstrap(ct));
      await expect(at('open barley').bootstrap(ct, { keys })).rejects.toMatchObject({ problem: { code: 'API_KEY_WRONG' } });
    } finally {
      await guarded.close();
    }
  });

  it('that are public do jobs for everybody, and are changed by their owner alone', async () => {
    using other = await rf.keygen('toy10', { allowInsecure: true });
    using theirs = await other.encrypt(VALUES, { level: other.params.inputLevel });
    const owned = await server.uploadKeys(other, { public: true });
    const anyone = rf.server(real.url, PATIENT);
    await expectValues(other, await anyone.bootstrap(theirs));
    await expect((await anyone.keys(other.id))?.delete()).rejects.toMatchObject({ problem: { code: 'TOKEN_MISSING' } });
    await owned.delete();
  });
});
