// `npm run build:nats`: builds the nats-server that `node tests/tools/cluster.mjs` takes where none is installed. Needs Go.
import { begin, main, say } from './lib/log.mjs';
import { VERSION, findNats, tools } from './lib/nats.mjs';
import { must } from './lib/run.mjs';

await main(async () => {
  const found = await findNats();
  if (found.program) {
    say(`${found.program} is there already`);
    return 0;
  }
  const progress = begin(`nats-server ${VERSION}`);
  await must(progress, 'go', ['install', `github.com/nats-io/nats-server/v2@${VERSION}`], { env: { GOBIN: tools, GOFLAGS: '-trimpath' } });
  progress.done(tools);
  return 0;
});
