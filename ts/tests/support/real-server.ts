// The native server, when its binary is there: `npm test` builds it and names it in REFLOAT_BIN.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Path of the server's binary, if there is one. */
export const SERVER_BINARY = [process.env['REFLOAT_BIN'], '../target/quick/refloat'].find(
  (path): path is string => path !== undefined && path !== '' && existsSync(path),
);

export interface RealServer {
  readonly url: string;
  /** Its data folder. */
  readonly data: string;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>;
  /** Starts it again on the same data and port. */
  restart(): Promise<void>;
  /** Ends it and removes its data. */
  close(): Promise<void>;
}

/** Starts a server on data of its own; `config` is its configuration in TOML. */
export async function realServer(config = ''): Promise<RealServer> {
  const folder = await mkdtemp(join(tmpdir(), 'refloat-server-'));
  const [data, settings] = [join(folder, 'data'), join(folder, 'refloat.toml')];
  await writeFile(settings, config);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child = await start(port, data, settings);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await gone;
  };
  return {
    url,
    data,
    kill,
    restart: async () => {
      child = await start(port, data, settings);
    },
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function start(port: number, data: string, settings: string): Promise<ChildProcess> {
  const args = ['serve', '--config', settings, '--listen', `127.0.0.1:${port}`, '--data', data, '--allow-insecure'];
  const child = spawn(SERVER_BINARY as string, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let words = '';
  const keep = (piece: Buffer): void => void (words = (words + piece.toString()).slice(-4000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const deadline = Date.now() + 60_000;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}: ${words}`);
    const why = await notReady(`http://127.0.0.1:${port}/readyz`);
    if (why === undefined) return child;
    if (Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the server does not get ready; ${why}; it said: ${words}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Why the server is not ready, in its own words if it gives any; undefined if it is ready. */
async function notReady(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    const text = await response.text();
    return response.ok ? undefined : `it answers ${response.status}: ${text.trim()}`;
  } catch (error) {
    return `it does not answer: ${String(error)}`;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
