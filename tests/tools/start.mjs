// `npm start`: prepares, builds what is out of date, starts the server and opens the demo.
//
//   --port N     listen on this port (default 7878, or the next free one)
//   --no-open    do not open the browser
//   --check      do the main job without a display, print each stage, and end
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { openBrowser } from './lib/browser.mjs';
import { Stop, bold, main, say } from './lib/log.mjs';
import { demoDist } from './lib/paths.mjs';
import { prepare } from './lib/prepare.mjs';
import { freePort, isFree, serve } from './lib/server.mjs';

const DEFAULT_PORT = 7878;

/** Arguments of the server besides its defaults: the built demo, and the toy sets that the demo shows. */
const DEMO = ['--demo', demoDist, '--allow-insecure'];

const OPTIONS = {
  port: { type: 'string' },
  'no-open': { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
};

await main(async () => {
  const options = readOptions();
  await prepare();
  await build(options.check ? ['wasm', 'ts', 'server'] : undefined);
  return options.check ? check() : page(options);
});

function readOptions() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    const port = values.port === undefined ? undefined : Number(values.port);
    if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65536)) {
      throw new Error(`--port ${values.port}: expected a number from 1 to 65535`);
    }
    return { ...values, port };
  } catch (error) {
    throw new Stop(`${error.message}\nusage: npm start [-- [--port N] [--no-open] [--check]]`);
  }
}

async function page(options) {
  const port = options.port ?? (await firstFree(DEFAULT_PORT));
  if (!(await isFree(port))) {
    throw new Stop(`port ${port} is in use; stop what listens there or choose another: npm start -- --port ${port + 1}`);
  }
  const interrupted = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve(signal));
  });
  const server = await serve({ port, args: DEMO });
  say();
  say(`  refloat is afloat:  ${bold(server.url)}`);
  say('  Ctrl-C ends it.');
  say();
  if (!options['no-open'] && !process.env.CI) openBrowser(server.url);
  const outcome = await Promise.race([server.closed, interrupted]);
  if (outcome !== 'SIGINT' && outcome !== 'SIGTERM' && outcome !== 'SIGHUP') {
    throw new Stop(`the server ended by itself (${outcome}); its own words are above`);
  }
  say('\n  stopping …');
  await server.stop();
}

async function firstFree(port) {
  for (let candidate = port; candidate < port + 20; candidate++) {
    if (await isFree(candidate)) return candidate;
  }
  throw new Stop(`ports ${port} to ${port + 19} are all in use; choose one: npm start -- --port N`);
}

async function check() {
  const data = mkdtempSync(join(tmpdir(), 'refloat-check-'));
  process.on('exit', () => rmSync(data, { recursive: true, force: true }));
  const server = await serve({ port: await freePort(), args: ['--data', data, '--log-level', 'warn'] });
  try {
    const { mainJob } = await import('./check.mjs');
    return (await mainJob(server.url)) ? 0 : 1;
  } finally {
    await server.stop();
  }
}
