import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { freePort, notReady } from '../../tools/lib/server.mjs';
import { demoDist, serverBinary } from './paths.mjs';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.png': 'image/png', '.svg': 'image/svg+xml', '.json': 'application/json' };

/** Milliseconds in which a server must be ready. */
const READY = 30_000;

/** A plain static host that serves the demo from a sub-path and sends no special headers. */
export async function staticHost() {
  if (!existsSync(join(demoDist, 'index.html'))) throw new Error(`there is no built demo in ${demoDist}: run npm run build:demo`);
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://host').pathname;
    const inside = path.startsWith('/deep/er/') ? path.slice('/deep/er/'.length) || 'index.html' : undefined;
    const file = inside === undefined ? undefined : join(demoDist, normalize(decodeURIComponent(inside)));
    if (!file?.startsWith(demoDist) || !existsSync(file) || !statSync(file).isFile()) {
      // Static hosts answer so when asked for a server's parameters.
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/deep/er/`,
    close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }),
  };
}

/** The real server with the built demo, a data folder of its own and toy sets allowed. Adds to `after` how to end it. */
export async function realServer(after, { port, data } = {}) {
  const binary = serverBinary();
  if (!binary) throw new Error('no server binary: build it (npm run build:server) or set REFLOAT_BIN');
  const folder = data ?? mkdtempSync(join(tmpdir(), 'refloat-e2e-'));
  if (!data) after.push(async () => rmSync(folder, { recursive: true, force: true }));
  const at = port ?? (await freePort());
  const child = spawn(binary, ['serve', '--listen', `127.0.0.1:${at}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      REFLOAT__SERVER__DEMO: demoDist,
      REFLOAT__SERVER__ALLOW_INSECURE: 'true',
      REFLOAT__STORAGE__DATA: folder,
      REFLOAT__LOG__LEVEL: 'warn',
    },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (d) => { log = (log + String(d)).slice(-4000); });
  const closed = new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)));
  const stop = async (signal = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await closed;
  };
  after.push(() => stop('SIGKILL'));
  const url = `http://127.0.0.1:${at}/`;
  for (const deadline = Date.now() + READY; ; await new Promise((resolve) => setTimeout(resolve, 25))) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}: ${log}`);
    const why = await notReady(url);
    if (why === undefined) return { url, port: at, data: folder, stop };
    if (Date.now() > deadline) throw new Error(`the server on ${url} is not ready; ${why}; it said: ${log}`);
  }
}
