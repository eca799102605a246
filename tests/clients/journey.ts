// One upload, one job and its deletion with the client that openapi-fetch makes of the generated types (`api.ts`).
import { readFileSync, writeFileSync } from 'node:fs';
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

interface Journey {
  url: string;
  token: string;
  keys: components['schemas']['NewKeys'];
  pieces: string[];
  op: string;
  body: string;
  result: string;
}

const journey = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Journey;
const client = createClient<paths>({ baseUrl: journey.url, headers: { authorization: `Bearer ${journey.token}` } });

/** Bytes are `string` in the generated types, and go over the wire as they are. */
const bytes = (path: string) => ({
  body: '',
  bodySerializer: () => readFileSync(path),
  headers: { 'content-type': 'application/octet-stream' },
});

function done<T>(what: string, { data, error }: { data?: T; error?: unknown }): T {
  if (error !== undefined) throw new Error(`${what}: ${JSON.stringify(error)}`);
  return data as T;
}

const opened = done('open', await client.POST('/v1/keys', { body: journey.keys }));
const { id } = opened;
for (const index of opened.missing) {
  const path = journey.pieces[index] ?? '';
  done('piece', await client.PUT('/v1/keys/{id}/chunks/{index}', { params: { path: { id, index } }, ...bytes(path) }));
}
done('commit', await client.POST('/v1/keys/{id}/commit', { params: { path: { id } } }));

const query = { key: id, op: journey.op };
let job = done('submit', await client.POST('/v1/jobs', { params: { query }, ...bytes(journey.body) }));
const params = { path: { id: job.id } };
while (job.state === 'queued' || job.state === 'running') {
  await new Promise((resolve) => setTimeout(resolve, 20));
  job = done('job', await client.GET('/v1/jobs/{id}', { params }));
}
if (job.state !== 'done') throw new Error(`${job.state}: ${job.problem?.detail ?? ''}`);
const result: unknown = done('result', await client.GET('/v1/jobs/{id}/result', { params, parseAs: 'arrayBuffer' }));
writeFileSync(journey.result, new Uint8Array(result as ArrayBuffer));
done('delete', await client.DELETE('/v1/keys/{id}', { params: { path: { id } } }));
