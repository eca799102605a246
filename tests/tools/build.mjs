// `npm run build [-- wasm ts demo server]`: prepares and builds what is older than its sources.
import { build, builds } from './lib/build.mjs';
import { Stop, main, say } from './lib/log.mjs';
import { prepare } from './lib/prepare.mjs';

/** What each part cannot be built without. */
const NEEDS = { wasm: ['wasm'], ts: ['wasm', 'ts'], demo: ['wasm', 'ts', 'demo'], server: ['server'] };

await main(async () => {
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => !(name in builds));
  if (unknown.length) throw new Stop(`cannot build ${unknown.join(', ')}; there are ${Object.keys(builds).join(', ')}`);
  await prepare();
  const wanted = new Set(asked.flatMap((name) => NEEDS[name]));
  await build(Object.keys(builds).filter((name) => asked.length === 0 || wanted.has(name)));
  say('built');
});
