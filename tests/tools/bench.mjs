// `npm run bench [-- arguments of cargo bench]`: the benchmarks of the core.
import { main } from './lib/log.mjs';
import { prepare } from './lib/prepare.mjs';
import { start } from './lib/run.mjs';

await main(async () => {
  await prepare();
  const args = ['bench', '--package', 'refloat', '--features', 'parallel', ...process.argv.slice(2)];
  const child = start('cargo', args, { stdio: 'inherit' });
  return new Promise((resolve, reject) => child.on('error', reject).on('close', (code) => resolve(code ?? 1)));
});
