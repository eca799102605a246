// Debian packages that tests need, installed if that takes no question.
import { begin } from './log.mjs';
import { must, run } from './run.mjs';

/** What a person would type. */
export const aptCommand = (packages) => `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;

/** Installs packages as root, or with sudo if it asks for no password; false if neither is possible. */
export async function aptInstall(title, packages) {
  const root = process.getuid?.() === 0;
  const apt = (await run('apt-get', ['--version'])).code === 0;
  const sudo = !root && apt && (await run('sudo', ['-n', 'true'])).code === 0;
  if (!apt || (!root && !sudo)) return false;
  const step = begin(`${title}: installing the Debian ${packages.length > 1 ? 'packages' : 'package'}`);
  const shell = ['sh', '-c', aptCommand(packages)];
  const [command, ...args] = root ? shell : ['sudo', '-n', ...shell];
  await must(step, command, args, { env: { DEBIAN_FRONTEND: 'noninteractive' } });
  step.done();
  return true;
}
