// A server under honest load while everything that can go wrong does: `node tests/tools/soak.mjs --minutes 30`.
//
//   --minutes N   how long faults happen; after that, all accepted jobs are followed to their end
//   --seed S      a number that chooses the faults and their order, by default from the current time
//   --no-mount    fills no file system, which takes root, but only limits file sizes
//
// Honest clients upload keys of toy sets, submit jobs and compare each result, byte for byte, with what the command line made
// of the same input. Meanwhile the server is killed, its disk fills up, its file descriptors run out, stored bytes change,
// and peers are slow, silent or gone. The last line counts:
//
//   lost   something that the server had acknowledged is gone, or failed without an injected reason
//   wrong  a wrong result, or damaged bytes handed out
//   stuck  a job or a server that did not end
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bold, green, main, red, say, Stop } from './lib/log.mjs';
import { build } from './lib/build.mjs';
import { Faults } from './soak/faults.mjs';
import { HonestClients } from './soak/honest.mjs';
import { Host } from './soak/host.mjs';
import { Ledger } from './soak/ledger.mjs';
import { makeSets } from './soak/sets.mjs';
import { randomFrom } from './soak/random.mjs';

const MINUTE = 60_000;

await main(async () => {
  const options = read(process.argv.slice(2));
  await build(['server']);
  const folder = mkdtempSync(join(tmpdir(), 'refloat-soak-'));
  const host = new Host(folder, { mount: options.mount });
  // Also when this process is told to end.
  process.on('exit', () => {
    host.unmount();
    rmSync(folder, { recursive: true, force: true });
  });
  try {
    return (await soak(host, folder, options)) ? 0 : 1;
  } finally {
    await host.close();
  }
});

function read(words) {
  const options = { minutes: 1, seed: Date.now() % 1_000_000, mount: true };
  while (words.length) {
    const word = words.shift();
    if (word === '--no-mount') options.mount = false;
    else if (word === '--minutes' || word === '--seed') {
      const value = Number(words.shift());
      if (!(value >= 0)) throw new Stop(`${word} takes a number`);
      options[word.slice(2)] = value;
    } else throw new Stop(`${word} is not known; options are --minutes N, --seed S, --no-mount`);
  }
  return options;
}

async function soak(host, folder, { minutes, seed }) {
  say(bold(`soak: ${minutes} minutes, seed ${seed}`));
  const sets = await makeSets(folder);
  const ledger = new Ledger();
  await host.start();
  const clients = new HonestClients(host, sets, ledger, randomFrom(seed + 1));
  const faults = new Faults(host, clients, ledger, randomFrom(seed));
  say(`  faults: ${faults.names.join(', ')}`);
  await clients.begin();

  const began = Date.now();
  const end = began + minutes * MINUTE;
  const report = setInterval(() => say(`  ${Math.round((Date.now() - began) / MINUTE)} min: ${ledger.line()}`), MINUTE);
  try {
    while (Date.now() < end && !ledger.broken) await faults.one();
    await faults.stop();
    await clients.finish();
    await host.restart();
    await clients.verify();
    faults.verifyForeign();
  } finally {
    clearInterval(report);
  }
  say(`  ${faults.line()}`);
  const holds = ledger.holds();
  say((holds ? green : red)(`soak: ${minutes} minutes, seed ${seed}: ${ledger.line()}`));
  return holds;
}
