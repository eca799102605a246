// Strangers' programs understand the OpenAPI document: a validator accepts it, and clients that generators make of it, in
// TypeScript and in Python, each upload keys, submit a job and get the result.
//
// What is generated and installed lies in target/clients and is made again when its inputs change.
import { Validator } from '@seriousme/openapi-schema-validator';
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import openapiTypes, { astToString } from 'openapi-typescript';
import { root } from '../tools/lib/paths.mjs';
import { run } from '../tools/lib/run.mjs';
import { freePort, serve } from '../tools/lib/server.mjs';
import { fingerprint, isFresh, stamp } from '../tools/lib/stamp.mjs';
import { gateSet } from '../tools/soak/sets.mjs';

const document = join(root, 'server', 'openapi.json');
const made = join(root, 'target', 'clients');
const GENERATOR = 'openapi-python-client==0.29.1';

let folder, server, journey;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'refloat-clients-'));
  const { id, params, fingerprint: print, token, pieces, tasks } = await gateSet(join(folder, 'keys'));
  const file = (name, bytes) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const [{ op, body, expected }] = tasks;
  server = await serve({ port: await freePort(), args: ['--allow-insecure', '--log-level', 'warn', '--data', join(folder, 'data')] });
  journey = file(
    'journey.json',
    JSON.stringify({
      url: server.url,
      token,
      keys: { params, fingerprint: print, keyId: id, parts: pieces.length },
      pieces: pieces.map((piece, index) => file(`${index}.part`, piece)),
      op,
      body: file('body', body),
      result: join(folder, 'result'),
      expected: file('expected', expected),
    }),
  );
});

after(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the description conforms to OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(readFileSync(document, 'utf8')));
  assert.ok(valid, JSON.stringify(errors, undefined, 1));
  assert.equal(validator.version, '3.1');
});

test('a generated TypeScript client uploads keys and gets a result', async () => {
  const out = join(made, 'typescript');
  await make('clients-typescript', ['server/openapi.json', 'tests/clients', 'package-lock.json'], join(out, 'journey.js'), async () => {
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, 'package.json'), '{ "type": "module" }\n');
    writeFileSync(join(out, 'api.ts'), astToString(await openapiTypes(new URL(`file://${document}`))));
    copyFileSync(join(root, 'tests', 'clients', 'journey.ts'), join(out, 'journey.ts'));
    const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node', '--skipLibCheck'];
    await must(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, join(out, 'journey.ts')]);
  });
  await follow(process.execPath, [join(out, 'journey.js'), journey]);
});

test('a generated Python client uploads keys and gets a result', async (context) => {
  const out = join(made, 'python');
  const python = join(out, 'venv', 'bin', 'python');
  if (!existsSync(join(out, 'venv', 'installed'))) {
    const made = await run('python3', ['-m', 'venv', join(out, 'venv')]);
    if (made.code !== 0) return context.skip('no python3 with venv here');
    const installed = await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', GENERATOR], { limit: 300_000 });
    if (installed.code !== 0) return context.skip(`${GENERATOR} cannot be installed here`);
    writeFileSync(join(out, 'venv', 'installed'), '');
  }
  const client = join(out, 'refloat_client');
  await make('clients-python', ['server/openapi.json', 'tests/clients'], join(client, 'client.py'), async () => {
    rmSync(client, { recursive: true, force: true });
    const generator = join(out, 'venv', 'bin', 'openapi-python-client');
    await must(generator, ['generate', '--path', document, '--meta', 'none', '--output-path', client]);
  });
  await follow(python, [join(root, 'tests', 'clients', 'journey.py'), journey], { PYTHONPATH: out, PYTHONDONTWRITEBYTECODE: '1' });
});

/** Makes `output` unless it is there, made from the same inputs. */
async function make(name, inputs, output, action) {
  if (isFresh(name, inputs, [output])) return;
  await action();
  stamp(name, fingerprint(inputs));
}

async function must(command, args, env) {
  const { code, output } = await run(command, args, { env });
  assert.equal(code, 0, output);
}

/** Runs a client; what it wrote is what the command line made of the same input. */
async function follow(command, args, env) {
  const { result, expected } = JSON.parse(readFileSync(journey, 'utf8'));
  rmSync(result, { force: true });
  await must(command, args, env);
  assert.ok(readFileSync(result).equals(readFileSync(expected)), 'the result differs from that of the command line');
}
