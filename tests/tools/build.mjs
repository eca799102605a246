// `npm run build [-- wasm ts demo server c]`: prepares and builds what is older than its sources; `c` only if it is asked for.
import { build, builds, usual } from './lib/build.mjs';
import { Stop, main, say } from './lib/log.mjs';
import { prepare } from './lib/prepare.mjs';

/** What must be prepared for each part. */
const NEEDS = { wasm: ['wasm'], ts: ['wasm', 'ts'], demo: ['wasm', 'ts', 'demo'], server: ['server'], c: ['c'] };

await main(async () => {
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => !(name in builds));
  if (unknown.length) throw new Stop(`cannot build ${unknown.join(', ')}; there are ${Object.keys(builds).join(', ')}`);
  await prepare();
  const wanted = new Set(asked.flatMap((name) => NEEDS[name]));
  await build(asked.length === 0 ? usual : Object.keys(builds).filter((name) => wanted.has(name)));
  say('built');
});
