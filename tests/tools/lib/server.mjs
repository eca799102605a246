// Starts the native server and stops it in order.
import { createServer } from 'node:net';
import { Stop } from './log.mjs';
import { root, serverBinary } from './paths.mjs';
import { kill, start } from './run.mjs';

/** How long the server may take to get ready, by itself and under an emulator on a busy machine, and to shut down, in milliseconds. */
const READY = 30_000;
const EMULATED = 300_000;
const GRACE = 35_000;

/** Characters of what a server said that an error repeats. */
const SAID = 4000;

/** How many milliseconds an answer about its readiness may take. */
const ANSWER = 5_000;

/** Whether nothing listens on this port of the loopback interface. */
export function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** A port that was free a moment ago. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/**
 * Starts `refloat serve` with this command on a port of the loopback interface, with further arguments, and
 * waits until it is ready. Resolves to {url, pid, closed, stop, said}; `closed` resolves to the exit code whenever
 * the server ends. If its standard error is a pipe, `said()` is the end of what it has written there, which errors repeat.
 */
export async function serve({ port, args = [], command = [serverBinary], stdio = ['ignore', 'inherit', 'inherit'], cwd = root }) {
  const url = `http://127.0.0.1:${port}`;
  const [program, ...first] = command;
  const child = start(program, [...first, 'serve', '--listen', `127.0.0.1:${port}`, ...args], { stdio, cwd });
  const closed = new Promise((resolve) => {
    child.on('error', (error) => resolve(`${program}: ${error.message}`));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-SAID)));
  let ended;
  closed.then((code) => (ended = code));
  const stop = async () => {
    if (ended === undefined) kill(child, 'SIGTERM');
    const hard = setTimeout(() => kill(child, 'SIGKILL'), GRACE);
    const code = await closed;
    clearTimeout(hard);
    return code;
  };
  const patience = first.length > 0 ? EMULATED : READY;
  for (const deadline = Date.now() + patience; ; ) {
    if (ended !== undefined) throw new Stop(`the server ended before it was ready (${ended}); ${child.stderr ? `it said:\n${said}` : 'its own words are above'}`);
    const why = await notReady(url);
    if (why === undefined) return { url, pid: child.pid, closed, stop, said: () => said };
    if (Date.now() > deadline) {
      await stop();
      throw new Stop(`the server did not get ready on ${url} within ${patience / 1000} s; ${why}${said && `; it said:\n${said}`}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Why the server at `url` is not ready, in its own words if it answers; undefined if it is ready. */
export async function notReady(url) {
  try {
    const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(ANSWER) });
    const text = await response.text();
    return response.ok ? undefined : `/readyz answers ${response.status}: ${text.trim()}`;
  } catch (error) {
    return `/readyz does not answer: ${error.cause?.message ?? error.message}`;
  }
}
