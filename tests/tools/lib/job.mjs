// The main job with a binary for another system: keys, encryption and decryption with its command line, and a bootstrap with its
// server.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';
import { freePort, serve } from './server.mjs';

const VALUES = [0.5, -0.25, 1];

/** Milliseconds after which a command is taken to hang. */
const LIMIT = 10 * 60_000;

/**
 * Does the job with `command`, which runs the binary, in an empty folder that is its working folder and that it sees as `inside`. Returns
 * the output of `refloat about`, the page that the server shows, and the bits of precision.
 */
export async function doJob(progress, command, folder, inside = folder) {
  const at = (name) => join(inside, name);
  const refloat = async (...args) => {
    progress.update(args[0]);
    const [program, ...first] = command;
    const { code, output } = await run(program, [...first, ...args], { limit: LIMIT, cwd: folder });
    if (code !== 0) throw new Error(`refloat ${args.join(' ')} ended with ${code}, and said:\n${output}`);
    return output;
  };
  const about = await refloat('about');
  await refloat('keygen', '--preset', 'toy10', '--allow-insecure', '--out', at('keys'));
  writeFileSync(join(folder, 'x.csv'), VALUES.join('\n'));
  await refloat('encrypt', '--key', at('keys'), '--in', at('x.csv'), '--out', at('x.ct'));
  const args = ['--data', at('data'), '--allow-insecure'];
  const server = await serve({ port: await freePort(), args, command, stdio: ['ignore', 'ignore', 'pipe'], cwd: folder });
  let page, failure;
  try {
    page = await (await fetch(server.url)).text();
    await refloat('bootstrap', '--keys', at('keys'), '--in', at('x.ct'), '--out', at('y.ct'), '--server', server.url);
  } catch (error) {
    failure = error;
  }
  const code = await server.stop();
  if (failure || code !== 0) {
    throw new Error(`${failure ? `${failure.message}\n` : ''}the server ended with ${code}, and said:\n${server.said()}`, { cause: failure });
  }
  await refloat('decrypt', '--key', at('keys'), '--in', at('y.ct'), '--out', at('y.csv'), '--count', String(VALUES.length));
  const found = readFileSync(join(folder, 'y.csv'), 'utf8').trim().split(/\s+/).map(Number);
  const worst = Math.max(...VALUES.map((value, i) => Math.abs(value - found[i])));
  if (!(found.length === VALUES.length && worst < 0.01)) throw new Error(`${VALUES} came back as ${found}`);
  return { about, page, bits: Math.floor(-Math.log2(worst)) };
}
