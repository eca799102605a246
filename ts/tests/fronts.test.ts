// Several fronts that divide key sets among themselves.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Server } from '../dist/remote/server.js';
import { fake } from './support/fake-glue.js';
import { fakeServer, type FakeServer } from './support/fake-server.js';

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer();
});
afterEach(() => server.close());

it.each([
  ['another front', { front: '0', shards: [], key: { front: '1', url: 'https://b.example' } }, 'https://b.example'],
  ['a server that is alone', { front: '0', shards: [] }, undefined],
  ['words that mean nothing', { key: { url: 7 } }, undefined],
])('the address for a key set is that of %s', async (_, answer, url) => {
  const asked: (string | undefined)[] = [];
  server.intercept = (request, response) => {
    asked.push(request.url);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
    return true;
  };
  const at = fake();
  const remote = new Server(at.port, at.sets, server.url, { retry: { attempts: 1 } });
  const keys = await at.keys();
  expect(await remote.frontOf(keys)).toBe(url ?? remote.url);
  expect(await remote.frontOf(keys.id)).toBe(url ?? remote.url);
  expect(asked).toEqual([`/v1/shards?key=${keys.id}`, `/v1/shards?key=${keys.id}`]);
});
