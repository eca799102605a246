// The main job without a display: Node holds the secret key, the server refreshes.
//
//   picture -> encrypt (wasm) -> upload -> bootstrap (server) -> decrypt (wasm)
//           -> square and bootstrap again (server)            -> decrypt (wasm)
//
// One line per stage. Precision is -log2 of the error: of the worst slot, and of the root mean square.
import { join } from 'node:path';
import { Refloat } from 'refloat';
import { bold, green, red, say, seconds } from './lib/log.mjs';
import { root } from './lib/paths.mjs';
import { readGreyPng, toValues } from './lib/png.mjs';

const SET = 'ship13';
const PICTURE = join(root, 'demo', 'public', 'boat.png');

/** Runs the main job against a server. Returns whether the precision is what the set promises. */
export async function mainJob(url) {
  const rf = await Refloat.load();
  try {
    return await withEngine(rf, url);
  } finally {
    rf.close();
  }
}

async function withEngine(rf, url) {
  const preset = rf.presets().find(({ name }) => name === SET);
  const size = Math.sqrt(preset.slots);
  const picture = toValues(readGreyPng(PICTURE), size);
  say();
  say(bold(`A picture goes to a server that cannot see it, with ${SET}: ${preset.title}`));
  say(`Node encrypts ${size} x ${size} grey levels, from -1 to 1, so that no product is left; the server refreshes them, squares and`);
  say('refreshes them again; Node decrypts, and compares with the picture in the clear.');
  say(preset.securityStatement);
  say();
  say('Bits are those in which a decrypted grey level agrees with that of the picture: -log2 of the difference, in the worst slot and');
  say('in the root mean square. A bootstrap costs some of them, and gives levels back. Before the first one the server reads its keys.');
  say();
  say(row('stage', 'level', 'log2 Q', 'worst slot', 'rms', 'time'));

  const keys = await timed('keys', () => rf.keygen(SET), () => ({}));
  // At the lowest level no multiplication is left: this ciphertext is exhausted.
  const level = preset.inputLevel;
  const ct = await timed('encrypt, exhausted', () => keys.encrypt(picture, { level }), (out) => out);
  await precision('decrypt (exhausted)', keys, ct, picture);

  const server = rf.server(url);
  const remote = await timed('upload keys', () => progress(server.uploadKeys(keys)), () => ({}));
  const fresh = await timed('first bootstrap (total)', () => stages(server.bootstrap(ct, { keys: remote })), (out) => out);
  const bits = await precision('decrypt', keys, fresh, picture);

  const again = await timed(
    'square, bootstrap (total)',
    () => stages(server.bootstrap(fresh, { keys: remote, op: ['square', 'bootstrap'] })),
    (out) => out,
  );
  const squareBits = await precision('decrypt (squares)', keys, again, picture.map((x) => x * x));

  const promised = preset.promisedBits;
  // |y^2 - x^2| <= 2 e + e^2 for |y - x| <= e <= 2^-promised and |x| <= 1, then one more bootstrapping.
  const promisedSquare = promised - Math.log2(3 + 2 ** -promised);
  say();
  const holds = [verdict('The picture came back', bits, promised), verdict('Its squares came back', squareBits, promisedSquare)].every(Boolean);
  if (holds) {
    say();
    say('Next: `npm start` shows every stage of it in the browser; `cargo run -p refloat-server -- --help` lists the commands on files;');
    say('ts/README.md has the lines of JavaScript that were run here.');
  }
  return holds;
}

function row(stage, level = '', logQ = '', worst = '', rms = '', time = '') {
  const cells = [stage.padEnd(28), level.padStart(6), logQ.padStart(9), worst.padStart(12), rms.padStart(8), time.padStart(10)];
  return cells.join('').trimEnd();
}

const fixed = (value, digits = 1) => (value === undefined ? '' : value.toFixed(digits));

async function timed(name, action, about) {
  const start = performance.now();
  const result = await action();
  const { level, logQ } = about(result);
  say(row(name, level?.toString(), fixed(logQ), '', '', seconds(performance.now() - start)));
  return result;
}

async function precision(name, keys, ct, expected) {
  const start = performance.now();
  const values = await keys.decrypt(ct);
  const errors = expected.map((x, i) => Math.abs(values[i] - x));
  const worst = -Math.log2(Math.max(...errors));
  const rms = -Math.log2(Math.sqrt(errors.reduce((sum, e) => sum + e * e, 0) / errors.length));
  const time = seconds(performance.now() - start);
  say(row(name, ct.level?.toString(), fixed(ct.logQ), `${fixed(worst, 2)} bits`, fixed(rms, 2), time));
  return worst;
}

/** Prints the stages of a remote run as they end; resolves to its result. */
async function stages(run) {
  const start = performance.now();
  let entered;
  for await (const event of run) {
    if (event.kind === 'enter') {
      // The first job reads and expands the keys; the server keeps them for the next.
      if (entered === undefined) say(row('  upload, queue, keys', '', '', '', '', seconds(performance.now() - start)));
      entered = event.atMs;
    }
    if (event.kind !== 'exit') continue;
    say(row(`  ${event.stage}`, `${event.level}`, fixed(event.logQ), '', '', seconds(event.atMs - entered)));
  }
  return run;
}

/** Says every tenth of an upload; resolves to its result. */
async function progress(run) {
  let tenth = 0;
  for await (const { bytes, totalBytes } of run) {
    const now = Math.floor((10 * bytes) / totalBytes);
    if (now > tenth) say(row(`  ${(bytes / 1e6).toFixed(0)} of ${(totalBytes / 1e6).toFixed(0)} MB`));
    tenth = now;
  }
  return run;
}

function verdict(what, bits, promised) {
  const holds = bits >= promised;
  const text = `${what}: its worst slot agrees in ${bits.toFixed(2)} bits, and ${SET} promises ${promised.toFixed(2)}.`;
  say(holds ? green(`✓ ${text}`) : red(`✗ ${text} Please report this with the output of "cargo run -p refloat-server -- about".`));
  return holds;
}
